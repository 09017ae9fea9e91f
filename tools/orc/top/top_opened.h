// The topic that `orc top` has open, as lines of the screen: what the counters say, its fields, its links.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/orc/top/top_subscription.h"
#include "tools/view/figures.h"

namespace orc::cli {

class top_opened {
 public:
  explicit top_opened(std::string topic) : topic_(std::move(topic)) {}

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  // `silent`: these are the last figures of a broker that does not answer.
  void take(std::shared_ptr<const view::system_figures> figures, bool silent);
  void take(opened_sample newest);

  // Shows the links in place of the fields, or the fields again.
  void show_links(bool shown) noexcept;
  [[nodiscard]] bool shows_links() const noexcept { return links_; }

  // The keys that do something here, for the last line. `folded`: long arrays are.
  [[nodiscard]] const char* keys(bool folded) const noexcept;

  // Scrolls; it stops at the ends.
  void move(std::ptrdiff_t lines) noexcept;
  void move_page(int pages) noexcept { move(pages * static_cast<std::ptrdiff_t>(page_ > 1 ? page_ - 1 : 1)); }
  void move_to_first() noexcept { top_ = 0; }
  void move_to_last() noexcept { top_ = body_.size(); }

  [[nodiscard]] std::vector<std::string> draw(std::size_t rows, std::size_t columns, bool colored);

 private:
  [[nodiscard]] std::vector<std::string> heading(std::size_t columns, bool colored) const;
  void add_figures(std::vector<std::string>& lines, std::size_t columns, bool colored) const;
  [[nodiscard]] std::string no_link_text() const;
  void make_body(std::size_t columns);
  void add_to_body(std::string_view text, std::size_t columns);
  [[nodiscard]] std::string links_text() const;

  const std::string topic_;
  std::shared_ptr<const view::system_figures> figures_;
  const view::topic_figures* row_ = nullptr;  // in figures_; null: the topic is gone
  bool silent_ = false;
  std::optional<topic_type> type_;  // the last one that a publisher had
  opened_sample sample_;
  bool links_ = false;
  std::vector<std::string> body_;  // wrapped
  std::size_t body_columns_ = 0;   // for which it was wrapped; 0: make it anew
  std::size_t top_ = 0;
  std::size_t page_ = 0;
};

}  // namespace orc::cli
