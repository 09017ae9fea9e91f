#include "transport/multicast/channel_receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace orc::detail::multicast {

namespace {

constexpr auto touch_interval = std::chrono::seconds(1);
constexpr auto silence = std::chrono::seconds(5);       // after it a publication counts as gone
constexpr auto begins_again = std::chrono::seconds(1);  // after it a sender may count anew
constexpr auto broker_tells_within = std::chrono::milliseconds(500);
constexpr auto announces_within = std::chrono::milliseconds(2500);  // two announcements; else it is an LCM program
constexpr std::size_t max_fragment = 65536;
constexpr std::size_t per_datagram = 1024;  // what the kernel counts besides its bytes, approximately
constexpr std::size_t max_awaited = 1024;
constexpr std::uint64_t max_gap = std::uint64_t{1} << 32;
constexpr std::uint64_t max_sequence = std::uint64_t{1} << 62;  // no publication lives so long

}  // namespace

channel_receiver::channel_receiver(settings given)
    : settings_(std::move(given)),
      fragments_(settings_.max_bytes),
      shards_(settings_.max_bytes),
      filter_(settings_.type.get()),
      types_(is_open() ? settings_.type : nullptr),
      ready_(std::max<std::uint32_t>(1, settings_.depth)),
      order_(settings_.newest) {}

void channel_receiver::expect(const source& from, const source& reports_at, std::uint64_t newest) {
  sender& whom = senders_.add(from, {});
  whom.publication = settings_.publication;
  whom.takes_reports = reports_at;
  whom.announced = newest;
}

void channel_receiver::expect_again(const wire::id& publication, const source& from, const source& reports_at,
                                    monotonic::time_point now) {
  sender& whom = senders_.add(from, {});
  whom.publication = publication;
  whom.takes_reports = reports_at;
  if (settings_.newest != 0) whom.newest = settings_.newest;
  whom.taken = now;
}

std::uint64_t channel_receiver::newest_of(const wire::id& publication) const noexcept {
  std::uint64_t newest = 0;
  for (const sender& each : senders_) {
    if (each.publication == publication) newest = std::max(newest, each.newest.value_or(0));
  }
  return newest;
}

// A publication may be heard from another address before it is announced there: then what was lost meanwhile does not
// show in the numbers. `known`: sequence of its newest sample that came from elsewhere; 0: none.
std::uint64_t channel_receiver::lost_before(const sender& moved, std::uint64_t known) noexcept {
  const auto newest = moved.newest.value_or(0);
  if (known == 0 || newest <= known || newest - known >= max_gap) return 0;
  return newest - known - std::min(newest - known, moved.unannounced);
}

subscriber_link::heard channel_receiver::heard_of(const wire::id& publication, const source& from) const noexcept {
  const auto known = newest_of(publication);
  const auto moved = std::find_if(senders_.begin(), senders_.end(), [&](const sender& each) {
    return each.from == from && !each.publication && each.newest.value_or(0) > known;
  });
  if (moved == senders_.end()) {
    std::uint64_t lost = 0;
    for (const sender& each : senders_) lost += each.publication == publication ? each.lost : 0;
    return {known, lost};
  }
  return {*moved->newest, lost_before(*moved, known)};
}

// ---- datagrams ----

void channel_receiver::on_group(std::span<const std::byte> bytes, const source& from, std::int64_t stamp_ns,
                                monotonic::time_point now) noexcept {
  if (const auto message = lcm::decode(bytes)) {
    if (sender* const who = sender_at(from, now)) {
      look_for_another(*who, *message, now);
      on_message(*who, *message, stamp_ns, now);
    }
  } else if (const auto own = decode(bytes); own && own->kind == datagram_kind::announce) {
    on_announce(*own, from, now);
  } else if (const auto shard = decode_fec(bytes); shard && shard->channel == settings_.channel) {
    if (sender* const who = sender_at(from, now)) on_shard(*who, *shard, now);
  } else {
    count_malformed();
  }
}

