#include "transport/shm/shm_publisher_link.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/fd_limit.h"
#include "transport/shm/loaned_slot.h"
#include "transport/shm/peer.h"

namespace orc::detail::shm {

namespace {

constexpr int packets_per_visit = 4;                           // the rest shows at the next one
constexpr auto hand_over_patience = std::chrono::seconds(30);  // for a subscriber that does not acknowledge a hand-over

}  // namespace

shm_publisher_link::shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where)
    : publication_(spec.id),
      keep_last_(spec.options.keep_last),
      where_(std::move(where)),
      memory_(spec.options.expected_size, static_cast<std::uint32_t>(spec.options.history), spec.options.memory),
      connections_(std::move(door)) {}

shm_publisher_link::~shm_publisher_link() {
  // For all subscribers, also when forked children hold copies of the descriptors.
  for (const auto& each : connections_) ::shutdown(each->socket.get(), SHUT_RDWR);
}

// ---- sending ----

sample_buffer shm_publisher_link::try_loan(std::size_t payload_size) noexcept {
  if ((readers() == 0 && !memory_.expects_readers()) || !make_room(payload_size)) return {};
  const auto& writer = memory_.for_loans();
  if (!writer->may_lend()) return {};
  const auto slot = free_slot(*writer, payload_size);
  if (!slot) return {};
  writer->lend(*slot);
  return loaned_buffer(writer, *slot, payload_size);
}

// No subscriber pins anything in a segment that is not in use yet.
std::optional<std::uint32_t> shm_publisher_link::free_slot(slot_writer& of, std::uint64_t size) noexcept {
  const auto slot =
      of.take(&of == memory_.current().get() ? std::span<const pin_table>(pins_) : std::span<pin_table>());
  if (!slot || of.ensure_backed(*slot, size)) return slot;
  of.put_back(*slot);
  return std::nullopt;
}

void shm_publisher_link::commit(sample& s) noexcept {
  const wire::sample_header header{s.sequence, s.stamp_ns};
  const auto& current = memory_.current();
  const auto& next = memory_.for_loans();
  if (const std::uint32_t* const lent = slot_of(s.buffer, current.get())) {
    publish(*lent, s.buffer.size(), header);
  } else if (const std::uint32_t* const early = slot_of(s.buffer, next.get())) {
    memory_.publish_in_next(*early, s.buffer.size(), header);
    hand_over();
    behind_ = false;
    memory_.current()->stock(pins_);
    want_turn(true);
  } else if (readers() == 0) {
    behind_ = false;  // service() copies it for those that join
  } else if (!copy_in(s)) {
    dropped_.fetch_add(behind_ ? 1 : 0, std::memory_order_relaxed);
    behind_ = true;
  }
}

// The slot then holds the sample for the publication as well, unless a frame does.
bool shm_publisher_link::copy_in(sample& s) noexcept {
  const auto bytes = payload_of(s);
  if (!make_room(bytes.size())) return false;
  const auto& current = memory_.current();
  const auto slot = free_slot(*current, bytes.size());
  if (!slot) return false;
  if (!bytes.empty()) std::memcpy(current->payload(*slot), bytes.data(), bytes.size());
  publish(*slot, bytes.size(), {s.sequence, s.stamp_ns});
  if (s.source.data() == nullptr) return true;
  current->hold(*slot);
  s.buffer = loaned_buffer(current, *slot, bytes.size());
  s.source = {};
  return true;
}

void shm_publisher_link::publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept {
  memory_.current()->publish(slot, size, header);
  behind_ = false;
  for (const auto& each : connections_) alert(*each);
  memory_.current()->stock(pins_);
}

