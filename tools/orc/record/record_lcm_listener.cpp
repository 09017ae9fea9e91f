#include "tools/orc/record/record_lcm_listener.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "orc/schema.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/socket/datagram_batch.h"
#include "transport/multicast/socket/multicast_socket.h"
#include "wire/name_pattern.h"

namespace orc::cli {

namespace {

namespace multicast = detail::multicast;
namespace lcm = detail::lcm;

// Names come from strangers, so their number has a bound.
constexpr std::size_t most_channels = 10'000;
constexpr std::size_t most_senders = 256;
constexpr std::size_t most_begun = 64;

// While datagrams come this fast, the thread sleeps between two looks: fewer and larger reads cost less. Their arrival
// times are the kernel's, so they stay exact.
constexpr int nap_us = 1000;
constexpr std::size_t busy = 8;

// So many datagrams in a row: then blocks may be due, or the end.
constexpr std::size_t turn_datagrams = 4096;

// How often it looks for the network.
constexpr std::chrono::milliseconds look_interval{1000};

// A gap beyond this is another program with the same address.
constexpr std::int32_t largest_gap = 1'000'000;

// The kernel takes no empty filter: this one passes each datagram whole.
const std::vector<sock_filter> everything{BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};

std::uint64_t fingerprint_of(std::span<const std::byte> payload) {
  std::uint64_t number = 0;
  for (const std::byte each : payload.first(8)) number = number << 8 | std::to_integer<std::uint64_t>(each);
  return number;
}

}  // namespace

struct record_lcm_listener::batch {
  multicast::receiving_batch datagrams;
};

record_lcm_listener::record_lcm_listener(const record_options& options, record_buffer& to,
                                         const std::vector<type_description>& types)
    : options_(options), filler_(to), to_(to), batch_(std::make_unique<batch>()) {
  for (const type_description& each : types)
    if (const auto fingerprint = lcm_fingerprint(each)) types_[*fingerprint] = each;
}

record_lcm_listener::~record_lcm_listener() { stop(); }

result record_lcm_listener::start(std::string& remark) {
  std::string text = options_.url.empty() ? wire::multicast_url::from_environment().text : options_.url;
  if (text.empty()) text = wire::multicast_url::usual;
  auto url = wire::multicast_url::parse(text);
  if (!url) return url.error();
  url_ = *std::move(url);
  auto opened = multicast::open_receiver(url_, everything);
  if (!opened) return opened.error();
  socket_ = *std::move(opened);
  network_ = multicast::join_network(socket_.get(), url_);
  remark = multicast::receive_buffer_remark(socket_.get(), url_);
  fragments_ = std::make_unique<multicast::reassembly>(url_.reassembly);
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return {errc::no_descriptors, "cannot wait for messages: " + std::generic_category().message(errno)};
  thread_ = std::thread([this] { run(); });
  return {};
}

void record_lcm_listener::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void record_lcm_listener::run() {
  auto next_look = detail::monotonic::now();
  while (!stop_) {
    const auto now = detail::monotonic::now();
    if (now >= next_look) {  // the network may come later, or go and come back
      network_ = multicast::join_network(socket_.get(), url_, network_);
      next_look = now + look_interval;
    }
    const int due_ms = filler_.hand_over_if_due();
    const int wait_ms = due_ms < 0 ? static_cast<int>(look_interval.count()) : due_ms;
    pollfd items[2] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(items, 2, wait_ms) <= 0) continue;
    if (receive()) {
      const timespec nap{0, nap_us * 1000L};
      ::nanosleep(&nap, nullptr);
    }
  }
  (void)receive();
  filler_.hand_over();
  to_.end();
}

// True: many came at a time.
bool record_lcm_listener::receive() {
  std::size_t taken = 0;
  for (;;) {
    const std::size_t n = batch_->datagrams.receive(socket_.get());
    for (std::size_t i = 0; i < n; ++i) {
      const auto each = batch_->datagrams[i];
      take(each.bytes, each.from, each.stamp_ns);
    }
    taken += n;
    if (n < multicast::receiving_batch::most || taken >= turn_datagrams) return taken >= busy;
  }
}