// Believes only what comes from where the publication takes reports and names the link, which no other program knows.
void channel_receiver::on_direct(std::span<const std::byte> bytes, const source& from,
                                 monotonic::time_point now) noexcept {
  const auto d = decode(bytes);
  sender* const who = d && d->publication ? senders_.find(d->publication, from) : nullptr;
  if (who == nullptr || d->link != settings_.link || d->sequence > max_sequence) return count_malformed();
  if (d->kind == datagram_kind::repair) return on_repair(*who, *d, now);
  if (d->kind == datagram_kind::type && types_.on_type(*who, *d, now)) return check_types(now);
  if (d->kind != datagram_kind::status) return count_malformed();
  who->told = now;
  who->cookie = d->cookie;
  who->offered = std::max(who->offered, d->sequence);
  who->announced = std::max(who->announced, d->sequence);
  who->wants_report = true;
}

// Null: this sender is not to be heard.
sender* channel_receiver::sender_at(const source& from, monotonic::time_point now) noexcept {
  sender* const known = senders_.find(from);
  if (!is_open()) return connected_ ? known : nullptr;
  return known != nullptr ? known : &senders_.add(from, now);
}

// A broker that has not reported a publication by then does not know it: it is registered at another one.
bool channel_receiver::is_left_to_broker(const sender& whom, monotonic::time_point now) noexcept {
  return whom.registered && now - whom.since < broker_tells_within;
}

// Another program with the same address, or the same one after a restart.
void channel_receiver::look_for_another(sender& at, const lcm::datagram& d, monotonic::time_point now) noexcept {
  if (at.publication && now - at.alive() <= silence) return;
  if (!at.newest || now - at.taken <= begins_again || at.sequence_of(d.number) > *at.newest) return;
  at.newest.reset();
  if (at.publication) forget_publication(at, now);
}

// A later announcement begins anew. Without one it is an LCM program, from announces_within on.
void channel_receiver::forget_publication(sender& at, monotonic::time_point now) noexcept {
  at.publication = {};
  at.unannounced = at.lost = 0;
  at.type = {};
  at.registered = false;
  at.since = now;
}

void channel_receiver::on_message(sender& from, const lcm::datagram& d, std::int64_t stamp_ns,
                                  monotonic::time_point now) noexcept {
  if (is_left_to_broker(from, now)) return;
  from.heard = now;
  if (d.fragment == 0 && d.channel != settings_.channel) {
    from.other_channel = d.number;
    return fragments_.forget(from.from, d.number);
  }
  if (d.fragments > 1 && from.other_channel == d.number) return;
  if (types_ && !is_of_type(from, &d, now)) return;
  const std::uint64_t sequence = from.sequence_of(d.number);
  if (from.newest && sequence <= *from.newest) return;              // came before, or is old
  if (from.publication && sequence == 0) return count_malformed();  // they begin at 1
  if (d.fragments == 1 && d.payload.size() == d.size) {
    sample_buffer buffer = allocate_frame(d.size);
    if (!buffer) return;
    if (d.size != 0) std::memcpy(buffer.payload(), d.payload.data(), d.payload.size());
    return deliver(from, sequence, std::move(buffer), stamp_ns, now);
  }
  fragment_bytes_ = std::max(fragment_bytes_, d.payload.size());
  fragments_.expire(now);
  reassembly::message done;
  switch (fragments_.add(from.from, d, stamp_ns, now, done)) {
    case reassembly::outcome::complete: return deliver(from, sequence, std::move(done.buffer), done.stamp_ns, now);
    case reassembly::outcome::refused: from.unwanted = sequence; return count_malformed();
    case reassembly::outcome::more:
    case reassembly::outcome::duplicate: return;
  }
}

