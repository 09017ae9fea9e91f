#include "transport/shm/subscribers.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/files/fd_limit.h"
#include "transport/path_peer.h"

namespace orc::detail::shm {

namespace {

constexpr int packets_per_visit = 4;                           // the rest shows at the next one
constexpr auto hand_over_patience = std::chrono::seconds(30);  // for a subscriber that does not acknowledge a hand-over

}  // namespace

subscribers::subscribers(acceptor door, const publication_spec& spec, std::string address, const generations& memory)
    : publication_(spec.id),
      keep_last_(spec.options.keep_last),
      address_(std::move(address)),
      memory_(memory),
      connections_(std::move(door)) {}

subscribers::~subscribers() {
  // For all subscribers, also when forked children hold copies of the descriptors.
  for (const auto& each : connections_) ::shutdown(each->socket.get(), SHUT_RDWR);
}

template <class Which>
demand subscribers::demand_of(std::uint64_t size, Which of) const noexcept {
  demand d{.size = size};
  const auto& current = memory_.current();
  const bool moves = !current || size > current->form().capacity();
  for (const auto& each : connections_) {
    if (moves ? each->left : each->left_before(memory_.number())) continue;
    if (!of(*each)) continue;
    const bool joins = each->waits && !each->gone;
    if (!each->joined() && !joins) continue;
    d.pins += each->pins;
    d.depth = std::max(d.depth, each->depth);
    d.joining += joins ? 1 : 0;
  }
  return d;
}

bool subscribers::behind() const noexcept {
  return std::any_of(connections_.begin(), connections_.end(), [this](const auto& each) {
    return !each->gone && !each->left && (each->waits || (each->joined() && each->told != memory_.number()));
  });
}

bool subscribers::end_greediest() noexcept {
  reader* most = nullptr;
  std::size_t count = 0;
  for (const auto& each : connections_) {
    if (each->gone || each->left || each->is_stranger()) continue;
    ++count;
    if (most == nullptr || each->pins > most->pins) most = each.get();
  }
  if (count <= 1) return false;
  disconnect(*most);
  return true;
}

void subscribers::alert_all() noexcept {
  for (const auto& each : connections_) alert(*each);
}

void subscribers::alert(const reader& r) noexcept {
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

void subscribers::hand_over() noexcept {
  for (const auto& each : connections_) tell_generation(*each);
  list_pins();
}

// Limits hand-overs under way, so that packets and descriptors in a socket that is not read are bounded.
void subscribers::tell_generation(reader& r) noexcept {
  if (!r.joined() || r.gone || r.left || r.told == memory_.number() || r.unacknowledged.size() >= max_unacknowledged)
    return;
  if (tell(r, packet_kind::segment, {memory_.current()->fd()}) != delivered::yes) return;  // the next visit retries
  r.told = memory_.number();
  if (r.unacknowledged.empty()) r.told_at = monotonic::now();
  r.unacknowledged.push_back(r.told);
}

void subscribers::hear(visit& now_here, std::uint64_t size, std::uint64_t sequence) noexcept {
  size_of_last_ = size;
  sequence_of_last_ = sequence;
  connections_.serve(
      now_here,
      [&](reader& from, std::uint32_t events) {
        now_here.heard();
        if (!from.left) return receive_some(from);
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) drop(from);
      },
      [&](unique_fd socket) { return make_reader(std::move(socket)); });
  connections_.sweep([&](reader& each, monotonic::time_point now) { look_at(each, now); });
}

// Null: refused.
std::unique_ptr<subscribers::reader> subscribers::make_reader(unique_fd socket) {
  auto fresh = std::make_unique<reader>();
  fresh->socket = std::move(socket);
  fresh->process = process_of(fresh->fd());
  const auto same = std::count_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each->process == fresh->process && !each->gone; });
  const bool a_crowd = fresh->process != 0 && same >= static_cast<std::ptrdiff_t>(max_connections_of_process);
  if (!a_crowd && may_share_memory(fresh->fd(), address_)) return fresh;
  (void)tell(*fresh, packet_kind::refused);
  return nullptr;
}

void subscribers::receive_some(reader& from) noexcept {
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
void subscribers::disconnect(reader& r) noexcept {
  if (!r.joined()) return drop(r);
  r.left = true;
  connections_.note_change();
  ::shutdown(r.socket.get(), SHUT_WR);
  connections_.door().mute(r.socket.get(), &r);
}

void subscribers::handle(reader& from, const packet& p) noexcept {
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

void subscribers::hear_hello(reader& from, const packet& hello) noexcept {
  from.subscription = hello.subscription;
  const bool asks_for_too_much = hello.pins == 0 || hello.pins > max_pins_of_reader || hello.depth > max_history;
  if (hello.publication != publication_ || asks_for_too_much) return refuse(from);
  from.pins = hello.pins;
  from.depth = hello.depth;
  from.waits = true;
  if (!has_place_for(from)) refuse(from);
}

template <class Which>
std::size_t subscribers::places_of(Which of) const noexcept {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), [&](const auto& each) {
    return (each->joined() || (each->waits && !each->gone)) && of(*each);
  }));
}

// Half of the places, of the pins and of the memory is for processes that have no other subscription here, so that a
// few cannot take all. The first one of a process may exceed its share, because few of very large samples do.
bool subscribers::has_place_for(reader& from) const noexcept {
  const auto is_same = [&](const reader& each) { return each.process == from.process; };
  const auto is_further = [](const reader& each) { return each.further; };
  from.further = places_of(is_same) > 1;
  if (places_of([](const reader&) { return true; }) > max_readers || !memory_.acceptable(demand_for(size_of_last_)))
    return false;
  return !from.further || (places_of(is_further) <= max_readers / 2 &&
                           memory_.acceptable_share(demand_of(size_of_last_, is_same), generations::shares) &&
                           memory_.acceptable_share(demand_of(size_of_last_, is_further), 2));
}

void subscribers::admit(generations::progress memory_is) noexcept {
  for (const auto& each : connections_) {
    if (!each->waits || each->gone) continue;
    if (memory_is == generations::progress::failed) {
      refuse(*each);
    } else if (memory_is == generations::progress::ready) {
      try {
        welcome(*each);
      } catch (const std::bad_alloc&) {
        refuse(*each);
      }
    } else if (!std::exchange(each->was_told_to_wait, true)) {
      (void)tell(*each, packet_kind::preparing);
    }
  }
}

void subscribers::welcome(reader& to) {
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

void subscribers::give_alert(reader& to) noexcept {
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

delivered subscribers::tell(reader& to, packet_kind kind, std::initializer_list<int> fds) noexcept {
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

void subscribers::refuse(reader& from) noexcept {
  (void)tell(from, packet_kind::refused);
  drop(from);
}

// Once a second.
void subscribers::look_at(reader& r, monotonic::time_point now) noexcept {
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

void subscribers::close_gone() noexcept {
  if (connections_.close_gone([](const reader&) {})) list_pins();
}

void subscribers::list_pins() noexcept {
  pins_.clear();  // keeps its memory
  for (const auto& each : connections_) {
    if (each->joined() && !each->left_before(memory_.number()))
      pins_.push_back({&each->shared(), each->pins, each->depth != 0});
  }
}

// Without this descriptor the work goes on once a second.
void subscribers::want_turn(bool wanted) noexcept {
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