void shm_publisher_link::alert(const reader& r) noexcept {
  if (!r.joined()) return;
  const std::uint32_t wants = r.shared().wants.load();
  if ((wants & reader_page::sleeps) != 0) r.shared().ring();  // [C5]
  if ((wants & reader_page::wants_alert) == 0 || !r.alert) return;
  // Takes the wish back first and then sends one byte for it, so that a subscriber that the byte wakes finds the wish
  // gone.
  r.shared().wants.fetch_and(~static_cast<std::uint32_t>(reader_page::wants_alert));
  const char byte = 1;
  if (::send(r.alert.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
    r.shared().wants.fetch_or(reader_page::wants_alert);
}

// The demand of all that joined or wait to, or of those in one process, for samples of this size.
demand shm_publisher_link::demand_for(std::uint64_t size, std::optional<std::int32_t> process) const noexcept {
  demand d{.size = size};
  const auto& current = memory_.current();
  const bool moves = !current || size > current->form().capacity();
  for (const auto& each : connections_) {
    if (moves ? each->left : each->left_before(memory_.number())) continue;
    if (process && each->process != *process) continue;
    const bool joins = each->waits && !each->gone;
    if (!each->joined() && !joins) continue;
    d.pins += each->pins;
    d.depth = std::max(d.depth, each->depth);
    d.joining += joins ? 1 : 0;
  }
  return d;
}

bool shm_publisher_link::make_room(std::uint64_t size) noexcept {
  const auto& current = memory_.current();
  if (current && size <= current->form().capacity()) return true;
  keep_within_limits(size);
  if (!memory_.make_room(demand_for(size))) return false;
  hand_over();
  want_turn(true);
  return true;
}

// Samples grew since the subscribers joined. Subscribers with the most pins go until the others may pin larger samples.
// The last one may stay.
void shm_publisher_link::keep_within_limits(std::uint64_t size) noexcept {
  while (size <= generations::max_sample_bytes && !memory_.acceptable(demand_for(size))) {
    reader* most = nullptr;
    std::size_t count = 0;
    for (const auto& each : connections_) {
      if (each->gone || each->left || each->is_stranger()) continue;
      ++count;
      if (most == nullptr || each->pins > most->pins) most = each.get();
    }
    if (count <= 1) return;
    disconnect(*most);
  }
}

void shm_publisher_link::hand_over() noexcept {
  const auto left = memory_.take_left();
  if (!left) return;
  for (const auto& each : connections_) tell_generation(*each);  // [M2]
  list_pins();
  left->move_on();                                     // [M3]
  for (const auto& each : connections_) alert(*each);  // [M4]
}

// Limits hand-overs under way, so that packets and descriptors in a socket that is not read are bounded.
void shm_publisher_link::tell_generation(reader& r) noexcept {
  if (!r.joined() || r.gone || r.left || r.told == memory_.number() || r.unacknowledged.size() >= max_unacknowledged)
    return;
  if (tell(r, packet_kind::segment, {memory_.current()->fd()}) != delivered::yes) return;  // the next visit retries
  r.told = memory_.number();
  if (r.unacknowledged.empty()) r.told_at = monotonic::now();
  r.unacknowledged.push_back(r.told);
}

bool shm_publisher_link::behind() const noexcept {
  return behind_ || std::any_of(connections_.begin(), connections_.end(), [this](const auto& each) {
           return !each->gone && !each->left && (each->waits || (each->joined() && each->told != memory_.number()));
         });
}

// ---- receiving ----

unfinished shm_publisher_link::service(sample* last) noexcept {
  visit now_here;
  size_of_last_ = last != nullptr ? last->buffer.size() : 0;
  sequence_of_last_ = last != nullptr ? last->sequence : 0;
  connections_.serve(
      now_here,
      [&](reader& from, std::uint32_t events) {
        now_here.heard();
        if (!from.left) return receive_some(from);
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) drop(from);
      },
      [&](unique_fd socket) { return make_reader(std::move(socket)); });
  if (behind_ && last != nullptr) commit(*last);
  connections_.sweep([&](reader& each, monotonic::time_point now) { look_at(each, now); });
  const bool more = admit(last);
  memory_.tidy();
  want_turn(more || memory_.work() != nullptr);
  after_change();
  return {.behind = behind(), .pause = now_here.rest(), .work = memory_.work()};
}

// Null: refused.
std::unique_ptr<shm_publisher_link::reader> shm_publisher_link::make_reader(unique_fd socket) {
  auto fresh = std::make_unique<reader>();
  fresh->socket = std::move(socket);
  fresh->process = process_of(fresh->fd());
  const auto same = std::count_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each->process == fresh->process && !each->gone; });
  const bool a_crowd = fresh->process != 0 && same >= static_cast<std::ptrdiff_t>(max_connections_of_process);
  if (!a_crowd && may_share_memory(fresh->fd(), where_.address)) return fresh;
  (void)tell(*fresh, packet_kind::refused);
  return nullptr;
}

void shm_publisher_link::receive_some(reader& from) noexcept {
  received_packet p;
  for (int n = 0; n < packets_per_visit && !from.gone && !from.left; ++n) {
    switch (receive_packet(from.socket.get(), p, false)) {
      case received::packet: handle(from, p.packet); break;
      case received::malformed: count_malformed(); break;
      case received::nothing: return;
      case received::closed: return drop(from);
    }
    if (from.budget.talks_too_much()) {
      count_malformed();
      disconnect(from);
    }
  }
}

// Ends its side of the stream, which the subscriber notices. Its messages may still be in use: their slots are not
// reused until it closes the socket.
void shm_publisher_link::disconnect(reader& r) noexcept {
  if (!r.joined()) return drop(r);
  r.left = true;
  connections_.note_change();
  ::shutdown(r.socket.get(), SHUT_WR);
  connections_.door().mute(r.socket.get(), &r);
}

void shm_publisher_link::handle(reader& from, const packet& p) noexcept {
  if (p.kind == packet_kind::hello && !from.joined() && !from.waits) return hear_hello(from, p);
  if (!from.joined() || p.subscription != from.subscription) return count_malformed();
  switch (p.kind) {
    case packet_kind::attached:
      if (from.unacknowledged.empty() || p.generation != from.unacknowledged.front()) return count_malformed();
      from.unacknowledged.erase(from.unacknowledged.begin());
      from.told_at = monotonic::now();
      from.budget.refund();
      return tell_generation(from);
    case packet_kind::want_alert: return give_alert(from);
    case packet_kind::goodbye: return disconnect(from);
    default: count_malformed();
  }
}