void record_lcm_listener::take(std::span<const std::byte> bytes, const multicast::source& from, std::int64_t stamp_ns) {
  const auto d = lcm::decode(bytes);
  if (!d) return;
  if (d->fragments > 1 || d->payload.size() != d->size) return take_fragment(*d, from, stamp_ns);
  count_gap(from, d->number, stamp_ns);
  channel_state& to = channel_at(d->channel, d->payload);
  if (!to.source) return;
  record_sample one;
  one.source = to.source;
  one.copy = filler_.copy_of(d->payload);
  one.size = d->payload.size();
  one.sequence = ++to.sequence;
  one.stamp_ns = stamp_ns;
  one.received = {stamp_ns, record_moment::now().steady_ns};
  filler_.add(std::move(one));
}

void record_lcm_listener::take_fragment(const lcm::datagram& d, const multicast::source& from, std::int64_t stamp_ns) {
  if (d.fragment == 0) {
    count_gap(from, d.number, stamp_ns);
    channel_state& to = channel_at(d.channel, d.payload);
    if (begun_.size() == most_begun) begun_.pop_front();
    begun_.push_back({from, d.number, &to});
    if (!to.source) fragments_->forget(from, d.number);
  }
  channel_state* const known = begun(from, d.number);
  if (known != nullptr && !known->source) return;
  const auto now = detail::monotonic::now();
  fragments_->expire(now);
  multicast::reassembly::message done;
  if (fragments_->add(from, d, stamp_ns, now, done) != multicast::reassembly::outcome::complete) return;
  channel_state* const to = begun(from, d.number);
  if (to == nullptr || !to->source) return;
  record_sample one;
  one.source = to->source;
  one.size = done.buffer.size();
  one.sequence = ++to->sequence;
  one.stamp_ns = done.stamp_ns;
  one.received = {done.stamp_ns, record_moment::now().steady_ns};
  const std::span<const std::byte> whole(done.buffer.payload(), done.buffer.size());
  if (options_.last.count() != 0)
    one.copy = filler_.copy_of(whole);
  else
    one.held = message(std::move(done.buffer), one.sequence, one.stamp_ns, 0);
  filler_.add(std::move(one));
}

record_lcm_listener::channel_state* record_lcm_listener::begun(const multicast::source& from, std::uint32_t number) {
  const auto found = std::find_if(begun_.rbegin(), begun_.rend(), [&](const begun_message& each) {
    return each.number == number && each.from == from;
  });
  return found == begun_.rend() ? nullptr : found->channel;
}

// A sender numbers its messages on all channels together, so a gap does not say which channel lost some.
void record_lcm_listener::count_gap(const multicast::source& from, std::uint32_t number, std::int64_t stamp_ns) {
  auto found = std::find_if(senders_.begin(), senders_.end(), [&](const sender& each) { return each.from == from; });
  if (found == senders_.end()) {
    if (senders_.size() == most_senders) senders_.erase(senders_.begin());
    senders_.push_back({from, number + 1, stamp_ns});
    return;
  }
  const std::int32_t gap = multicast::ahead(number, found->next);
  if (gap > 0 && gap < largest_gap)
    to_.note_missed("messages of " + from.text(), static_cast<std::uint64_t>(gap), found->heard_ns, stamp_ns);
  if (gap >= 0 || gap < -largest_gap || stamp_ns - found->heard_ns > 1'000'000'000) found->next = number + 1;
  found->heard_ns = stamp_ns;
}

record_lcm_listener::channel_state& record_lcm_listener::channel_at(std::string_view name,
                                                                    std::span<const std::byte> payload) {
  key_.assign(name);
  const auto found = channels_.find(key_);
  if (found != channels_.end()) return found->second;
  if (channels_.size() >= most_channels) return unwanted_;
  channel_state& made = channels_[key_];
  const bool is_wanted =
      options_.topics.empty() || std::any_of(options_.topics.begin(), options_.topics.end(),
                                             [&](const std::string& pattern) { return wire::matches(pattern, name); });
  if (!is_wanted) return made;
  made.source = std::make_shared<record_source>(std::string(name), channels_.size());
  made.source->describe(described(name, payload), true);
  ++channel_count_;
  return made;
}

recording::channel record_lcm_listener::described(std::string_view name, std::span<const std::byte> payload) const {
  recording::channel made;
  made.topic = std::string(name);
  made.metadata["orc.transport"] = "multicast";
  if (payload.size() < 8) return made;
  const auto found = types_.find(fingerprint_of(payload));
  if (found != types_.end()) made.type = found->second;
  return made;
}

}  // namespace orc::cli
