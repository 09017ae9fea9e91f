#include "transport/stream/stream_publisher_link.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/copy.h"
#include "base/files/fd_limit.h"
#include "base/network/ip_address.h"
#include "transport/traffic_class.h"

namespace orc::detail {

namespace {

constexpr std::uint32_t max_depth = 65536;
constexpr auto small_packets_last = std::chrono::seconds(60);  // readers on other paths must not get them for good
constexpr std::uint64_t max_caught_up_in_send = 2;             // samples of one reader
constexpr int max_tries_in_send = 4;                           // in vain, for readers that are behind
constexpr int max_caught_up = 16;                              // samples of one reader per visit
constexpr std::size_t copied_at_once = 256 * 1024;             // a part of what a connection's kernel queue can hold
constexpr std::size_t max_link_message = 4096;                 // what a publication accepts from subscribers
constexpr std::size_t read_buffer = 512;
constexpr std::size_t bytes_per_visit = 512;  // of one connection: the rest shows at the next visit

}  // namespace

stream_publisher_link::reader::reader(unique_fd fd)
    : line(std::move(fd), stream_connection::role::router, max_link_message, read_buffer) {}

stream_publisher_link::stream_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where)
    : publication_(spec.id),
      keep_last_(spec.options.keep_last),
      lacking_(spec.lacking),
      where_(std::move(where)),
      everywhere_(where_.transport == wire::transport::tcp && spec.listen_remote),
      priority_(where_.transport == wire::transport::tcp ? spec.options.priority : priority::normal),
      connections_(std::move(door)),
      turns_(priority_ == priority::bulk ? ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) : -1),
      paced_(turns_ && connections_.wake_with(turns_.get())) {}

void stream_publisher_link::append_endpoints(std::vector<wire::endpoint>& to,
                                             const std::vector<std::string>& addresses) const {
  if (!everywhere_ || addresses.empty()) {
    to.push_back(where_);
    return;
  }
  const std::string port = where_.address.substr(where_.address.rfind(':'));
  for (const auto& each : addresses) {
    const auto known = ip_address::parse(each);
    if (!known || known->scope != 0) continue;  // a link-local address means something else on each host
    to.push_back({where_.transport, "tcp://" + known->in_url() + port});
  }
}

// ---- sending ----

void stream_publisher_link::commit(sample& s) noexcept {
  if (readers() == 0) return;
  int tries = max_tries_in_send;
  for (const auto& each : connections_) {
    if (each->is_reader()) offer(*each, s, tries);
  }
  after_change();
}

void stream_publisher_link::offer(reader& to, sample& s, int& tries) noexcept {
  // service() serves readers that lack more, and a crowd of those that are behind, so that they do not delay the
  // sender.
  const bool nearly_there = to.lacks == 0 || s.sequence - to.lacks <= max_caught_up_in_send;
  const bool waits = to.waits();
  if (waits && nearly_there && tries == 0) return queue(to, s);
  if (waits && nearly_there) catch_up(to, nullptr, s.sequence, nullptr);
  if (to.gone) return;
  if (to.line.pending() || to.lacks != 0 || !hand_over(to, s)) {
    if (waits && nearly_there) --tries;
    return queue(to, s);
  }
  to.behind = false;
}

// False: no room. A part that was taken counts as all, because the connection keeps the rest.
bool stream_publisher_link::hand_over(reader& to, sample& s) noexcept {
  fit_kernel_queue(to, payload_of(s).size());
  auto result = to.line.send({s.sequence, s.stamp_ns}, payload_of(s));
  if (result == stream_connection::written::some && s.source.data() != nullptr) result = copy_and_send(to, s);
  to.moves = to.moves || result != stream_connection::written::none;
  switch (result) {
    case stream_connection::written::all: return true;
    case stream_connection::written::none: return false;
    case stream_connection::written::failed: leave(to); return true;
    case stream_connection::written::some: break;
  }
  if (sample* const frame = lacking_->frame_of(s); frame != nullptr && lacking_->begin(*frame)) {
    to.line.keep(share(frame->buffer));
    to.begun = s.sequence;
    watch_for_room(to);
  } else {
    leave(to);  // no memory for the rest, and half a sample is useless
  }
  return true;
}

