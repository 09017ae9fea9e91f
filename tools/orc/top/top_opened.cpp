#include "tools/orc/top/top_opened.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/orc/text.h"
#include "tools/orc/top/top_text.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/terminal/styled_line.h"

namespace orc::cli {

namespace {

using terminal::style;
using terminal::styled_line;

constexpr style label_style = {.color = terminal::color::cyan};
constexpr style name_style = {.bold = true};
constexpr style warning_style = {.color = terminal::color::yellow, .bold = true};
constexpr style remark_style = {.dim = true};

// "label value   label value", on one line.
class labelled_line {
 public:
  labelled_line(std::size_t columns, bool colored, const style& base = {}) : line_(columns, colored, base) {}

  labelled_line& add(std::string_view label, std::string_view value, const style& with = {}) {
    if (!std::exchange(first_, false)) line_.add("   ");
    line_.add(label, label_style).add(" ").add(value, with);
    return *this;
  }
  [[nodiscard]] std::string finish() { return line_.finish(); }

 private:
  styled_line line_;
  bool first_ = true;
};

std::string counted_text(const std::optional<double>& per_s, std::uint64_t all) {
  return (per_s ? rate_text(per_s) + "/s, " : std::string()) + count_text(all) + " in all";
}

std::string endpoints_text(const std::vector<endpoint>& endpoints) {
  std::string text;
  for (const endpoint& each : endpoints)
    text += "  " + std::string(to_string(each.transport)) + " at " + escaped(each.address) + "\n";
  return text.empty() ? "  none\n" : text;
}

std::string line_of(const view::publication_figures& of) {
  std::string text = "  " + publisher_text(of.publisher, of.host_name, of.stale) + ": " + rate_text(of.rate_hz) +
                     " Hz, " + bandwidth_text(of.bytes_per_s) + ", jitter " + span_text(of.jitter) + ", sent " +
                     count_text(of.sent) + ", dropped " + count_text(of.dropped) + ", age " + span_text(of.age) + "\n";
  for (const endpoint& each : of.endpoints)
    text += "      " + std::string(to_string(each.transport)) + " at " + escaped(each.address) + "\n";
  return text;
}

std::string link_text(const view::subscription_figures& link) {
  std::string text = "  " + participant_text(link.subscriber);
  if (link.own) text += ", this view";
  text += ": " + (link.transport ? std::string(to_string(*link.transport)) : "no link") + ", " +
          rate_text(link.rate_hz) + " Hz, " + bandwidth_text(link.bytes_per_s) + ", received " +
          count_text(link.received) + ", missed " + count_text(link.missed);
  if (link.stale != 0) text += ", too old " + count_text(link.stale);
  if (link.malformed != 0) text += ", malformed " + count_text(link.malformed);
  if (link.sample_age) text += ", latency " + span_text(link.sample_age);
  text += "\n";
  if (!link.reason.empty()) text += "      " + escaped(link.reason) + "\n";
  return text;
}

}  // namespace

void top_opened::take(std::shared_ptr<const view::system_figures> figures, bool silent) {
  silent_ = silent;
  if (figures == figures_) return;
  figures_ = std::move(figures);
  row_ = nullptr;
  if (!figures_) return;
  const auto& all = figures_->topics;  // in the order of their names
  const auto at =
      std::lower_bound(all.begin(), all.end(), topic_,
                       [](const view::topic_figures& each, const std::string& name) { return each.name < name; });
  if (at != all.end() && at->name == topic_) row_ = &*at;
  if (row_ != nullptr && row_->publisher) type_ = row_->type;
  if (links_) body_columns_ = 0;
}

void top_opened::take(opened_sample newest) {
  if (newest.topic != topic_) return;
  sample_ = std::move(newest);
  if (!links_) body_columns_ = 0;
}

void top_opened::show_links(bool shown) noexcept {
  links_ = shown;
  body_columns_ = 0;
  top_ = 0;
}

const char* top_opened::keys(bool folded) const noexcept {
  if (links_) return "Esc back   l fields   ? help   q quit";
  if (!sample_.has_long) return "Esc back   l links   ? help   q quit";
  return folded ? "Esc back   l links   f whole arrays   ? help   q quit"
                : "Esc back   l links   f fold arrays   ? help   q quit";
}

void top_opened::move(std::ptrdiff_t lines) noexcept {
  top_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(top_) + lines, 0));
}

