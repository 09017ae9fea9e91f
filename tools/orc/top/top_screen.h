// The screen of `orc top`: its views, its keys, and the loop that follows the system and the terminal.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/orc/top/program_columns.h"
#include "tools/orc/top/program_poller.h"
#include "tools/orc/top/top_list.h"
#include "tools/orc/top/top_opened.h"
#include "tools/orc/top/top_options.h"
#include "tools/orc/top/top_subscription.h"
#include "tools/terminal/key_reader.h"
#include "tools/terminal/screen.h"
#include "tools/terminal/terminal_session.h"
#include "tools/view/broker_poller.h"

namespace orc::cli {

class top_screen {
 public:
  explicit top_screen(const top_options& options);

  // Until q, Ctrl-C, SIGTERM or the end of the terminal.
  void run();

 private:
  using clock = detail::stop_signal::clock;

  void wait();
  void take_news();
  void find_owner_again();
  void draw();

  void take_keys();
  void press(const terminal::key_press& key);
  void press_in_filter(const terminal::key_press& key);
  bool press_to_move(const terminal::key_press& key);  // false: the key does not move
  void press_in_list(const terminal::key_press& key);
  void press_in_opened(const terminal::key_press& key);
  void go_back();
  void open_selected();
  void set_view(top_view which);
  void show_all(top_view which);
  void show_programs(top_view which);
  void leave_programs();
  void show_only(top_view which, top_owner owner);
  void open(std::string topic);
  void close();

  [[nodiscard]] bool is_silent() const noexcept { return !known_.problem.empty(); }  // the broker
  [[nodiscard]] std::array<top_list*, 3> lists() noexcept { return {&topics_, &participants_, &hosts_}; }
  [[nodiscard]] bool shows_programs() const noexcept {
    return view_ == top_view::services || view_ == top_view::parameters;
  }
  [[nodiscard]] top_list& list() noexcept;
  [[nodiscard]] const top_list& list() const noexcept { return const_cast<top_screen*>(this)->list(); }
  [[nodiscard]] std::string title(std::size_t columns) const;
  [[nodiscard]] std::vector<std::string> status(std::size_t columns) const;
  [[nodiscard]] std::string keys_line(std::size_t columns) const;
  [[nodiscard]] std::vector<std::string> help(std::size_t rows, std::size_t columns) const;

  const top_options& options_;
  const detail::stop_signal stop_;
  terminal::terminal_session terminal_;
  terminal::screen screen_;
  terminal::key_reader keys_;
  view::broker_poller poller_;
  top_subscription subscription_;
  program_poller programs_;

  view::observation known_;
  top_view view_;
  top_list_of<view::topic_figures> topics_;
  top_list_of<view::participant_figures> participants_;
  top_list_of<view::host_figures> hosts_;
  std::shared_ptr<const program_figures> shown_programs_;
  top_list_of<service_row, program_figures> services_;
  top_list_of<parameter_row, program_figures> parameters_;
  top_view before_programs_ = top_view::topics;  // to which Esc leads
  std::optional<top_opened> opened_;
  bool all_topics_;  // also ORC's own
  bool folded_ = true;
  bool typing_ = false;  // into the filter
  bool help_ = false;
  bool quit_ = false;
  bool changed_ = true;           // since the last frame
  clock::time_point key_doubt_;   // when a lone Escape is the key; min: there is none
  clock::time_point next_frame_;  // not before
};

// Returns the exit code.
[[nodiscard]] int show_top(const top_options& options);

}  // namespace orc::cli
