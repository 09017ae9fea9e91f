#include "transport/multicast/multicast_subscriber_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/multicast/socket/channel_filter.h"
#include "transport/multicast/socket/multicast_interface.h"
#include "transport/multicast/socket/multicast_socket.h"
#include "transport/out_of_descriptors.h"

namespace orc::detail {

namespace {

using multicast::source;

constexpr auto first_retry = std::chrono::milliseconds(20);
constexpr auto max_retry_interval = std::chrono::milliseconds(500);
constexpr auto looks_after = std::chrono::seconds(5);  // of a silent group
constexpr std::size_t max_batches = 64;                // per call: a flood must not keep the lock
constexpr std::size_t wanted_direct_buffer = 1024 * 1024;

// Gives a link-local address of IPv6 the interface of this host by which the group comes.
[[nodiscard]] ip_address seen_from_here(ip_address address, const wire::multicast_url& url) noexcept {
  if (address.is_v4() || !address.is_link_local()) return address;
  auto by = multicast::named_interface(url);
  if (by && by->index == 0) by = multicast::route_to(url.group);
  if (by) address.scope = static_cast<std::uint32_t>(by->index);
  return address;
}

struct publisher_address {
  source sends_from;
  source reports_at;
};
[[nodiscard]] std::optional<publisher_address> address_in(const wire::endpoint& of, const wire::multicast_url& url) {
  const auto there = wire::multicast_url::parse(of.address);
  if (!there || !there->from) return std::nullopt;  // also: of another transport
  const auto at = seen_from_here(there->from->address, url);
  return publisher_address{{at, there->source}, {at, there->from->port}};
}

}  // namespace

link_or_error<subscriber_link> multicast_subscriber_link::open(const subscription_spec& spec,
                                                               const wire::multicast_url& url) {
  if (spec.topic.size() > lcm::max_channel_length) return error(errc::bad_name, "the topic's name is too long for it");
  const bool is_open = !spec.publication;
  if (!is_open && (!url.from || url.source == 0))
    return error(errc::refused, "its endpoint does not say which address and port send");
  // Of a publication that the broker knows, queues only what comes from where the broker says.
  source sends_from;
  source reports_at;
  if (!is_open) {
    reports_at = {seen_from_here(url.from->address, url), url.from->port};
    sends_from = {reports_at.address, url.source};
  }
  auto group = multicast::open_receiver(
      url, multicast::channel_filter(spec.topic, is_open ? std::nullopt : std::optional(sends_from)));
  if (!group) return group.error();
  auto direct = is_open ? multicast::open_direct(url.group.is_v4() ? AF_INET : AF_INET6, wanted_direct_buffer)
                        : multicast::open_direct(reports_at, wanted_direct_buffer);
  if (!direct) return direct.error();
  std::unique_ptr<multicast_subscriber_link> link(new multicast_subscriber_link(spec, url));
  link->group_ = *std::move(group);
  link->network_ = multicast::join_network(link->group_.get(), url);
  link->direct_ = *std::move(direct);
  link->direct_buffer_ = multicast::receive_buffer_of(link->direct_.get());
  if (!link->events_.open(link->direct_.get())) return out_of_descriptors();
  if (spec.publication) {
    link->channel_.expect(sends_from, reports_at, spec.newest);
    link->keep_in_touch(monotonic::now());
    link->answer();
  } else if (spec.before) {
    for (const auto& each : spec.before_at) {
      if (const auto there = address_in(each, url))
        link->channel_.expect_again(spec.before, there->sends_from, there->reports_at, monotonic::now());
    }
  }
  return link;
}

multicast_subscriber_link::multicast_subscriber_link(const subscription_spec& spec, const wire::multicast_url& url)
    : in_order_(spec.delivery.depth != 0),
      url_(url),
      channel_({.channel = spec.topic,
                .publication = spec.publication,
                .link = wire::id::random(),
                .depth = spec.delivery.depth,
                .newest = spec.newest,
                .alone = spec.alone,
                .max_bytes = url.reassembly,
                .type = spec.options.type_check == type_check::on ? spec.type : nullptr}) {}

multicast_subscriber_link::~multicast_subscriber_link() {
  if (!events_) return;
  channel_.say_goodbye([this](const source& to, const multicast::orc_datagram& d) { send(to, d); });
}

bool multicast_subscriber_link::try_recv(sample& out, pick) noexcept {
  const bool connecting = state() == link_state::connecting;
  if (connecting) service();
  if (connecting || !in_order_ || channel_.ready().empty()) read_group(!in_order_);
  if (channel_.is_open()) arm_timer();                // the housekeeping compares the types that were announced
  if (emptied_ && channel_.owes_reports()) answer();  // this had to wait until the socket was empty
  const bool found = state() != link_state::connecting && channel_.ready().pop(out);
  tell_malformed();
  return found;
}

subscriber_link::heard multicast_subscriber_link::heard_of(const wire::id& publication,
                                                           const std::vector<wire::endpoint>& from) const {
  heard all = channel_.heard_of(publication, {});
  for (const auto& each : from) {
    const auto there = address_in(each, url_);
    if (!there) continue;
    if (const auto here = channel_.heard_of(publication, there->sends_from); here.newest > all.newest) all = here;
  }
  return all;
}

std::string multicast_subscriber_link::remark() const {
  std::string buffer = multicast::receive_buffer_remark(group_.get(), url_);
  if (!channel_.gets_smaller()) return buffer;
  return "the publisher sends smaller datagrams than its MTU allows, because larger ones were lost on the way" +
         (buffer.empty() ? "" : "; " + buffer);
}

// Reads everything when the newest wins, so that the kernel never keeps old samples at the cost of new ones. Otherwise
// reads until there is something to take.
void multicast_subscriber_link::read_group(bool all) noexcept {
  for (std::size_t n = 0; n < max_batches; ++n) {
    const std::size_t count = group_batch_.receive(group_.get());
    const auto now = count != 0 ? monotonic::now() : monotonic::time_point();
    if (count != 0) heard_ = now;
    for (std::size_t i = 0; i < count; ++i) {
      const auto d = group_batch_[i];
      channel_.on_group(d.bytes, d.from, d.stamp_ns, now);
      if (state() == link_state::connecting && channel_.connected()) on_connected();
    }
    emptied_ = count < multicast::receiving_batch::most;
    if (emptied_ || (!all && !channel_.ready().empty())) return;
  }
}

void multicast_subscriber_link::on_connected() noexcept {
  state_.store(link_state::connected, std::memory_order_relaxed);
  if (channel_.is_open()) return;
  read_direct();  // it may have the last sample, which precedes those on the group
}

void multicast_subscriber_link::read_direct() noexcept {
  for (std::size_t n = 0; n < max_batches; ++n) {
    const std::size_t count = direct_batch_.receive(direct_.get());
    for (std::size_t i = 0; i < count; ++i) {
      const auto d = direct_batch_[i];
      channel_.on_direct(d.bytes, d.from, monotonic::now());
    }
    if (direct_batch_.was_refused()) {  // the publisher is gone, but its earlier datagrams may be there
      if (!channel_.is_open()) lose(ECONNREFUSED);
      continue;
    }
    if (count < multicast::receiving_batch::most) break;
  }
}

void multicast_subscriber_link::service() noexcept {
  if (events_.take().input) read_direct();
  const auto now = monotonic::now();
  channel_.check_types(now);
  if (state() == link_state::connecting && channel_.connected()) on_connected();
  keep_in_touch(now);
  answer();
  tell_malformed();
}

// What is sent to this subscription alone comes to the address that it had when it began.
void multicast_subscriber_link::network_changed() noexcept {
  network_ = multicast::join_network(group_.get(), url_, network_);
  if (!channel_.is_open() && !multicast::is_of_this_host(multicast::address_of(direct_.get()).address))
    lose(EADDRNOTAVAIL);
}

void multicast_subscriber_link::answer() noexcept {
  if (channel_.is_open()) arm_timer();
  if (!channel_.owes_reports()) return;
  // A complete sample needs no repair.
  if (state() == link_state::connected) read_group(true);
  if (!emptied_) return;
  channel_.report(direct_buffer_, [this](const source& to, const multicast::orc_datagram& d) { send(to, d); });
}

// A sender forgets subscribers that do not report.
void multicast_subscriber_link::keep_in_touch(monotonic::time_point now) noexcept {
  if (channel_.is_silent(now)) lose(ETIMEDOUT);
  if (now - heard_ > looks_after) {  // another program that left may have taken our membership with it
    heard_ = now;
    network_changed();
  }
  const bool retry = state() == link_state::connecting && now >= next_retry_ && !channel_.is_open();
  channel_.remind(now, retry);
  if (!retry) return;
  retry_ = std::clamp<monotonic::duration>(2 * retry_, first_retry, max_retry_interval);
  next_retry_ = now + retry_;
  arm_timer();
}

// Until it is connected, a subscription of one publication retries. An open one may have types to compare.
void multicast_subscriber_link::arm_timer() noexcept {
  const auto when = channel_.is_open() ? channel_.next_type_check() : next_retry_;
  if (when == armed_for_) return;
  armed_for_ = when;
  events_.wake_at(when);
}

void multicast_subscriber_link::lose(int error) noexcept {
  end_ = error;
  state_.store(link_state::lost, std::memory_order_relaxed);
}

void multicast_subscriber_link::send(const source& to, const multicast::orc_datagram& d) noexcept {
  std::array<std::byte, multicast::max_orc_datagram> bytes;
  const std::size_t size = multicast::encode(d, bytes);
  const socket_address address(to);
  const bool connected = !channel_.is_open();  // whether the socket is
  (void)::sendto(direct_.get(), bytes.data(), size, MSG_DONTWAIT, connected ? nullptr : address.get(),
                 connected ? 0 : address.size());
}

void multicast_subscriber_link::tell_malformed() noexcept {
  malformed_.store(channel_.malformed(), std::memory_order_relaxed);
}

}  // namespace orc::detail