void channel_receiver::on_shard(sender& from, const fec_packet& packet, monotonic::time_point now) noexcept {
  if (is_left_to_broker(from, now)) return;
  from.heard = now;
  if (packet.sequence == 0 || packet.sequence > max_sequence) return count_malformed();
  if (from.newest && packet.sequence <= *from.newest) return;
  if (types_ && !is_of_type(from, nullptr, now)) return;
  sample_buffer done;
  switch (shards_.add(from.from, packet, now, done)) {
    case reassembly::outcome::complete:
      from.announced = std::max(from.announced, packet.sequence);
      return deliver(from, packet.sequence, std::move(done), packet.stamp_ns, now);
    case reassembly::outcome::refused: return count_malformed();
    case reassembly::outcome::more:
    case reassembly::outcome::duplicate: return;
  }
}

void channel_receiver::on_announce(const orc_datagram& d, const source& from, monotonic::time_point now) noexcept {
  if (d.channel != settings_.channel || !d.publication || d.sequence > max_sequence) return count_malformed();
  if (!is_open()) {
    sender& whom = *senders_.begin();
    if (d.publication != settings_.publication || from != whom.from) return;
    whom.announced_at = now;
    whom.sends_smaller = d.smaller;
    if (connected_) return;
    // Proven: the publication reaches us through the group.
    whom.announced = std::max(whom.announced, d.sequence);
    whom.told = now;
  } else {
    sender* const who = sender_at(from, now);
    // A live publication is not replaced by another one that claims its address.
    const bool another = who->publication && who->publication != d.publication;
    if (another && now - who->alive() < sender_table::hold) return count_malformed();
    const bool returns = now - who->alive() > silence;
    who->registered = d.registered && !settings_.alone;
    who->announced_at = now;
    who->sends_smaller = d.smaller;
    if (is_left_to_broker(*who, now)) {
      who->heard = now;
      return;
    }
    senders_.hold_place(*who, now);
    if (who->publication == d.publication && !returns && (!types_ || who->type.hash == d.type)) return;
    if (another) who->newest.reset();
    if (who->publication != d.publication) who->type = {};
    // It may have sent from another address before.
    const auto known = newest_of(d.publication);
    who->lost += lost_before(*who, known);
    if (known > who->newest.value_or(0)) who->newest = known;
    who->unannounced = 0;
    who->publication = d.publication;
    who->takes_reports = {from.address, d.reports_at};
    who->announced = d.sequence;
    who->offered = 0;
    who->cookie = 0;
    who->heard = who->told = now;
    who->wants_report = true;
    who->keeps_last = d.keeps_last;
    if (types_) {
      types_.announced(*who, d.type, now);
      if (who->type.verdict != type_verdict::matches) return check_types(now);
    }
    return join(*who);
  }
  if (connected_) return;
  connected_ = true;
  newest_at_join_ = d.sequence + (d.keeps_last ? 0 : 1);
}

void channel_receiver::join(const sender& whom) noexcept {
  if (connected_) return;
  connected_ = true;
  newest_at_join_ = whom.announced + (whom.keeps_last ? 0 : 1);
}

void channel_receiver::on_repair(sender& from, const orc_datagram& d, monotonic::time_point now) noexcept {
  const auto inside = lcm::decode(d.inside);
  const bool fits = inside && inside->number == static_cast<std::uint32_t>(d.sequence) &&
                    (inside->fragment != 0 || inside->channel == settings_.channel);
  if (!fits) return count_malformed();
  from.announced = std::max(from.announced, d.sequence);
  from.offered = std::max(from.offered, d.sequence);
  on_message(from, *inside, d.stamp_ns, now);
  if (from.awaited != 0 && --from.awaited == 0) from.wants_report = true;  // and asks for the next part
}

void channel_receiver::deliver(sender& from, std::uint64_t sequence, sample_buffer&& buffer, std::int64_t stamp_ns,
                               monotonic::time_point now) noexcept {
  if (filter_ && !filter_.passes({buffer.payload(), buffer.size()})) {
    filter_.dropped({buffer.payload(), buffer.size()}, from.from, now);
    from.unwanted = sequence;  // no repair would make it better
    return count_malformed();
  }
  // Several senders share the numbers of the subscription. LCM programs count all their channels together, so gaps in
  // their numbers may belong to other channels.
  const bool counts_this_channel = from.publication && from.newest && sequence - *from.newest < max_gap;
  order_ = order_ == 0 && from.publication ? sequence : order_ + (counts_this_channel ? sequence - *from.newest : 1);
  order_ += std::exchange(from.lost, 0);
  fragments_.forget_through(from.from, static_cast<std::uint32_t>(sequence));
  shards_.forget_through(from.from, sequence);
  if (!from.publication) ++from.unannounced;
  from.newest = sequence;
  from.taken = now;
  connected_ = connected_ || is_open();
  (void)ready_.push({std::move(buffer), is_open() ? order_ : sequence, stamp_ns});
}

