#include "transport/multicast/multicast_publisher_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "transport/acceptor.h"
#include "transport/multicast/fec_packet.h"
#include "transport/multicast/multicast_socket.h"

namespace orc::detail {

namespace {

using multicast::datagram_kind;
using multicast::orc_datagram;

constexpr auto shortest_pause = std::chrono::milliseconds(2);
constexpr auto longest_pause = std::chrono::milliseconds(50);
constexpr auto look_interval = std::chrono::milliseconds(10);
constexpr auto status_interval = std::chrono::seconds(1);
constexpr auto silence = std::chrono::seconds(4);  // of a reader that is taken to be gone
constexpr unsigned most_repairs = 2000;            // a second, for one reader
constexpr int most_reports_per_turn = 32;
constexpr std::size_t most_repaired = 2 * multicast::most_repaired;  // in one turn: others wait for the lock
constexpr int most_asked = 64;                                       // for the same reason
constexpr std::size_t reports_buffer = 1024 * 1024;                  // for a report of each reader at a time
constexpr std::size_t most_unasked = 64 * 1024;                      // and for one who has just come

}  // namespace

link_or_error<publisher_link> multicast_publisher_link::open(const publication_spec& spec, const multicast_url& url) {
  if (spec.topic.size() > lcm::longest_channel)
    return error(errc::bad_name, "over multicast a topic name has at most " + std::to_string(lcm::longest_channel) +
                                     " bytes (LCM's channels)");
  auto out = multicast::open_sender(url);
  if (auto* const failed = std::get_if<error>(&out)) return std::move(*failed);
  const int sender = std::get<unique_fd>(out).get();
  const sockaddr_in from = multicast::address_of(sender);
  auto reports = multicast::open_reports(from, url, reports_buffer);
  if (auto* const failed = std::get_if<error>(&reports)) return std::move(*failed);
  std::unique_ptr<multicast_publisher_link> link(
      new multicast_publisher_link(spec, url, multicast::datagram_size(sender, url)));
  link->out_ = std::move(std::get<unique_fd>(out));
  link->reports_ = std::move(std::get<unique_fd>(reports));
  multicast_url told = url;
  told.from = multicast::address_of(link->reports_.get());
  link->where_ = {wire::transport::multicast, told.text()};
  link->reports_at_ = ntohs(told.from->sin_port);
  if (!link->events_.open(link->reports_.get())) return out_of_descriptors();
  link->announce();
  return link;
}

multicast_publisher_link::multicast_publisher_link(const publication_spec& spec, const multicast_url& url,
                                                   std::size_t datagram_bytes)
    : channel_(spec.topic),
      publication_(spec.id),
      registered_(!spec.alone),
      datagram_bytes_(datagram_bytes),
      fec_(static_cast<unsigned>(url.fec)),
      largest_(
          std::min(lcm::layout::largest(channel_.size(), datagram_bytes), multicast::largest_within(url.reassembly))) {}

// ---- out ----

void multicast_publisher_link::commit(sample& s) noexcept {
  const auto now = monotonic::now();
  period_ = period_ == monotonic::duration{} ? now - last_commit_ : (3 * period_ + (now - last_commit_)) / 4;
  last_commit_ = now;
  newest_ = s.sequence;
  if (rest_.what.buffer) {
    if (newest_waits_) dropped_.fetch_add(1, std::memory_order_relaxed);
    newest_waits_ = true;
  } else {
    transmit(s);
  }
  if (!readers_.empty() && next_beat_ > now + longest_pause) beat_at(now + pause());
}

void multicast_publisher_link::transmit(sample& s) noexcept {
  if (fec_ != 0 && !protect(s)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  newest_datagrams_ = datagrams_of(s);
  const std::size_t next = send_datagrams(s, 0);
  if (next == newest_datagrams_) return;
  rest_ = {{share_frame(s.buffer), s.sequence, s.stamp_ns}, next};
  if (!rest_.what.buffer) dropped_.fetch_add(1, std::memory_order_relaxed);
  watch_for_room(static_cast<bool>(rest_.what.buffer));
}

// False: no memory, or too large for it.
bool multicast_publisher_link::protect(const sample& s) noexcept {
  const std::size_t shard = datagram_bytes_ - multicast::fec_packet::fixed_bytes - channel_.size();
  const auto plan = multicast::fec_plan::make(s.buffer.size(), shard, fec_);
  if (!plan) return false;
  plan_ = *plan;
  const std::size_t block_bytes = std::size_t{plan_.parity_shards()} * plan_.shard_bytes();
  try {
    parity_.resize(plan_.blocks() * block_bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  const std::span<const std::byte> payload{s.buffer.payload(), s.buffer.size()};
  for (std::uint16_t block = 0; block < plan_.blocks(); ++block) {
    if (!code_.encode(plan_, payload, block, std::span(parity_).subspan(block * block_bytes, block_bytes)))
      return false;
  }
  return true;
}

std::size_t multicast_publisher_link::datagrams_of(const sample& s) const noexcept {
  return fec_ != 0 ? plan_.datagrams() : layout_of(s).datagrams();
}

lcm::layout multicast_publisher_link::layout_of(const sample& s) const noexcept {
  return {channel_.size(), s.buffer.size(), datagram_bytes_};
}

void multicast_publisher_link::add_plain(multicast::sending_batch& to, const lcm::layout& cut, const sample& s,
                                         std::size_t i) noexcept {
  const auto part = cut.payload_of(i);
  lcm::write_head(to.head(), cut, i, static_cast<std::uint32_t>(s.sequence), s.buffer.size(), channel_);
  to.add({s.buffer.payload() + part.offset, part.size});
}

void multicast_publisher_link::add_datagram(multicast::sending_batch& to, const sample& s, std::size_t i) noexcept {
  if (fec_ == 0) return add_plain(to, layout_of(s), s, i);
  const auto place = plan_.at(static_cast<std::uint32_t>(i));
  auto& head = to.head();
  head.size = multicast::encode_header({.channel = channel_,
                                        .sequence = s.sequence,
                                        .stamp_ns = s.stamp_ns,
                                        .plan = plan_,
                                        .block = place.block,
                                        .shard = place.shard,
                                        .bytes = {}},
                                       head.bytes);
  const std::size_t data = plan_.data_shards(place.block);
  if (place.shard < data)
    return to.add(
        {s.buffer.payload() + plan_.offset(place.block, place.shard), plan_.data_bytes(place.block, place.shard)});
  const std::size_t at = (std::size_t{place.block} * plan_.parity_shards() + place.shard - data) * plan_.shard_bytes();
  to.add({parity_.data() + at, plan_.shard_bytes()});
}

std::size_t multicast_publisher_link::send_datagrams(const sample& s, std::size_t from) noexcept {
  const std::size_t all = datagrams_of(s);
  multicast::sending_batch batch;
  for (std::size_t i = from; i < all;) {
    batch.clear();
    for (std::size_t n = i; n < all && !batch.full(); ++n) add_datagram(batch, s, n);
    const auto sent = batch.send(out_.get());
    if (sent.lost != 0) dropped_.fetch_add(1, std::memory_order_relaxed);
    i += sent.done;
    if (sent.done < batch.size()) return i;
  }
  return all;
}

// The kernel has room again: the rest of an older sample, which would else be lost for all, then the newest.
void multicast_publisher_link::go_on(sample* last) noexcept {
  if (!rest_.what.buffer) return;
  rest_.next = send_datagrams(rest_.what, rest_.next);
  if (rest_.next < datagrams_of(rest_.what)) return;
  rest_.what = {};
  watch_for_room(false);
  if (std::exchange(newest_waits_, false) && last != nullptr) transmit(*last);
}

void multicast_publisher_link::watch_for_room(bool wanted) noexcept {
  if (wanted == watched_for_room_) return;
  watched_for_room_ = wanted;
  events_.watch_for_room(out_.get(), wanted);
}

void multicast_publisher_link::announce() noexcept {
  std::array<std::byte, multicast::longest_orc_datagram> bytes;
  orc_datagram d{};
  d.kind = datagram_kind::announce;
  d.registered = registered_;
  d.publication = publication_;
  d.sequence = newest_;
  d.channel = channel_;
  d.reports_at = reports_at_;
  (void)::send(out_.get(), bytes.data(), multicast::encode(d, bytes), MSG_DONTWAIT);
  last_announce_ = monotonic::now();
}

void multicast_publisher_link::ask(reader& whom, monotonic::time_point now) noexcept {
  std::array<std::byte, multicast::longest_orc_datagram> bytes;
  orc_datagram d{};
  d.kind = datagram_kind::status;
  d.registered = registered_;
  d.publication = publication_;
  d.subscription = whom.subscription;
  d.sequence = newest_;
  (void)::sendto(reports_.get(), bytes.data(), multicast::encode(d, bytes), MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&whom.address), sizeof whom.address);
  if (whom.asked != newest_) whom.ask_every = shortest_pause;
  whom.asked = newest_;
  whom.asked_at = now;
  whom.ask_every = whom.has >= newest_
                       ? status_interval
                       : std::clamp<monotonic::duration>(2 * whom.ask_every, shortest_pause, status_interval);
  whom.ask_at = now + whom.ask_every;
}

bool multicast_publisher_link::behind() const noexcept {
  return rest_.what.buffer ||
         std::any_of(readers_.begin(), readers_.end(), [&](const reader& each) { return each.has < newest_; });
}

// ---- in ----

void multicast_publisher_link::service(sample* last) noexcept {
  if (last != nullptr) newest_ = std::max(newest_, last->sequence);
  const auto ready = events_.take();
  if (ready.input) receive_reports(last);
  if (ready.room) go_on(last);
  const auto now = monotonic::now();
  if (now >= next_beat_) beat(now);
  // Without a broker this is how subscribers find it; with one, how others know whom to leave to it.
  if (now - last_announce_ >= status_interval) announce();
}

void multicast_publisher_link::receive_reports(sample* last) noexcept {
  repaired_ = 0;
  for (int n = 0; n < most_reports_per_turn; ++n) {
    std::array<std::byte, multicast::longest_orc_datagram + 1> bytes;
    sockaddr_in from{};
    socklen_t from_size = sizeof from;
    const auto size = ::recvfrom(reports_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT,
                                 reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) return;
    const auto report = multicast::decode({bytes.data(), static_cast<std::size_t>(size)});
    const bool ours = report && report->publication == publication_ &&
                      (report->kind == datagram_kind::report || report->kind == datagram_kind::goodbye);
    if (!ours)
      malformed_.fetch_add(1, std::memory_order_relaxed);
    else if (report->kind == datagram_kind::goodbye)
      forget(report->subscription, from);
    else
      on_report(*report, from, last);
  }
}

void multicast_publisher_link::on_report(const orc_datagram& report, const sockaddr_in& from, sample* last) noexcept {
  const auto now = monotonic::now();
  auto who = std::find_if(readers_.begin(), readers_.end(),
                          [&](const reader& each) { return each.subscription == report.subscription; });
  const bool is_new = who == readers_.end();
  if (is_new) {
    if (readers_.size() >= max_readers) return;
    try {
      readers_.push_back({});
    } catch (const std::bad_alloc&) {
      return;
    }
    who = readers_.end() - 1;
    who->subscription = report.subscription;
    reader_count_.store(readers_.size(), std::memory_order_relaxed);
  }
  who->address = from;
  who->heard = now;
  // One that wants nothing has all that it was asked for, or cannot take it.
  who->has = report.wanted == 0 ? std::max(report.sequence, who->asked) : report.sequence;
  const bool lacks = last != nullptr && report.sequence < last->sequence;
  if (is_new) {
    // The last sample, then the word that makes it listen: so it finds the sample before any later one.
    if (lacks && last->buffer.size() <= most_unasked) {
      orc_datagram all = report;
      all.gaps[0] = {0, UINT16_MAX};
      all.gap_count = 1;
      repair(all, from, *last);
    }
    ask(*who, now);
    announce();  // it has to hear the group, not only us
  } else if (lacks && report.wanted == last->sequence && who->may_be_repaired(now)) {
    repair(report, from, *last);
    who->ask_at = now + look_interval;  // should that be lost as well
    who->ask_every = shortest_pause;
  }
  if (next_beat_ > who->ask_at) beat_at(who->ask_at);
}

// Who repairs are sent to in vain, or who asks without end, must not take the network from the others.
bool multicast_publisher_link::reader::may_be_repaired(monotonic::time_point now) noexcept {
  if (now - repairs_since >= std::chrono::seconds(1)) {
    repairs_since = now;
    repairs = 0;
  }
  return ++repairs <= most_repairs;
}

void multicast_publisher_link::forget(const wire::id& subscription, const sockaddr_in& from) noexcept {
  std::erase_if(readers_, [&](const reader& each) {  // an older link of the same subscription may say goodbye late
    return each.subscription == subscription && each.address.sin_port == from.sin_port &&
           each.address.sin_addr.s_addr == from.sin_addr.s_addr;
  });
  reader_count_.store(readers_.size(), std::memory_order_relaxed);
}

void multicast_publisher_link::repair(const orc_datagram& report, const sockaddr_in& to, sample& last) noexcept {
  const lcm::layout cut = layout_of(last);
  std::array<std::byte, multicast::longest_orc_datagram> wrapper;
  const std::size_t wrapper_size = multicast::encode({.kind = datagram_kind::repair,
                                                      .publication = publication_,
                                                      .subscription = report.subscription,
                                                      .sequence = last.sequence,
                                                      .stamp_ns = last.stamp_ns},
                                                     wrapper);
  multicast::sending_batch batch(to, {wrapper.data(), wrapper_size});
  const auto send = [&] {
    (void)batch.send(reports_.get());
    batch.clear();
  };
  for (std::size_t g = 0; g < report.gap_count; ++g) {
    const std::size_t first = report.gaps[g].first;
    for (std::size_t i = first; i < std::min(first + report.gaps[g].count, cut.datagrams()); ++i) {
      const std::size_t size = cut.payload_of(i).size;
      if (repaired_ != 0 && repaired_ + size > most_repaired) return send();
      repaired_ += size;
      add_plain(batch, cut, last, i);
      if (batch.full()) send();
    }
  }
  send();
}

// ---- time ----

// How long after a sample its stream counts as paused.
monotonic::duration multicast_publisher_link::pause() const noexcept {
  if (newest_datagrams_ > 1) return shortest_pause;  // more likely to need repair than to be followed by another one
  return std::clamp<monotonic::duration>(3 * period_, shortest_pause, longest_pause);
}

// Asks readers for what they have: each when the stream pauses, then at growing intervals those that lack the newest
// sample, and about once a second all.
void multicast_publisher_link::beat(monotonic::time_point now) noexcept {
  const std::size_t before = readers_.size();
  std::erase_if(readers_, [&](const reader& each) { return now - each.heard > silence; });
  if (readers_.size() != before) reader_count_.store(readers_.size(), std::memory_order_relaxed);
  // Not in the middle of a stream: what a reader lacks then will be followed by something newer.
  const auto paused_at = last_commit_ + pause();
  auto next = monotonic::time_point::max();
  int asked = 0;
  for (reader& each : readers_) {
    const bool told = each.asked == newest_;
    if (!told && each.ask_at > paused_at) each.ask_at = paused_at;
    if (!told && now < paused_at && now - each.asked_at < status_interval)
      each.ask_at = std::max(paused_at, now + look_interval);
    if (now >= each.ask_at) {
      if (++asked > most_asked) return beat_at(now + std::chrono::milliseconds(1));
      ask(each, now);
    }
    next = std::min(next, each.ask_at);
  }
  beat_at(next);
}

void multicast_publisher_link::beat_at(monotonic::time_point when) noexcept {
  next_beat_ = when;
  events_.wake_at(when);
}

}  // namespace orc::detail
