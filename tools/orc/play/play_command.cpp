#include "tools/orc/play/play_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;
using clock = detail::stop_signal::clock;

constexpr int tick_ms = 100;  // of the position bar
constexpr std::int64_t shortest_loop_ns = 1'000'000;
constexpr std::int64_t told_behind_ns = 10'000'000;
constexpr const char* key_help =
    "Space pauses, . steps, <- -> jump 1 s (Shift: 10 s), + - change the rate, q quits, ? shows this";
constexpr std::array rates = {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0};

double faster(double rate) {
  const auto next = std::upper_bound(rates.begin(), rates.end(), rate * 1.001);
  return next == rates.end() ? rates.back() : *next;
}

double slower(double rate) {
  const auto next = std::lower_bound(rates.begin(), rates.end(), rate * 0.999);
  return next == rates.begin() ? rates.front() : *(next - 1);
}

}  // namespace

int play_command::run() {
  for (const auto step : {&play_command::open, &play_command::choose_range, &play_command::register_topics,
                          &play_command::wait_for_subscribers}) {
    if (const int outcome = (this->*step)(); outcome != exit_code::ok) return outcome;
  }
  return play();
}

int play_command::open() {
  if (options_.paused && isatty(STDIN_FILENO) != 1) {
    out_.note("--paused needs a terminal on standard input: its keys start the player");
    return exit_code::usage;
  }
  if (const result opened = merged_recording::open(options_.files, source_); !opened) {
    out_.note(escaped(opened.error().message()));
    return exit_code::failed;
  }
  for (std::size_t i = 0; i < source_->files(); ++i) {
    const recording::summary& about = source_->reader(i).summary();
    if (about.readable_bytes < about.bytes) {
      out_.note(escaped(source_->path(i)) + " ends within a record: playing the " +
                std::to_string(about.readable_bytes) + " of " + std::to_string(about.bytes) +
                " bytes that are whole (orc log recover makes a whole file of them)");
    }
  }
  if (source_->samples() == 0) {
    out_.note("nothing to play: " + escaped(options_.files.front()) + " has no samples");
    return exit_code::failed;
  }
  return exit_code::ok;
}

int play_command::choose_range() {
  const std::int64_t first = source_->first_ns();
  const std::int64_t last = source_->last_ns();
  range_ = {first, last, options_.loop};
  if (options_.start) range_.from_ns = std::max(options_.start->in(first), first);
  if (options_.end) range_.to_ns = std::min(options_.end->in(first), last);
  const std::string length =
      "the recording lasts from " + iso_text(first) + " to " + iso_text(last) + ", " + duration_text(last - first);
  if (range_.from_ns > last) {
    out_.note("nothing to play: it would start behind the end; " + length);
    return exit_code::usage;
  }
  if (range_.to_ns < range_.from_ns) {
    out_.note("nothing to play: the end is before the start; " + length);
    return exit_code::usage;
  }
  if (options_.loop && range_.to_ns - range_.from_ns < shortest_loop_ns) {
    out_.note("cannot loop over less than 1 ms; " + length);
    return exit_code::usage;
  }
  return exit_code::ok;
}

int play_command::register_topics() {
  source_->select(options_.output.topics);
  output_.emplace(options_.output);
  for (const merged_channel& each : source_->channels()) {
    const result added = output_->add(each);
    if (stop_.raised()) return exit_code::interrupted;
    if (!added) {
      out_.note(added.error().message());
      return exit_code::failed;
    }
  }
  note_all(output_->remarks());
  if (output_->topics() == 0) {
    out_.note("nothing to play: no topic of the recording is left by --topics and --exclude (orc log info lists them)");
    return exit_code::no_topic;
  }
  if (options_.clock.empty()) return exit_code::ok;
  if (const result made = play_clock::make(options_.clock, *output_, clock_); !made) {
    out_.note(made.error().message());
    return exit_code::failed;
  }
  return exit_code::ok;
}

int play_command::wait_for_subscribers() {
  if (!options_.wait_for_subscribers) return exit_code::ok;
  auto tell_at = clock::now() + 2s;
  for (std::string missing = output_->unread_topic(); !missing.empty(); missing = output_->unread_topic()) {
    if (stop_.wait_until(clock::now() + 5ms)) return exit_code::interrupted;
    if (clock::now() < tell_at) continue;
    out_.note("waiting for a subscriber of '" + missing + "'");
    tell_at = clock::time_point::max();
  }
  return exit_code::ok;
}

