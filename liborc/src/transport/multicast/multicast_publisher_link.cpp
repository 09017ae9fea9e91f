#include "transport/multicast/multicast_publisher_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "transport/multicast/socket/multicast_socket.h"
#include "transport/out_of_descriptors.h"
#include "transport/traffic_class.h"

namespace orc::detail {

namespace {

using multicast::datagram_kind;
using multicast::orc_datagram;

constexpr auto min_pause = std::chrono::milliseconds(2);
constexpr auto max_pause = std::chrono::milliseconds(50);
constexpr auto look_interval = std::chrono::milliseconds(10);
constexpr auto status_interval = std::chrono::seconds(1);
constexpr auto silence = std::chrono::seconds(4);              // after it a reader counts as gone
constexpr std::size_t reports_buffer = 1024 * 1024;            // for one report of each reader
constexpr std::size_t max_unasked = 64 * 1024;                 // for a reader that has just joined
constexpr auto announce_pause = std::chrono::milliseconds(2);  // between announcements for readers that join
constexpr auto trial_interval = std::chrono::seconds(5);       // of large datagrams, for a reader that got none
constexpr auto smaller_for = std::chrono::seconds(10);         // after the last report of such a reader

// The work of one turn, and the pause before the next one when there is more to do: send() waits no longer.
constexpr auto turn_pause = std::chrono::milliseconds(1);
constexpr int max_reports = 64;
constexpr int max_asked = 64;
constexpr std::size_t max_repaired = 256 * 1024;
constexpr std::size_t max_types = 128 * 1024;
constexpr std::size_t max_for_one = 64 * 1024;  // of those; at least one datagram
constexpr std::size_t per_datagram = 512;       // that a datagram counts besides its own
constexpr std::size_t always_arrives = 1024;    // payload that fits into a datagram on every network

}  // namespace

link_or_error<publisher_link> multicast_publisher_link::open(const publication_spec& spec,
                                                             const wire::multicast_url& url) {
  if (spec.topic.size() > lcm::max_channel_length)
    return error(errc::bad_name, "over multicast a topic name has at most " + std::to_string(lcm::max_channel_length) +
                                     " bytes (LCM's channels)");
  auto out = multicast::open_sender(url);
  if (!out) return out.error();
  const source from = multicast::address_of(out->get());
  auto reports = multicast::open_reports(from.address, url, reports_buffer, spec.ports);
  if (!reports) return reports.error();
  for (const auto* each : {&out, &reports}) set_traffic_class((*each)->get(), spec.options.priority);
  wire::multicast_url told = url;
  told.from = multicast::address_of(reports->get());
  told.from->address.scope = 0;  // it has no meaning for others
  told.source = from.port;
  std::unique_ptr<multicast_publisher_link> link(
      new multicast_publisher_link(spec, url, *std::move(out), *std::move(reports)));
  link->where_ = {wire::transport::multicast, told.text()};
  link->reports_at_ = told.from->port;
  link->network_ = multicast::network_of(url);
  if (!link->events_.open(link->reports_.get())) return out_of_descriptors();
  link->announce(monotonic::now());
  return link;
}

multicast_publisher_link::multicast_publisher_link(const publication_spec& spec, const wire::multicast_url& url,
                                                   unique_fd out, unique_fd reports)
    : publication_(spec.id),
      registered_(!spec.alone),
      keep_last_(spec.options.keep_last),
      cookies_(wire::id::random()),
      type_(spec.type.get()),
      url_(url),
      group_(std::move(out), spec.topic, url),
      reports_(std::move(reports)) {}

bool multicast_publisher_link::is_outdated() const {
  const auto ours = multicast::address_of(reports_.get()).address;  // its address when it was opened
  const auto probe = multicast::open_sender(url_);
  if (probe) return multicast::address_of(probe->get()).address != ours || multicast::network_of(url_) != network_;
  return probe.error().code() != errc::no_descriptors && !multicast::is_of_this_host(ours);
}

void multicast_publisher_link::commit(sample& s) noexcept {
  const auto now = monotonic::now();
  period_ = period_ == monotonic::duration{} ? now - last_commit_ : (3 * period_ + (now - last_commit_)) / 4;
  last_commit_ = now;
  newest_ = s.sequence;
  if (const std::size_t dropped = group_.transmit(s, events_); dropped != 0)
    dropped_.fetch_add(dropped, std::memory_order_relaxed);
  if (!readers_.empty() && next_beat_ > now + max_pause) {
    next_beat_ = now + pause();
    arm_timer();
  }
}

unfinished multicast_publisher_link::service(sample* last) noexcept {
  if (last != nullptr) newest_ = std::max(newest_, last->sequence);
  const auto ready = events_.take();
  const auto now = monotonic::now();
  if (ready.input || now >= next_reports_) receive_reports(last, now);
  if (ready.room) dropped_.fetch_add(group_.go_on(last, events_), std::memory_order_relaxed);
  repair_readers(last, now);
  if (now >= next_beat_) beat(now);
  if (now >= next_announce_) announce(now);
  arm_timer();
  return {.behind = behind()};
}

bool multicast_publisher_link::behind() const noexcept {
  return group_.has_rest() || readers_.any_of([&](const reader& each) { return each.has < newest_for(each); });
}

// ---- reports ----

void multicast_publisher_link::receive_reports(const sample* last, monotonic::time_point now) noexcept {
  const bool was_paused = next_reports_ != monotonic::time_point::max();
  next_reports_ = monotonic::time_point::max();
  int n = 0;
  for (; n < max_reports; ++n) {
    std::array<std::byte, multicast::max_orc_datagram + 1> bytes;
    socket_address address;
    const auto size =
        ::recvfrom(reports_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, address.get(), address.room());
    if (size < 0) break;
    const auto said = multicast::decode({bytes.data(), static_cast<std::size_t>(size)});
    const auto from = address.value().value_or(source{});
    const bool ours = said && said->publication == publication_;
    if (ours && said->kind == datagram_kind::report)
      on_report(*said, from, last, now);
    else if (ours && said->kind == datagram_kind::ask_type)
      on_ask_type(*said, from, now);
    else if (ours && said->kind == datagram_kind::goodbye && cookies_.is_good(said->cookie, from, said->link, now))
      readers_.remove(from);
    else
      malformed_.fetch_add(1, std::memory_order_relaxed);
  }
  count_readers();
  const bool more = n == max_reports;
  if (more) next_reports_ = now + turn_pause;
  if (more != was_paused) events_.watch_for_input(!more);
}

void multicast_publisher_link::on_report(const orc_datagram& report, const source& from, const sample* last,
                                         monotonic::time_point now) noexcept {
  if (!cookies_.is_good(report.cookie, from, report.link, now))
    return send_status(from, report.link, keep_last_ ? newest_ : 0, now);
  reader* who = readers_.find(from);
  const bool is_new = who == nullptr || who->link != report.link;
  if (is_new) who = join(report, from, last, now);
  if (who == nullptr) return;
  who->heard = now;
  if (report.cookie == cookies_.make(from, report.link, now + multicast::report_cookies::period))
    who->is_narrow = false;  // it got try_full()
  if (who->is_narrow) narrow_at_ = now;
  // A reader that wants nothing has all that it was asked about, or cannot take it.
  who->has = std::max(report.wanted == 0 ? std::max(report.sequence, who->asked) : report.sequence, who->since);
  const bool lacks = last != nullptr && last->sequence > std::max(report.sequence, who->since);
  const bool lacks_first = report.wanted != 0 && report.gap_count != 0 && report.gaps[0].first == 0;
  who->progress.reported(report.sequence, lacks_first, now);
  if (who->progress.is_in_vain(now) && group_.send_smaller(url_)) {
    readers_.begin_repairs_anew();
    readers_.visit_in_turn([&](reader& each) {  // until each has shown that it gets large datagrams
      each.is_narrow = true;
      each.trial_at = now + trial_interval;
      return true;
    });
    narrow_at_ = now;
    next_announce_ = std::min(next_announce_, last_announce_ + announce_pause);
    if (lacks) readers_.request(*who, {.sequence = last->sequence, .gaps = {{{0, UINT16_MAX}}}, .gap_count = 1});
  } else if (!is_new && lacks && report.wanted == last->sequence)
    readers_.request(*who, {.sequence = last->sequence, .gaps = report.gaps, .gap_count = report.gap_count});
  next_beat_ = std::min(next_beat_, who->ask_at);
}

// The cookie proves the address, so the answer may be longer than the request. It does not make a reader: a
// subscription joins when it knows that the type is the right one. What exceeds the budget is asked for again.
void multicast_publisher_link::on_ask_type(const orc_datagram& request, const source& from,
                                           monotonic::time_point now) noexcept {
  if (!cookies_.is_good(request.cookie, from, request.link, now))
    return send_status(from, request.link, keep_last_ ? newest_ : 0, now);
  if (now - types_since_ >= turn_pause) {
    types_since_ = now;
    types_left_ = max_types;
  }
  const std::size_t cost = type_.cost(request);
  if (cost == 0 || cost > types_left_ || !readers_.spend(from, cost, now)) return;
  types_left_ -= cost;
  type_.answer(reports_.get(), from, request);
}

// Sends it the last sample, then the status that makes it listen, so that it finds the sample before any later one.
// Also sends an announcement, because it has to hear the group, not only us.
multicast::reader* multicast_publisher_link::join(const orc_datagram& report, const source& from, const sample* last,
                                                  monotonic::time_point now) noexcept {
  reader* const who = readers_.add(from, now);
  if (who == nullptr) return nullptr;
  who->link = report.link;
  who->since = keep_last_ ? 0 : newest_;
  who->ask_at = who->trial_at = now;
  who->is_narrow = group_.sends_smaller();
  next_announce_ = std::min(next_announce_, last_announce_ + announce_pause);
  if (keep_last_ && last != nullptr && report.sequence < last->sequence && last->buffer.size() <= max_unasked)
    readers_.request(*who, {.sequence = last->sequence, .gaps = {{{0, UINT16_MAX}}}, .gap_count = 1});
  return who;
}

// ---- to one subscription ----

orc_datagram multicast_publisher_link::status(const source& to, const wire::id& link, std::uint64_t newest,
                                              monotonic::time_point now) const noexcept {
  orc_datagram d{};
  d.kind = datagram_kind::status;
  d.registered = registered_;
  d.publication = publication_;
  d.link = link;
  d.sequence = newest;
  d.cookie = cookies_.make(to, link, now);
  return d;
}

void multicast_publisher_link::send_status(const source& to, const wire::id& link, std::uint64_t newest,
                                           monotonic::time_point now) noexcept {
  std::array<std::byte, multicast::max_orc_datagram> bytes;
  const std::size_t size = multicast::encode(status(to, link, newest, now), bytes);
  const socket_address address(to);
  (void)::sendto(reports_.get(), bytes.data(), size, MSG_DONTWAIT, address.get(), address.size());
}

// Whether large datagrams reach it by now. No sample is risked for that: a status of that size asks for a report.
void multicast_publisher_link::try_full(reader& whom, monotonic::time_point now) noexcept {
  static std::array<std::byte, 65536> zeros;
  whom.trial_at = now + trial_interval;
  std::array<std::byte, multicast::max_orc_datagram> bytes;
  const std::size_t size =
      multicast::encode(status(whom.at, whom.link, newest_for(whom), now + multicast::report_cookies::period), bytes);
  multicast::sending_batch batch(whom.at, {bytes.data(), size});
  batch.head().size = 0;
  batch.add(std::span(zeros).first(group_.full_repair() - size));
  (void)batch.send(reports_.get());
}

void multicast_publisher_link::ask(reader& whom, monotonic::time_point now) noexcept {
  send_status(whom.at, whom.link, newest_for(whom), now);
  if (whom.is_narrow && now >= whom.trial_at) try_full(whom, now);
  if (whom.asked != newest_) whom.ask_every = min_pause;
  whom.asked = newest_;
  whom.asked_at = now;
  whom.ask_every = whom.has >= newest_for(whom)
                       ? status_interval
                       : std::clamp<monotonic::duration>(2 * whom.ask_every, min_pause, status_interval);
  whom.ask_at = now + whom.ask_every;
}

// 0: it joined after the newest sample, which is not kept for it.
std::uint64_t multicast_publisher_link::newest_for(const reader& whom) const noexcept {
  return newest_ > whom.since ? newest_ : 0;
}

void multicast_publisher_link::repair_readers(const sample* last, monotonic::time_point now) noexcept {
  if (now - repairs_since_ >= turn_pause) {
    repairs_since_ = now;
    repairs_left_ = max_repaired;
  }
  while (repairs_left_ != 0) {
    reader* const who = readers_.next_to_repair(now);
    if (who == nullptr) break;
    const bool is_newest = last != nullptr && who->repair.sequence == last->sequence;
    const std::size_t sent = is_newest ? repair(*who, *last) : 0;
    readers_.charge(*who, sent);
    repairs_left_ -= std::min(repairs_left_, sent);
    if (sent != 0 && who->repair.sent < multicast::max_repaired) continue;
    readers_.end_request(*who);
    if (!is_newest) continue;
    who->ask_at = now + look_interval;  // in case that is lost as well
    who->ask_every = min_pause;
    next_beat_ = std::min(next_beat_, who->ask_at);
  }
  next_repairs_ = readers_.has_requests() ? now + turn_pause : monotonic::time_point::max();
}

// Sends the next part of what it asked for. Returns the bytes that this counts; 0: that was all.
std::size_t multicast_publisher_link::repair(reader& whom, const sample& last) noexcept {
  auto& wanted = whom.repair;
  const lcm::layout cut = group_.layout_of(last);
  std::array<std::byte, multicast::max_orc_datagram> wrapper;
  const std::size_t wrapper_size = multicast::encode({.kind = datagram_kind::repair,
                                                      .publication = publication_,
                                                      .link = whom.link,
                                                      .sequence = last.sequence,
                                                      .stamp_ns = last.stamp_ns},
                                                     wrapper);
  multicast::sending_batch batch(whom.at, {wrapper.data(), wrapper_size});
  std::size_t bytes = 0;
  while (wanted.gap < wanted.gap_count && bytes < max_for_one && wanted.sent < multicast::max_repaired) {
    const auto& gap = wanted.gaps[wanted.gap];
    const std::size_t i = gap.first + wanted.fragment;
    if (wanted.fragment >= gap.count || i >= cut.datagrams()) {
      ++wanted.gap;
      wanted.fragment = 0;
      continue;
    }
    ++wanted.fragment;
    wanted.sent += cut.payload_of(i).size + per_datagram;
    if (i == 0 && cut.payload_of(i).size > always_arrives) whom.progress.sent();
    bytes += cut.payload_of(i).size + per_datagram;
    group_.add_plain(batch, cut, last, i);
    if (!batch.full()) continue;
    (void)batch.send(reports_.get());
    batch.clear();
  }
  (void)batch.send(reports_.get());
  return bytes;
}

// ---- time ----

// How long after a sample its stream counts as paused.
monotonic::duration multicast_publisher_link::pause() const noexcept {
  if (group_.newest_datagrams() > 1) return min_pause;  // more likely to need repair than to be followed
  return std::clamp<monotonic::duration>(3 * period_, min_pause, max_pause);
}

// Asks readers for reports: each when the stream pauses, then at growing intervals those that lack the newest sample,
// and about once a second all.
void multicast_publisher_link::beat(monotonic::time_point now) noexcept {
  readers_.remove_silent(now - silence);
  count_readers();
  // Not during a stream: a newer sample will replace what a reader lacks.
  const auto paused_at = last_commit_ + pause();
  auto next = monotonic::time_point::max();
  int asked = 0;
  readers_.visit_in_turn([&](reader& each) {
    const bool told = each.asked == newest_;
    if (!told && each.ask_at > paused_at) each.ask_at = paused_at;
    if (!told && now < paused_at && now - each.asked_at < status_interval)
      each.ask_at = std::max(paused_at, now + look_interval);
    if (now >= each.ask_at) {
      if (asked == max_asked) {
        next = now + turn_pause;
        return false;
      }
      ++asked;
      ask(each, now);
    }
    next = std::min(next, each.ask_at);
    return true;
  });
  next_beat_ = next;
}

// Without a broker subscribers find it by this. With one, others learn which publications to leave to it.
void multicast_publisher_link::announce(monotonic::time_point now) noexcept {
  if (group_.sends_smaller() && now - narrow_at_ > smaller_for && group_.send_full()) readers_.begin_repairs_anew();
  orc_datagram d{};
  d.registered = registered_;
  d.keeps_last = keep_last_;
  d.publication = publication_;
  d.sequence = newest_;
  d.reports_at = reports_at_;
  d.type = type_.hash();
  group_.announce(d);
  last_announce_ = now;
  next_announce_ = now + status_interval;
}

void multicast_publisher_link::arm_timer() noexcept {
  auto when = std::min({next_beat_, next_reports_, next_repairs_});
  if (next_announce_ < last_announce_ + status_interval) when = std::min(when, next_announce_);
  if (when == armed_for_) return;
  armed_for_ = when;
  events_.wake_at(when);
}

}  // namespace orc::detail
