#include "tools/orc/record/record_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/fd_limit.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/record/record_name.h"
#include "tools/orc/text.h"
#include "tools/orc/type/type_file.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

// SIGUSR1 becomes a descriptor, for this thread and those that it starts.
detail::unique_fd take_usr1() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return detail::unique_fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void poll_until(std::vector<pollfd>& items, std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  ::poll(items.data(), items.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000)));
}

}  // namespace

record_session::record_session(const record_options& options)
    : options_(options),
      usr1_(take_usr1()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      status_(options),
      buffer_(options.buffer, options.last),
      writer_(
          options, buffer_,
          [this] {
            writer_ended_ = true;
            wake();
          },
          [this](const std::string& text) { status_.note(out_, escaped(text)); }),
      receiver_(buffer_, options.last.count() != 0, [this] { wake(); }) {}

record_session::~record_session() = default;

int record_session::run() {
  result done = start();
  while (done && !is_over()) {
    done = step();
    if (done) wait();
  }
  return end(done);
}

result record_session::start() {
  detail::raise_fd_limit();
  if (!usr1_ || !wake_) return {errc::no_descriptors, "out of file descriptors"};
  path_ = recording_name(options_);
  // No file is made for a session that cannot receive. The buffer takes what comes before there is one.
  if (auto receiving = start_receiving(); !receiving) return receiving;
  if (auto begun = writer_.start(path_); !begun) return begun;
  if (is_black_box())
    if (auto watched = watch_triggers(); !watched) return watched;
  note(is_black_box() ? "recording the last " + duration_text(options_.last.count()) +
                            " to memory: `orc record --trigger` or SIGUSR1 writes a file"
                      : "recording to " + writer_.path());
  return {};
}

result record_session::start_receiving() {
  if (!options_.multicast) {
    if (auto started = receiver_.start(); !started) return started;
    follower_ =
        std::make_unique<record_follower>(options_, stop_, receiver_, [this](const std::string& text) { note(text); });
    return {};
  }
  std::vector<type_description> types;
  if (!options_.lcm_types.empty()) {
    auto found = lcm_types_in(options_.lcm_types);
    if (!found) return found.error();
    types = *std::move(found);
  }
  listener_ = std::make_unique<record_lcm_listener>(options_, buffer_, types);
  std::string remark;
  auto started = listener_->start(remark);
  if (started && !remark.empty()) note(remark);
  return started;
}

result record_session::watch_triggers() {
  std::string name = options_.name.empty() ? std::filesystem::path(path_).stem().string() : options_.name;
  std::replace(name.begin(), name.end(), '/', '_');
  auto made = record_trigger::listen(name);
  if (!made) return made.error();
  trigger_ = *std::move(made);
  return {};
}

bool record_session::is_over() const {
  if (detail::stop_signal::raised() || writer_ended_) return true;
  return options_.duration.count() != 0 && clock::now() - begun_ >= options_.duration;
}

result record_session::step() {
  hear_wake();
  take_triggers();
  if (follower_)
    if (auto stepped = follower_->step(); !stepped) return stepped;
  status_.show(buffer_, writer_.progress(), topics());
  return {};
}

void record_session::wait() {
  std::vector<pollfd> items{{stop_.fd(), POLLIN, 0}, {usr1_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  if (trigger_) items.push_back({trigger_->fd(), POLLIN, 0});
  auto until = status_.due();
  if (follower_) {
    for (const int fd : follower_->fds()) items.push_back({fd, POLLIN, 0});
    until = std::min(until, follower_->due());
  }
  if (options_.duration.count() != 0)
    until = std::min(until, begun_ + std::chrono::duration_cast<clock::duration>(options_.duration));
  poll_until(items, until);
}

void record_session::take_triggers() {
  signalfd_siginfo info{};
  while (::read(usr1_.get(), &info, sizeof info) == sizeof info) {
    if (is_black_box())
      trigger([](bool, const std::string&) {});
    else
      note("ignores SIGUSR1: it triggers a black box (--last)");
  }
  while (trigger_) {
    auto asking = std::make_shared<detail::unique_fd>(trigger_->accept());
    if (!*asking) break;
    if (!asks_for_file(*asking)) continue;
    trigger([asking](bool ok, const std::string& text) { answer_trigger(*asking, ok, text); });
  }
}

void record_session::trigger(std::function<void(bool, const std::string&)> answer) {
  writer_.trigger([this, answer = std::move(answer)](bool ok, const std::string& text) {
    status_.note(out_, text);
    answer(ok, text);
  });
}

void record_session::note(const std::string& text) {
  if (!options_.quiet) status_.note(out_, text);
}

void record_session::wake() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void record_session::hear_wake() const noexcept {
  std::uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &ignored, sizeof ignored);
}

std::size_t record_session::topics() const {
  if (listener_) return listener_->channels();
  return follower_ ? follower_->topics() : 0;
}

// The last samples may wait for their type.
void record_session::follow_to_the_end() {
  if (!follower_ || is_black_box()) return;
  follower_->finish();
  for (hear_wake(); !writer_ended_ && follower_->step(); hear_wake()) {
    std::vector<pollfd> items{{wake_.get(), POLLIN, 0}};
    poll_until(items, follower_->due());
  }
}

int record_session::end(const result& outcome) {
  if (listener_) listener_->stop();
  receiver_.stop();
  buffer_.end();
  if (outcome) follow_to_the_end();
  writer_.join();
  status_.end();
  const bool was_recording = writer_.progress().files != 0;
  if (!outcome) {
    out_.note(escaped(outcome.error().message()));
    if (writer_.disk_was_full()) return exit_code::disk_full;
    return outcome.code() == errc::bad_argument && !was_recording ? exit_code::usage : exit_code::failed;
  }
  if (!options_.quiet && (was_recording || is_black_box()))
    out_.note(status_.summary(buffer_, writer_.progress(), topics()) + (is_black_box() ? "" : ": " + writer_.path()));
  if (writer_.status()) return exit_code::ok;
  out_.note(escaped(writer_.status().error().message()));
  return writer_.disk_was_full() ? exit_code::disk_full : exit_code::failed;
}

}  // namespace orc::cli
