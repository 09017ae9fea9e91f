#include "tools/orc/record/record_receiver.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace orc::cli {

namespace {

// So many samples of one topic in a row: then it is the others' turn.
constexpr int turn_samples = 256;

// Publishers of one shared topic that are remembered: twice as many as can share it at a time. One that is forgotten
// and sends again gets another channel.
constexpr std::size_t most_publishers = 128;

// What was sent before the signal may be on its way so long.
constexpr auto settling = std::chrono::milliseconds(50);

std::string system_word(int number) { return std::generic_category().message(number); }

}  // namespace

record_receiver::record_receiver(record_buffer& to, bool keep, std::function<void()> on_new_source)
    : to_(to), keep_(keep), filler_(to), on_new_source_(std::move(on_new_source)) {}

record_receiver::~record_receiver() { stop(); }

result record_receiver::start() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) return {errc::no_descriptors, "cannot wait for samples: " + system_word(errno)};
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;  // the word to stop is heard once
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
    return {errc::system_error, "cannot wait for samples: " + system_word(errno)};
  thread_ = std::thread([this] { run(); });
  return {};
}

result record_receiver::add(std::shared_ptr<record_subscription> one) {
  const int fd = one->link.fd();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = one.get();
  const std::lock_guard lock(mutex_);
  all_.push_back(std::move(one));
  if (fd >= 0 && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  const std::string topic = all_.back()->topic;
  all_.pop_back();
  return {errc::no_descriptors,
          "cannot wait for samples of '" + topic + "': " + (fd < 0 ? "out of file descriptors" : system_word(errno))};
}

void record_receiver::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void record_receiver::run() {
  while (!stop_) receive(-1);
  const auto settled = std::chrono::steady_clock::now() + settling;
  for (auto now = settled - settling; now < settled; now = std::chrono::steady_clock::now())
    receive(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(settled - now).count()));
  std::vector<std::shared_ptr<record_subscription>> all;
  {
    const std::lock_guard lock(mutex_);
    all = all_;
  }
  // All that is here belongs to the recording; what comes now, only for a moment.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (const auto& each : all)
    while (drain(*each) && std::chrono::steady_clock::now() < until) {
    }
  filler_.hand_over();
  to_.end();
}

void record_receiver::receive(int limit_ms) {
  std::array<epoll_event, 128> events{};
  const int due_ms = filler_.hand_over_if_due();
  const int wait_ms = due_ms < 0 || limit_ms < 0 ? std::max(due_ms, limit_ms) : std::min(due_ms, limit_ms);
  const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
  for (int i = 0; i < n; ++i) {
    auto* const from = static_cast<record_subscription*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (from != nullptr) drain(*from);
  }
}

bool record_receiver::drain(record_subscription& from) {
  for (int i = 0; i < turn_samples; ++i) {
    message sample = from.link.recv(0);
    if (!sample) return false;
    take(from, std::move(sample));
  }
  return true;
}

void record_receiver::take(record_subscription& from, message&& sample) {
  const record_moment now = record_moment::now();
  record_sample one;
  record_stream& stream = sample.publisher() != 0 ? shared_stream_of(from, sample) : stream_of(from, sample);
  one.source = stream.source;
  if (sample.missed() != 0)
    to_.note_missed(from.topic, sample.missed(), stream.last_ns == 0 ? now.wall_ns : stream.last_ns, now.wall_ns);
  stream.last_sequence = sample.sequence();
  stream.last_ns = now.wall_ns;
  one.size = sample.size();
  one.sequence = sample.sequence();
  one.stamp_ns = sample.stamp_ns();
  one.received = now;
  const bool scarce = from.in_shared_memory && *from.pinned >= from.max_pinned;
  if (keep_ || scarce) {
    one.copy = filler_.copy_of(sample.bytes());
  } else {
    if (from.in_shared_memory) one.pin = record_pin(from.pinned);
    one.held = std::move(sample);
  }
  filler_.add(std::move(one));
}

// A message does not name its publication. Another one begins where the numbers do not go on, or with a sample that was
// sent after the broker reported another one.
record_stream& record_receiver::stream_of(record_subscription& from, const message& sample) {
  const std::lock_guard lock(from.mutex);
  record_stream& own = from.own;
  const bool goes_on = sample.sequence() == own.last_sequence + 1 + sample.missed();
  const bool replaced = !from.source_id.empty() && from.published.id != from.source_id && !from.published.id.empty() &&
                        sample.stamp_ns() > from.published.seen_ns;
  if (own.source && goes_on && !replaced) return own;
  if (own.source && own.source->version() == 0) {
    // When a publisher restarts again and again before the broker is asked, one source stands for several.
    if (from.former) return own;
    from.former = own.source;
    from.former_id = from.source_id.empty() ? from.id_at_first : from.source_id;
  }
  if (own.source) from.id_before = from.source_id.empty() ? from.id_at_first : from.source_id;
  from.source_id.clear();
  from.id_at_first = from.published.id;
  own.source = std::make_shared<record_source>(from.topic, ++sources_);
  from.source_since = std::chrono::steady_clock::now();
  on_new_source_();
  return own;
}

// A message of a shared topic names its publication.
record_stream& record_receiver::shared_stream_of(record_subscription& from, const message& sample) {
  const std::lock_guard lock(from.mutex);
  const auto known = from.publishers.find(sample.publisher());
  if (known != from.publishers.end()) return known->second.stream;
  if (from.publishers.size() >= most_publishers) {
    const auto silent_longest = std::min_element(
        from.publishers.begin(), from.publishers.end(),
        [](const auto& a, const auto& b) { return a.second.stream.last_ns < b.second.stream.last_ns; });
    from.publishers.erase(silent_longest);
  }
  record_publisher& added = from.publishers[sample.publisher()];
  added.info = from.link.publisher_of(sample);
  if (added.info.id.empty()) added.info.id = std::to_string(sample.publisher());  // it is forgotten already
  added.stream.source = std::make_shared<record_source>(from.topic, ++sources_, added.info.id);
  added.since = std::chrono::steady_clock::now();
  on_new_source_();
  return added.stream;
}

}  // namespace orc::cli