void shm_publisher_link::hear_hello(reader& from, const packet& hello) noexcept {
  from.subscription = hello.subscription;
  const bool asks_for_too_much = hello.pins == 0 || hello.pins > max_pins_of_reader || hello.depth > max_history;
  if (hello.publication != publication_ || asks_for_too_much) return refuse(from);
  from.pins = hello.pins;
  from.depth = hello.depth;
  from.waits = true;
  const demand all = demand_for(size_of_last_);
  const demand same = demand_for(size_of_last_, from.process);
  // The first one of a process may exceed the process's share, because few of very large samples do.
  const bool exceeds_share = same.pins != from.pins && !memory_.acceptable_share(same);
  // Those that left keep a page and a socket until they close it, so they count.
  const auto joined =
      std::count_if(connections_.begin(), connections_.end(), [](const auto& each) { return each->joined(); });
  if (static_cast<std::size_t>(joined) + all.joining > max_readers || !memory_.acceptable(all) || exceeds_share)
    refuse(from);
}

// Welcomes waiting subscribers as soon as there is memory for all of them. True: more work remains at once.
bool shm_publisher_link::admit(sample* last) noexcept {
  const demand d = demand_for(size_of_last_);
  if (d.joining == 0) {
    memory_.rest();
    return false;
  }
  const auto outcome = memory_.prepare(d, keep_last_ ? last : nullptr, pins_);
  hand_over();
  for (const auto& each : connections_) {
    if (!each->waits || each->gone) continue;
    if (outcome == generations::progress::failed) {
      refuse(*each);
    } else if (outcome == generations::progress::ready) {
      try {
        welcome(*each);
      } catch (const std::bad_alloc&) {
        refuse(*each);
      }
    } else if (!std::exchange(each->was_told_to_wait, true)) {
      (void)tell(*each, packet_kind::preparing);
    }
  }
  if (outcome == generations::progress::ready) memory_.rest();
  return outcome == generations::progress::working;
}

void shm_publisher_link::welcome(reader& to) {
  to.waits = false;
  auto page = make_shared_memory(page_size, others::read_and_write);
  if (!page) return refuse(to);
  pins_.reserve(connections_.size());
  to.unacknowledged.reserve(max_unacknowledged);
  to.page = *std::move(page);
  pins_.push_back({&to.shared(), to.pins, to.depth != 0});
  to.told = memory_.number();
  to.told_at = monotonic::now();
  to.unacknowledged.push_back(to.told);
  connections_.note_change();
  to.first = sequence_of_last_ + 1;
  if (tell(to, packet_kind::welcome, {memory_.current()->fd(), to.page.fd.get()}) != delivered::yes) return drop(to);
  to.page.fd.reset();
}

void shm_publisher_link::give_alert(reader& to) noexcept {
  if (to.alert) return count_malformed();
  to.wants_alert = true;
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;  // next sweep
  unique_fd ours(ends[0]);
  const unique_fd theirs(ends[1]);
  if (tell(to, packet_kind::alert, {theirs.get()}) != delivered::yes) return;
  to.alert = std::move(ours);
  to.wants_alert = false;
}

delivered shm_publisher_link::tell(reader& to, packet_kind kind, std::initializer_list<int> fds) noexcept {
  packet p{.kind = kind, .publication = publication_, .subscription = to.subscription};
  if (const auto& current = memory_.current()) {
    p.generation = memory_.number();
    p.pages = current->pages();
    p.newest = current->newest();
  }
  if (!keep_last_) {
    p.newest = to.first;
    p.starts_at_newest = true;
  }
  return send_packet(to.socket.get(), p, fds);
}

void shm_publisher_link::refuse(reader& from) noexcept {
  (void)tell(from, packet_kind::refused);
  drop(from);
}

// Once a second.
void shm_publisher_link::look_at(reader& r, monotonic::time_point now) noexcept {
  if (r.left) return;
  if (r.waits) {
    (void)tell(r, packet_kind::preparing);
  } else if (!r.unacknowledged.empty() && now - r.told_at >= hand_over_patience) {
    disconnect(r);
  } else if (r.joined()) {
    tell_generation(r);
    if (r.wants_alert) give_alert(r);
  }
}

void shm_publisher_link::after_change() noexcept {
  if (connections_.close_gone([](const reader&) {})) list_pins();
}

void shm_publisher_link::list_pins() noexcept {
  pins_.clear();  // keeps its memory
  for (const auto& each : connections_) {
    if (each->joined() && !each->left_before(memory_.number()))
      pins_.push_back({&each->shared(), each->pins, each->depth != 0});
  }
}

// Without this descriptor the work goes on once a second.
void shm_publisher_link::want_turn(bool wanted) noexcept {
  if (wanted == static_cast<bool>(turn_)) return;
  if (!wanted) {
    connections_.door().forget(turn_.get());
    turn_.reset();
    return;
  }
  unique_fd fresh(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (fresh && !among_the_last_fds(fresh.get()) && connections_.wake_with(fresh.get())) turn_ = std::move(fresh);
}

}  // namespace orc::detail::shm
