#include "tools/orc/top/top_screen.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/orc/exit_code.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto tick = 250ms;         // how long it may take to notice that the terminal is ours again
constexpr auto frame = 33ms;         // between two frames
constexpr auto escape_doubt = 50ms;  // after which an Escape does not begin a sequence

}  // namespace

top_screen::top_screen(const top_options& options)
    : options_(options),
      terminal_(terminal::picture::full_screen, STDOUT_FILENO),
      screen_(STDOUT_FILENO),
      poller_(options.common.broker, options.all),
      subscription_(options.common.broker),
      programs_(options.common.broker),
      view_(options.view),
      all_topics_(options.all) {
  list().filter(options.filter);
}

void top_screen::run() {
  while (!quit_ && !stop_.raised()) {
    if (terminal_.refresh()) {
      screen_.forget();
      changed_ = true;
    }
    const auto now = clock::now();
    if (terminal_.active() && changed_ && now >= next_frame_ && !screen_.waits()) {
      draw();
      changed_ = false;
      next_frame_ = now + frame;
    }
    wait();
  }
  terminal_.restore();  // before the rest, which may take a second
}

void top_screen::wait() {
  const bool active = terminal_.active();
  auto until = clock::now() + tick;
  if (active && changed_ && !screen_.waits()) until = std::min(until, next_frame_);
  if (keys_.in_doubt()) until = std::min(until, key_doubt_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  std::array<pollfd, 8> items = {{{stop_.fd(), POLLIN, 0},
                                  {terminal_.suspend_fd(), POLLIN, 0},
                                  {terminal_.changed_fd(), POLLIN, 0},
                                  {active ? STDIN_FILENO : -1, POLLIN, 0},
                                  {poller_.fd(), POLLIN, 0},
                                  {subscription_.fd(), POLLIN, 0},
                                  {active && screen_.waits() ? screen_.fd() : -1, POLLOUT, 0},
                                  {programs_.fd(), POLLIN, 0}}};
  if (poll(items.data(), items.size(), static_cast<int>(std::max<std::int64_t>(left, 0))) < 0) return;
  if (items[1].revents != 0) terminal_.suspend();
  if (items[2].revents != 0) {
    terminal_.clear_changed();
    screen_.forget();  // a terminal that became smaller may have moved its lines
    changed_ = true;
  }
  if ((items[3].revents & POLLIN) != 0) take_keys();
  if ((items[3].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) quit_ = true;  // the terminal is gone
  if (keys_.in_doubt() && clock::now() >= key_doubt_)
    if (const auto key = keys_.settle()) press(*key);
  if (items[4].revents != 0 || items[5].revents != 0 || items[7].revents != 0) take_news();
  if (items[6].revents != 0) screen_.send();
}

void top_screen::take_news() {
  const auto shown = std::exchange(known_, poller_.newest()).figures;
  // Samples come far more often than figures, and sorting ten thousand rows takes time.
  if (known_.figures != shown) {
    topics_.take(known_.figures);
    participants_.take(known_.figures);
    hosts_.take(known_.figures);
    find_owner_again();
  }
  if (auto programs = programs_.newest(); programs != shown_programs_) {
    shown_programs_ = std::move(programs);
    services_.take(shown_programs_);
    parameters_.take(shown_programs_);
  }
  if (opened_) opened_->take(known_.figures, is_silent());
  opened_sample newest = subscription_.newest();
  if (opened_) opened_->take(std::move(newest));
  changed_ = true;
}

// A broker that restarts gives each participant another id.
void top_screen::find_owner_again() {
  const auto owner = topics_.owner();
  if (!owner || !known_.figures) return;
  const auto& all = known_.figures->participants;
  const auto is_it = [&](const auto& each) { return each.participant.id == owner->id; };
  if (std::any_of(all.begin(), all.end(), is_it)) return;
  const auto has_its_name = [&](const auto& each) { return participant_text(each.participant) == owner->name; };
  const auto again = std::find_if(all.begin(), all.end(), has_its_name);
  if (again != all.end()) topics_.show_only(top_owner{again->participant.id, owner->name});
}

void top_screen::take_keys() {
  const std::string sent = terminal_.keys();
  keys_.add(sent);
  while (const auto key = keys_.next()) press(*key);
  key_doubt_ = clock::now() + escape_doubt;
  next_frame_ = {};  // what a key does is seen at once
}

top_list& top_screen::list() noexcept {
  switch (view_) {
    case top_view::topics: break;
    case top_view::participants: return participants_;
    case top_view::hosts: return hosts_;
    case top_view::services: return services_;
    case top_view::parameters: return parameters_;
  }
  return topics_;
}

void top_screen::open(std::string topic) {
  opened_.emplace(topic);
  opened_->take(known_.figures, is_silent());
  subscription_.open(std::move(topic));
}

void top_screen::close() {
  if (!opened_) return;
  opened_.reset();
  subscription_.close();
}

int show_top(const top_options& options) {
  top_screen(options).run();
  return exit_code::ok;
}

}  // namespace orc::cli