std::vector<std::string> top_opened::draw(std::size_t rows, std::size_t columns, bool colored) {
  std::vector<std::string> lines = heading(columns, colored);
  lines.resize(std::min(lines.size(), rows));
  if (body_columns_ != columns) make_body(columns);
  page_ = rows - lines.size();
  top_ = std::min(top_, body_.size() > page_ ? body_.size() - page_ : 0);
  for (std::size_t i = 0; i < page_; ++i) {
    styled_line line(columns, colored);
    if (top_ + i < body_.size()) line.add(body_[top_ + i]);
    lines.push_back(line.finish());
  }
  return lines;
}

std::vector<std::string> top_opened::heading(std::size_t columns, bool colored) const {
  std::vector<std::string> lines;
  lines.push_back(labelled_line(columns, colored)
                      .add("topic", topic_, name_style)
                      .add("type", type_ ? type_text(*type_) : "none")
                      .finish());
  add_figures(lines, columns, colored);
  labelled_line about(columns, colored);
  if (sample_.received != 0) {
    about.add("sample", std::to_string(sample_.sequence))
        .add("age", span_text(std::chrono::nanoseconds(sample_.age_ns)))
        .add("size", size_text(static_cast<double>(sample_.size)))
        .add("skipped", count_text(sample_.skipped));
  } else {
    about.add("sample", "none yet");
  }
  if (!sample_.link.empty()) about.add("no link:", no_link_text(), warning_style);
  lines.push_back(about.finish());
  lines.push_back(styled_line(columns, colored)
                      .add(links_ ? "── links " : "── fields ", remark_style)
                      .add(links_ ? "" : sample_.remark, remark_style)
                      .finish());
  return lines;
}

// What the broker knows: nothing that the sample itself shows better.
void top_opened::add_figures(std::vector<std::string>& lines, std::size_t columns, bool colored) const {
  if (row_ == nullptr) {
    const char* const why = silent_ ? "the broker does not answer" : "no participant publishes or requests it";
    lines.push_back(styled_line(columns, colored).add(why, warning_style).finish());
    return;
  }
  const view::topic_figures& t = *row_;
  const style base = silent_ ? remark_style : style{};
  lines.push_back(labelled_line(columns, colored, base)
                      .add("publisher", publisher_text(t))
                      .add("transport", transports_text(t))
                      .add("subscribers", count_text(t.subscribers))
                      .finish());
  lines.push_back(labelled_line(columns, colored, base)
                      .add("rate", rate_text(t.rate_hz) + (t.rate_hz ? " Hz" : ""))
                      .add("jitter", span_text(t.jitter))
                      .add("bandwidth", bandwidth_text(t.bytes_per_s))
                      .finish());
  lines.push_back(labelled_line(columns, colored, base)
                      .add("missed", counted_text(t.missed_per_s, t.missed))
                      .add("dropped", counted_text(t.dropped_per_s, t.dropped))
                      .finish());
}

// A link needs the broker, so without one the publisher that it knew is no longer found.
std::string top_opened::no_link_text() const {
  return silent_ && row_ != nullptr && row_->publisher ? "the broker does not answer" : sample_.link;
}

void top_opened::make_body(std::size_t columns) {
  body_.clear();
  const std::string links = links_ ? links_text() : std::string();
  std::string_view text = links_ ? std::string_view(links) : std::string_view(sample_.text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_to_body(text.substr(0, end), columns);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  body_columns_ = columns;
}

// Wraps a line that is too long, so that all of it can be read.
void top_opened::add_to_body(std::string_view text, std::size_t columns) {
  do {
    const std::string_view part = terminal::line_of_words(text, columns);
    body_.emplace_back(part);
    text.remove_prefix(part.size());
  } while (!text.empty());
}

std::string top_opened::links_text() const {
  if (row_ == nullptr) return {};
  std::string text;
  if (row_->shared_by.empty()) {
    text = "publisher listens at\n" + endpoints_text(row_->endpoints);
  } else {
    text = "publishers\n";
    for (const auto& each : row_->shared_by) text += line_of(each);
  }
  text += "subscribers\n";
  for (const auto& each : row_->subscriptions) text += link_text(each);
  if (row_->subscriptions.size() < row_->subscribers)
    text += "  … " + std::to_string(row_->subscribers - row_->subscriptions.size()) + " more\n";
  if (row_->subscribers == 0) text += "  none\n";
  return text;
}

}  // namespace orc::cli