int play_command::play() {
  player playing(*source_, *output_, range_, options_.rate, options_.paused);
  play_status done;
  {
    keyboard keys;
    position_bar bar(range_, source_->first_ns());
    std::optional<play_clock> clock;
    if (clock_) clock.emplace(clock_, playing);
    if (keys.active()) out_.hint(key_help);
    playing.start();
    listen(playing, keys, bar, clock ? &*clock : nullptr);
    keys.restore();  // first: a later Ctrl-C ends the process at once
    clock.reset();
    playing.stop();
    done = playing.status();
    const auto problems = playing.problems();
    incomplete_ = incomplete_ || !problems.empty();
    note_all(problems);
  }
  return finish(done);
}

void play_command::listen(player& of, keyboard& keys, position_bar& bar, play_clock* clock) {
  while (!quit_ && !stop_.raised()) {
    const play_status now = of.status();
    if (now.ended) return;
    keys.refresh();
    if (const auto problems = of.problems(); !problems.empty()) {
      bar.clear();
      incomplete_ = true;
      note_all(problems);
    }
    if (keys.active() && console::is_watched()) bar.draw(now);
    std::array<pollfd, 4> items = {{{stop_.fd(), POLLIN, 0},
                                    {of.fd(), POLLIN, 0},
                                    {keys.suspend_fd(), POLLIN, 0},
                                    {keys.active() ? STDIN_FILENO : -1, POLLIN, 0}}};
    poll(items.data(), items.size(), tick_ms);
    if (items[1].revents != 0) {
      of.clear_change();
      if (clock != nullptr) clock->changed();
    }
    if (items[2].revents != 0) suspend(of, keys, bar);
    if (items[3].revents == 0) continue;
    while (const auto pressed = keys.next()) press(of, *pressed, bar);
    if ((items[3].revents & (POLLHUP | POLLERR)) != 0) keys.restore();  // the terminal is gone
  }
}

void play_command::press(player& of, key pressed, position_bar& bar) {
  const play_status now = of.status();
  if (now.at_end && (pressed == key::pause || pressed == key::step)) {
    bar.clear();
    return out_.note("the end: <- jumps back, q quits");
  }
  switch (pressed) {
    case key::pause: return now.paused ? of.resume() : of.pause();
    case key::step: return of.step();
    case key::back: return of.seek_by(-second_ns);
    case key::forward: return of.seek_by(second_ns);
    case key::far_back: return of.seek_by(-10 * second_ns);
    case key::far_forward: return of.seek_by(10 * second_ns);
    case key::faster: return of.set_rate(faster(now.rate));
    case key::slower: return of.set_rate(slower(now.rate));
    case key::quit: quit_ = true; return;
    case key::help: bar.clear(); out_.note(key_help);
  }
}

// The recording waits too: it must not catch up with a burst.
void play_command::suspend(player& of, keyboard& keys, position_bar& bar) {
  const bool was_paused = of.status().paused;
  if (!was_paused) of.pause();
  bar.clear();
  keys.suspend();
  if (!was_paused) of.resume();
}

int play_command::finish(const play_status& done) {
  const bool cut_short = stop_.raised() && !done.ended;
  if (done.samples != 0 && !cut_short)
    stop_.wait_until(clock::now() + std::chrono::milliseconds(static_cast<int>(options_.linger_s * 1e3)));
  if (done.behind_ns > told_behind_ns)
    out_.note("a sample was published " + duration_text(done.behind_ns) + " after its time");
  if (options_.json) {
    out_.line(to_text({{"samples", done.samples},
                       {"bytes", done.bytes},
                       {"topics", output_->topics()},
                       {"position_s", static_cast<double>(done.position_ns - source_->first_ns()) / 1e9},
                       {"behind_ns", done.behind_ns},
                       {"ended", done.ended && done.failure.empty()}}));
  } else {
    out_.hint("played " + counted(done.samples, "sample") + " of " + counted(output_->topics(), "topic"));
  }
  if (!done.failure.empty()) out_.note(done.failure);
  if (!done.failure.empty() || incomplete_ || out_.failed()) return exit_code::failed;
  return cut_short && !range_.loop ? exit_code::interrupted : exit_code::ok;
}

void play_command::note_all(const std::vector<std::string>& texts) {
  for (const std::string& each : texts) out_.note(escaped(each));
}

}  // namespace orc::cli