// Sends on while it copies the rest, so that the reader of a large sample does not wait for the whole copy.
stream_connection::written stream_publisher_link::copy_and_send(reader& to, sample& s) noexcept {
  const auto from = s.source;
  auto result = stream_connection::written::some;
  if (!s.buffer) s.buffer = allocate_frame(from.size());
  if (!s.buffer) return result;
  for (std::size_t at = 0; at < from.size(); at += copied_at_once) {
    copy_bytes(s.buffer.payload() + at, from.data() + at, std::min(copied_at_once, from.size() - at));
    if (result == stream_connection::written::some && !paced_) result = to.line.go_on(from);
  }
  s.source = {};
  return result;
}

void stream_publisher_link::queue(reader& to, sample& s) noexcept {
  std::uint64_t dropped = 0;
  if (to.depth == 0) {
    dropped = to.behind ? 1 : 0;
    to.behind = true;
  } else {
    const bool first = to.lacks == 0;
    if (!(first ? lacking_->start(s) : lacking_->keep(s)))
      ++dropped;
    else if (first)
      to.lacks = s.sequence;
    skip_what_is_gone(to);
    if (to.lacks != 0 && s.sequence - to.lacks >= to.depth) {
      const std::uint64_t next = s.sequence - to.depth + 1;
      dropped += next - to.lacks;
      to.lacks = lacking_->go_on(to.lacks, next);
    }
  }
  if (dropped != 0) dropped_.fetch_add(dropped, std::memory_order_relaxed);
  watch_for_room(to);
}

// There was no memory to keep the samples that it should get next.
void stream_publisher_link::skip_what_is_gone(reader& r) noexcept {
  const std::uint64_t oldest = lacking_->oldest();
  if (r.lacks == 0 || r.lacks >= oldest) return;
  dropped_.fetch_add(oldest - std::exchange(r.lacks, oldest), std::memory_order_relaxed);
}

void stream_publisher_link::flush(reader& to) noexcept {
  if (paced_ && to.line.pending()) pace(to);
  const std::size_t before = to.line.sample_done();
  if (to.line.flush() == stream_connection::written::failed) return leave(to);
  if (to.begun == 0) return;
  const std::size_t done = to.line.sample_done();
  to.moves = to.moves || done != before;
  if (done == 0)
    lacking_->end(std::exchange(to.begun, 0));
  else if (done != before)
    lacking_->advance(to.begun);
}

// Sends up to the sample `end`, which others may lack already while it is on its way to this one. With `now`, sends at
// least one and no more than fits the visit. The connection stays watched for room, so the rest follows.
void stream_publisher_link::catch_up(reader& to, sample* last, std::uint64_t end, visit* now) noexcept {
  if (to.gone) return;
  flush(to);
  skip_what_is_gone(to);
  for (int n = 0; !to.gone && !to.line.pending() && to.lacks != 0; ++n) {
    if (now != nullptr && n != 0 && (n == max_caught_up || now->over())) {
      now->cut_short();
      break;
    }
    sample* const next = lacking_->from(to.lacks);
    if (next == nullptr || next->sequence >= end) break;
    const std::uint64_t sequence = next->sequence;
    if (!hand_over(to, *next)) break;
    to.lacks = lacking_->go_on(to.lacks, sequence + 1, end);
  }
  if (!to.gone && !to.line.pending() && to.behind && last != nullptr && hand_over(to, *last)) to.behind = false;
  watch_for_room(to);
}

// Lets about one sample wait in the kernel. More would only be old on arrival. Less would cost large samples a wake-up
// for every piece.
void stream_publisher_link::fit_kernel_queue(reader& to, std::size_t sample_size) noexcept {
  if (paced_) return pace(to);
  if (sample_size <= to.kernel_queue) return;
  to.kernel_queue = std::bit_ceil(std::max(sample_size, min_kernel_queue));
  // Commands in a queue are old on arrival: of a control topic's only one waits.
  const bool alone = priority_ == priority::control && to.kernel_queue == min_kernel_queue;
  set_kernel_queue(to.line.fd(), where_.transport, alone ? 1 : to.kernel_queue);
}