// ---- types ----

// Whether samples of this sender are taken. What is dropped before the verdict is repaired after it. `d`: the datagram,
// if it has a number that tells what is the newest.
bool channel_receiver::is_of_type(sender& from, const lcm::datagram* d, monotonic::time_point now) noexcept {
  switch (from.type.verdict) {
    case type_verdict::matches:
      // A publication may be heard before its announcement. Messages of LCM types are checked one by one.
      return from.publication || filter_ || now - from.since > announces_within;
    case type_verdict::unknown:
      if (d != nullptr) from.announced = std::max(from.announced, from.sequence_of(d->number));
      return false;
    case type_verdict::differs: count_malformed(); return false;
  }
  return false;
}

void channel_receiver::check_types(monotonic::time_point now) noexcept {
  types_.step(senders_, now);
  if (connected_ || !types_) return;
  const auto found = std::find_if(senders_.begin(), senders_.end(), [](const sender& each) {
    return each.publication && each.type.verdict == type_verdict::matches;
  });
  if (found != senders_.end()) join(*found);
}

std::optional<error> channel_receiver::type_problem() const {
  for (const sender& each : senders_) {
    if (each.publication && each.type.verdict == type_verdict::differs)
      return error(errc::type_mismatch, "topic " + settings_.channel + ": " + each.type.problem);
  }
  if (const auto dropped = filter_.problem())
    return error(errc::type_mismatch, "topic " + settings_.channel + ": " + dropped->message());
  return std::nullopt;
}

// ---- reports ----

bool channel_receiver::owes_reports() noexcept {
  return std::any_of(senders_.begin(), senders_.end(), [](const sender& each) { return each.wants_report; });
}

bool channel_receiver::is_silent(monotonic::time_point now) noexcept {
  return !is_open() && connected_ && now - senders_.begin()->alive() > silence;
}

void channel_receiver::remind(monotonic::time_point now, bool all) noexcept {
  fragments_.expire(now);
  shards_.expire(now);
  filter_.expire(now);
  for (sender& each : senders_) {
    if (!each.publication) continue;
    if (is_open() && now - each.alive() > silence) {
      each.wants_report = false;
      // When it returns, its samples go on counting.
      if (!each.newest || each.type.verdict != type_verdict::matches) forget_publication(each, now);
      continue;
    }
    each.wants_report = each.wants_report || all || now - each.told > touch_interval;
  }
}

// Reports what we have, and what we lack of its newest sample: as much as surely fits into the socket at a time,
// because the rest would have to be sent again.
orc_datagram channel_receiver::report_to(sender& to, std::size_t buffer) noexcept {
  orc_datagram d{};
  d.kind = datagram_kind::report;
  d.publication = to.publication;
  d.link = settings_.link;
  d.cookie = to.cookie;
  d.sequence = to.newest.value_or(0);
  to.awaited = 0;
  if (to.offered <= d.sequence || to.offered == to.unwanted) return d;
  const std::size_t each = fragment_bytes_ == 0 ? max_fragment : fragment_bytes_ + per_datagram;
  d.wanted = to.offered;
  fragments_.missing(to.from, static_cast<std::uint32_t>(to.offered),
                     std::clamp<std::size_t>(std::min(buffer / 2, max_repaired) / each, 1, max_awaited), d);
  for (std::size_t i = 0; i < d.gap_count; ++i) to.awaited += d.gaps[i].count;
  return d;
}

}  // namespace orc::detail::multicast
