#include "transport/multicast/group_sender.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "transport/multicast/datagram/reassembly.h"
#include "transport/multicast/fec/fec_packet.h"
#include "transport/multicast/socket/multicast_socket.h"

namespace orc::detail::multicast {

namespace {

// Ethernet, a tunnel over it, and the least that IPv6 allows.
constexpr std::size_t usual_mtus[] = {1500, 1400, 1280};

}  // namespace

group_sender::group_sender(unique_fd socket, std::string channel, const wire::multicast_url& url)
    : out_(std::move(socket)),
      channel_(std::move(channel)),
      full_bytes_(datagram_size(out_.get(), url)),
      datagram_bytes_(full_bytes_),
      fec_(static_cast<unsigned>(url.fec)),
      largest_(std::min(lcm::layout::largest(channel_.size(), full_bytes_), largest_within(url.reassembly))) {}

std::size_t group_sender::transmit(sample& s, link_events& events) noexcept {
  if (!rest_.what.buffer) return start(s, events);
  return std::exchange(newest_waits_, true) ? 1 : 0;
}

std::size_t group_sender::start(sample& s, link_events& events) noexcept {
  if (fec_ != 0 && !protect(s)) return 1;
  newest_datagrams_ = datagrams_of(s);
  std::size_t dropped = 0;
  const std::size_t next = send_datagrams(s, 0, dropped);
  if (next == newest_datagrams_) return dropped;
  if (fill(s)) rest_ = {{share_frame(s.buffer), s.sequence, s.stamp_ns}, next};
  if (!rest_.what.buffer) ++dropped;
  watch_for_room(events, static_cast<bool>(rest_.what.buffer));
  return dropped;
}

// False: no memory, or too large for it.
bool group_sender::protect(const sample& s) noexcept {
  const auto plan_with = [&](std::size_t bytes) {
    return fec_plan::make(payload_of(s).size(), bytes - fec_packet::fixed_bytes - channel_.size(), fec_);
  };
  auto plan = plan_with(datagram_bytes_);
  if (!plan) plan = plan_with(full_bytes_);
  if (!plan) return false;
  plan_ = *plan;
  const std::size_t block_bytes = std::size_t{plan_.parity_shards()} * plan_.shard_bytes();
  try {
    parity_.resize(plan_.blocks() * block_bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  const auto payload = payload_of(s);
  for (std::uint16_t block = 0; block < plan_.blocks(); ++block) {
    if (!code_.encode(plan_, payload, block, std::span(parity_).subspan(block * block_bytes, block_bytes)))
      return false;
  }
  return true;
}

std::size_t group_sender::datagrams_of(const sample& s) const noexcept {
  return fec_ != 0 ? plan_.datagrams() : layout_of(s).datagrams();
}

lcm::layout group_sender::layout_of(const sample& s) const noexcept {
  const std::size_t size = payload_of(s).size();
  const lcm::layout cut(channel_.size(), size, datagram_bytes_);
  return cut.datagrams() != 0 ? cut : lcm::layout(channel_.size(), size, full_bytes_);
}

void group_sender::add_plain(sending_batch& to, const lcm::layout& cut, const sample& s, std::size_t i) const noexcept {
  const auto part = cut.payload_of(i);
  lcm::write_head(to.head(), cut, i, static_cast<std::uint32_t>(s.sequence), payload_of(s).size(), channel_);
  to.add(payload_of(s).subspan(part.offset, part.size));
}

void group_sender::add_datagram(sending_batch& to, const sample& s, std::size_t i) noexcept {
  if (fec_ == 0) return add_plain(to, layout_of(s), s, i);
  const auto position = plan_.at(static_cast<std::uint32_t>(i));
  auto& head = to.head();
  head.size = encode_header({.channel = channel_,
                             .sequence = s.sequence,
                             .stamp_ns = s.stamp_ns,
                             .plan = plan_,
                             .block = position.block,
                             .shard = position.shard,
                             .bytes = {}},
                            head.bytes);
  const std::size_t data = plan_.data_shards(position.block);
  if (position.shard < data)
    return to.add(payload_of(s).subspan(plan_.offset(position.block, position.shard),
                                        plan_.data_bytes(position.block, position.shard)));
  const std::size_t at =
      (std::size_t{position.block} * plan_.parity_shards() + position.shard - data) * plan_.shard_bytes();
  to.add({parity_.data() + at, plan_.shard_bytes()});
}

std::size_t group_sender::send_datagrams(const sample& s, std::size_t from, std::size_t& dropped) noexcept {
  const std::size_t all = datagrams_of(s);
  sending_batch batch;
  for (std::size_t i = from; i < all;) {
    batch.clear();
    for (std::size_t n = i; n < all && !batch.full(); ++n) add_datagram(batch, s, n);
    const auto sent = batch.send(out_.get());
    if (sent.lost != 0) ++dropped;
    i += sent.done;
    if (sent.done < batch.size()) return i;
  }
  return all;
}

// Otherwise the rest of an older sample would be lost for all.
std::size_t group_sender::go_on(sample* newest, link_events& events) noexcept {
  if (!rest_.what.buffer) return 0;
  std::size_t dropped = 0;
  rest_.next = send_datagrams(rest_.what, rest_.next, dropped);
  if (rest_.next < datagrams_of(rest_.what)) return dropped;
  rest_.what = {};
  watch_for_room(events, false);
  if (std::exchange(newest_waits_, false) && newest != nullptr) dropped += start(*newest, events);
  return dropped;
}

void group_sender::watch_for_room(link_events& events, bool wanted) noexcept {
  if (wanted == watched_for_room_) return;
  watched_for_room_ = wanted;
  events.watch_for_room(out_.get(), wanted);
}

bool group_sender::send_smaller(const wire::multicast_url& url) noexcept {
  if (url.ttl == 0 || has_rest()) return false;
  for (const std::size_t mtu : usual_mtus) {
    const std::size_t bytes = datagram_size_at(mtu, url);
    if (bytes >= datagram_bytes_) continue;
    datagram_bytes_ = bytes;
    return true;
  }
  return false;
}

bool group_sender::send_full() noexcept {
  if (has_rest()) return false;
  datagram_bytes_ = full_bytes_;
  return true;
}

void group_sender::announce(orc_datagram d) noexcept {
  d.kind = datagram_kind::announce;
  d.smaller = sends_smaller();
  d.channel = channel_;
  std::array<std::byte, max_orc_datagram> bytes;
  (void)::send(out_.get(), bytes.data(), encode(d, bytes), MSG_DONTWAIT);
}

}  // namespace orc::detail::multicast