void stream_publisher_link::pace(reader& to) noexcept {
  to.line.write_no_more_than(to.pace.adjust(to.waits()));
  to.line.write_at_most(to.pace.piece());
}

void stream_publisher_link::look_again_in(std::chrono::microseconds pause) noexcept {
  if (std::exchange(looks_again_, true)) return;
  const itimerspec once{{}, {0, static_cast<long>(std::chrono::nanoseconds(pause).count())}};
  (void)::timerfd_settime(turns_.get(), 0, &once, nullptr);
}

void stream_publisher_link::take_turns(sample* last, visit& now) noexcept {
  std::uint64_t expired = 0;
  if (!paced_ || ::read(turns_.get(), &expired, sizeof expired) < 0) return;
  looks_again_ = false;
  for (const auto& each : connections_)
    if (!each->gone && each->waits()) catch_up(*each, last, sample_backlog::no_end, &now);
}

void stream_publisher_link::watch_for_room(reader& of) noexcept {
  const bool takes_turns = paced_ && of.pace.takes_turns();
  const bool wanted = of.waits() && !takes_turns;
  if (!of.gone && of.waits() && takes_turns) look_again_in(of.pace.pause());
  if (of.gone || wanted == of.watched_for_room) return;
  of.watched_for_room = wanted;
  connections_.door().watch_for_room(of.line.fd(), &of, wanted);
}

bool stream_publisher_link::behind() const noexcept {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& each) { return each->is_reader() && each->waits(); });
}

// ---- receiving ----

unfinished stream_publisher_link::service(sample* last) noexcept {
  visit now_here;
  connections_.serve(
      now_here,
      [&](reader& of, std::uint32_t events) {
        if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
          now_here.heard();
          receive_some(of, last);
        }
        if (of.waits()) catch_up(of, last, sample_backlog::no_end, &now_here);
      },
      [&](unique_fd fd) { return make_reader(std::move(fd)); });
  take_turns(last, now_here);
  connections_.sweep([&](reader& each, monotonic::time_point now) {
    each.stuck = each.waits() && !std::exchange(each.moves, false);
    if (each.joined && each.waits() && peer_is_silent(each.line.fd(), where_.transport)) leave(each);
    if (each.joined) look_at_path(each, now);
  });
  if (small_packets_end_ && monotonic::now() >= *small_packets_end_) {
    send_small_packets(connections_.door().listener(), false);
    small_packets_end_.reset();
  }
  after_change();
  return {.behind = behind(), .pause = now_here.rest()};
}

// Its reader connects again, and then gets packets that arrive. The size of those of a connection cannot be changed.
void stream_publisher_link::look_at_path(reader& to, monotonic::time_point now) noexcept {
  if (!loses_large_packets(to.line.fd(), where_.transport, to.lost_tries)) return;
  send_small_packets(connections_.door().listener(), true);
  small_packets_end_ = now + small_packets_last;
  reset_at_close(to.line.fd());
  leave(to);
}

std::unique_ptr<stream_publisher_link::reader> stream_publisher_link::make_reader(unique_fd fd) const {
  prepare_stream(fd.get(), where_.transport);
  set_traffic_class(fd.get(), priority_);
  if (priority_ == priority::control) keep_small_packets_moving(fd.get());
  auto fresh = std::make_unique<reader>(std::move(fd));
  if (paced_) fresh->pace.begin(fresh->line.fd());
  return fresh;
}

void stream_publisher_link::receive_some(reader& from, sample* last) noexcept {
  stream_connection::incoming frame;
  std::size_t budget = bytes_per_visit;
  while (!from.gone) {
    switch (from.line.receive(frame, budget)) {
      case stream_connection::event::frame:
        if (frame.multipart)
          count_malformed();
        else
          receive(from, frame.bytes, last);
        break;
      case stream_connection::event::nothing: return;
      case stream_connection::event::broken: count_malformed(); [[fallthrough]];
      case stream_connection::event::closed: return leave(from);
    }
    if (from.budget.talks_too_much()) {
      count_malformed();
      leave(from);
    }
  }
}

void stream_publisher_link::receive(reader& from, std::span<const std::byte> frame, sample* last) noexcept {
  const auto message = wire::decode_link_message(frame);
  if (!message || (message->kind != wire::link_kind::hello && message->kind != wire::link_kind::goodbye)) {
    count_malformed();
  } else if (message->kind == wire::link_kind::goodbye) {
    leave(from);
  } else if (message->publication != publication_) {
    tell(from, wire::link_kind::refused, message->subscription, last);
  } else if (from.joined && from.subscription != message->subscription) {
    count_malformed();  // one connection has one subscription
  } else {
    on_hello(from, *message, last);
  }
}

void stream_publisher_link::tell(reader& to, wire::link_kind kind, const wire::id& subscription,
                                 sample* last) noexcept {
  const std::uint64_t newest = last != nullptr ? last->sequence : 0;
  const auto bytes = wire::encode(wire::link_message{.kind = kind,
                                                     .publication = publication_,
                                                     .subscription = subscription,
                                                     .last_sequence = keep_last_ ? newest : newest + 1});
  if (to.line.send(bytes) == stream_connection::written::failed) leave(to);
}

void stream_publisher_link::on_hello(reader& from, const wire::link_message& hello, sample* last) noexcept {
  if (!from.joined && !make_place_for(from)) return tell(from, wire::link_kind::refused, hello.subscription, last);
  tell(from, wire::link_kind::welcome, hello.subscription, last);
  if (from.joined) return;  // repeated on a silent link
  // The same subscription over an older connection: it came back before we noticed its end. Others may know its id, so
  // the id alone must not end its connection.
  for (const auto& each : connections_) {
    if (!each->is_reader() || hello.secret == 0) continue;
    if (each->subscription == hello.subscription && each->secret == hello.secret) leave(*each);
  }
  from.joined = true;
  connections_.note_change();
  from.subscription = hello.subscription;
  from.secret = hello.secret;
  from.depth = std::min(hello.depth, max_depth);
  if (hello.takes_padding && where_.transport == wire::transport::tcp) from.line.pad_large_frames();
  // Gives it the current sample at once: the last value for one that joins, a repair for one that came back.
  if (!keep_last_ || last == nullptr || hello.last_sequence >= last->sequence) return;
  if (from.depth == 0)
    from.behind = true;
  else if (lacking_->start(*last))
    from.lacks = last->sequence;  // in order: before all later samples
}

// Half of the places are for peers that have no other reader, so that a few cannot take all. Where there is none, a
// reader of the same peer that takes nothing makes room.
bool stream_publisher_link::make_place_for(reader& from) noexcept {
  from.peer = peer_of(from.line.fd(), where_.transport);
  std::size_t all = 0;
  std::size_t same = 0;
  std::size_t further = 0;
  reader* stuck = nullptr;
  for (const auto& each : connections_) {
    if (!each->is_reader()) continue;
    ++all;
    further += each->further ? 1U : 0U;
    if (each->peer != from.peer) continue;
    ++same;
    if (each->stuck && stuck == nullptr) stuck = each.get();
  }
  from.further = same != 0;
  const std::size_t share =
      fds_are_scarce(from.line.fd()) ? max_readers_of_peer_scarce : std::min(max_readers_of_peer, fd_limit() / 2);
  if (all < max_readers && (same == 0 || (same < share && further < max_readers / 2))) return true;
  if (stuck == nullptr) return false;
  leave(*stuck);
  return true;
}

void stream_publisher_link::after_change() noexcept {
  if (lacking_->has_abandoned()) leave_abandoned();
  connections_.close_gone([&](reader& each) {
    if (each.lacks != 0) lacking_->stop(each.lacks);
    if (each.begun != 0) lacking_->end(each.begun);
  });
}

// Half a sample cannot be dropped, so this ends the connection. Its reader connects again.
void stream_publisher_link::leave_abandoned() noexcept {
  for (const auto& each : connections_) {
    if (!each->is_reader() || each->begun == 0 || !lacking_->is_abandoned(each->begun)) continue;
    dropped_.fetch_add(1, std::memory_order_relaxed);
    leave(*each);
  }
}

}  // namespace orc::detail
