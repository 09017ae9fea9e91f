#include "broker/connections/broker_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <new>

#include "base/files/fd_limit.h"
#include "base/network/ip_address.h"
#include "broker/map/client_table.h"
#include "wire/control.h"

namespace orc {
namespace {

using namespace std::chrono_literals;
using detail::unique_fd;

// Places. Some descriptors are reserved for the listeners, the log, /proc and the surrounding program.
constexpr std::size_t fds_of_broker = 32;
constexpr std::size_t max_connections = 65'536;
constexpr std::size_t max_strangers = 8'192;  // so many programs may start at the same moment

// Bytes that a connection may leave unread. A stranger gets only answers, and the broker does not receive from it
// before it has read them. A participant may get 10,000 topics at once.
constexpr std::size_t unread_by_stranger = 256 * 1024;
constexpr std::size_t unread_by_participant = 16 * 1024 * 1024;
constexpr std::size_t unread_before_more = wire::max_control_bytes;
constexpr std::size_t kept_for_all = 128 * 1024 * 1024;

constexpr auto introduction = 3s;  // time limit of the introduction
constexpr auto unread_for = 5s;    // time limit without progress
constexpr auto review_period = 1s;

// Turns.
constexpr auto one_turn = 1ms;  // before the others get their turn
constexpr auto one_connection = 1ms;
constexpr int frames_of_one = 8;
constexpr int accepts = 32;  // per listener

constexpr std::string_view does_not_read = "it does not read its answers";
constexpr std::string_view no_memory = "no memory for a message";

constexpr std::uint64_t wake_mark = ~std::uint64_t{0};
constexpr std::uint64_t watch_mark = wake_mark - 1;
constexpr std::uint64_t door_mark = std::uint64_t{1} << 63;  // plus the number of the listener

fair_share::bounds bounds_for(std::size_t listeners) noexcept {
  rlimit limit{};
  std::size_t fds = max_connections;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) fds = std::min<std::size_t>(limit.rlim_cur, fds);
  const auto total = std::max<std::size_t>(fds - std::min(fds, fds_of_broker + listeners), 1);
  return {total, std::clamp<std::size_t>(total / 4, 1, max_strangers), total - total / 4};
}

// True when the connection comes from this host: its two addresses are the same, or ours is a loopback address.
bool from_this_host(int connection, const peer& who) {
  detail::socket_address own;
  if (::getsockname(connection, own.get(), own.room()) != 0) return false;
  const auto here = own.value();
  return here && (here->address.is_loopback() || here->address == detail::ip_address::parse(who.address));
}

// Returns the client's name, with one name for all addresses of this host.
std::string origin_of(peer who, int connection) {
  if (who.way == peer::via::tcp && from_this_host(connection, who)) who.address = "127.0.0.1";
  return client_table::name_of(who);
}

bool add_to(int events, int fd, std::uint32_t interest, std::uint64_t mark) noexcept {
  epoll_event event{.events = interest, .data = {.u64 = mark}};
  return fd >= 0 && ::epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) == 0;
}

void change_in(int events, int fd, std::uint32_t interest, std::uint64_t mark) noexcept {
  epoll_event event{.events = interest, .data = {.u64 = mark}};
  (void)::epoll_ctl(events, EPOLL_CTL_MOD, fd, &event);
}

// Edge-triggered: a connection that is not read for now must not wake us again and again.
constexpr std::uint32_t news = EPOLLIN | EPOLLRDHUP | EPOLLET;

unique_fd spare_fd() noexcept { return unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

detail::expected<std::unique_ptr<broker_socket>> broker_socket::open(const std::vector<std::string>& listen,
                                                                     std::optional<gid_t> group) {
  if (listen.empty()) return error(errc::bad_argument, "no endpoint to listen at: give one with --listen");
  if (!detail::room_for_fds(fds_of_broker + listen.size())) {
    return error(errc::no_descriptors,
                 "too few open files are allowed (RLIMIT_NOFILE) to serve: raise the limit with ulimit -n");
  }
  unique_fd events(::epoll_create1(EPOLL_CLOEXEC));
  unique_fd wakened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!events || !add_to(events.get(), wakened.get(), EPOLLIN, wake_mark)) {
    return error(errc::no_descriptors,
                 "cannot make the broker's descriptors: too many open files: raise the limit with ulimit -n");
  }
  std::unique_ptr<broker_socket> made(
      new broker_socket(std::move(events), std::move(wakened), bounds_for(listen.size())));
  made->group_ = group;
  for (const auto& endpoint : listen) {
    if (auto done = made->listen_at(endpoint); !done)
      return error(done.code(), "cannot listen at " + endpoint + ": " + done.error().message());
  }
  return made;
}

broker_socket::broker_socket(unique_fd events, unique_fd wakened, fair_share::bounds bounds)
    : events_(std::move(events)), wakened_(std::move(wakened)), spare_(spare_fd()), share_(bounds) {}

result broker_socket::listen_at(const std::string& endpoint) {
  auto opened = listener::open(endpoint, group_);
  if (!opened) return opened.error();
  doors_.push_back(*std::move(opened));
  if (add_to(events_.get(), doors_.back().fd(), EPOLLIN, door_mark | (doors_.size() - 1))) return {};
  return {errc::system_error, "the system watches no more descriptors"};
}

// Its connections go on.
result broker_socket::listen_anew(std::size_t number) {
  listener& door = doors_[number];
  door.let_go();
  auto opened = listener::open(door.endpoint(), group_);
  if (!opened) return opened.error();
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, door.fd(), nullptr);
  door = *std::move(opened);
  if (add_to(events_.get(), door.fd(), EPOLLIN, door_mark | number)) return {};
  return {errc::system_error, "the system watches no more descriptors"};
}

std::vector<std::string> broker_socket::endpoints() const {
  std::vector<std::string> all;
  for (const auto& door : doors_) all.push_back(door.endpoint());
  return all;
}

std::uint16_t broker_socket::remote_port() const noexcept {
  for (const auto& door : doors_) {
    if (!door.remote()) continue;
    std::uint16_t port = 0;
    const std::string_view endpoint = door.endpoint();
    const auto text = endpoint.substr(endpoint.rfind(':') + 1);
    if (std::from_chars(text.data(), text.data() + text.size(), port).ec == std::errc()) return port;
  }
  return 0;
}

bool broker_socket::watch(int fd) noexcept { return add_to(events_.get(), fd, EPOLLIN, watch_mark); }

void broker_socket::wake() noexcept { (void)::eventfd_write(wakened_.get(), 1); }

bool broker_socket::turn(clock::time_point deadline, owner& to) noexcept {
  now_ = clock::now();
  while (!unsent_.empty()) flush(*unsent_.front());  // messages of timers
  std::array<epoll_event, 256> happened;
  const int count = ::epoll_wait(events_.get(), happened.data(), happened.size(), wait_ms(deadline));
  now_ = clock::now();
  for (int i = 0; i < count; ++i) {
    const auto mark = happened[static_cast<std::size_t>(i)].data.u64;
    if (mark == wake_mark) return false;
    if (mark == watch_mark) continue;  // its owner's turn comes after this one
    if ((mark & door_mark) != 0) {
      accept_from(doors_[mark & ~door_mark], to);
    } else {
      note(mark, happened[static_cast<std::size_t>(i)].events);
    }
  }
  serve(to);
  now_ = clock::now();
  close_late(to);
  if (now_ >= next_review_) review(to);
  while (!doomed_.empty()) close(*doomed_.front(), to);
  return true;
}

int broker_socket::wait_ms(clock::time_point deadline) const noexcept {
  if (share_.any_ready() || !doomed_.empty()) return 0;
  if (!greeting_.empty()) deadline = std::min(deadline, greeting_.front()->since + introduction);
  if (!blocked_.empty()) deadline = std::min(deadline, blocked_.front()->since + unread_for);
  if (paused_) deadline = std::min(deadline, next_review_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

// ---- newcomers ----

void broker_socket::accept_from(listener& door, owner& to) noexcept {
  for (int n = 0; n < accepts; ++n) {
    auto fd = door.accept();
    if (!fd) {
      if (errno != EAGAIN) out_of_descriptors(door, to);
      return;
    }
    try {
      take(door, std::move(fd), to);
    } catch (const std::bad_alloc&) {  // its socket closes, and the peer connects again
    }
  }
}

void broker_socket::take(const listener& door, unique_fd fd, owner& to) {
  auto who = door.peer_of(fd.get());
  const auto origin = origin_of(who, fd.get());
  const auto [admitted, in_place_of] = share_.ask(origin);
  if (!admitted) return;
  chain node{nullptr};
  if (in_place_of) close(*find(*in_place_of), to);
  const auto key = ++last_key_;
  share_.add(key, origin);
  try {
    auto& one = connections_.try_emplace(key, key, std::move(who), std::move(fd), now_).first->second;
    one.at = node.begin();
    *one.at = &one;
    one.in = &greeting_;
    greeting_.splice(greeting_.end(), node);
    // A new socket accepts a greeting at once.
    if (!add_to(events_.get(), one.stream.fd(), news, key) || !one.stream.greet() || one.stream.unsent() != 0)
      doom(one);
  } catch (...) {
    share_.remove(key);
    throw;
  }
}

// Refuses the waiting connection rather than let it wait, if that is possible.
void broker_socket::out_of_descriptors(listener& door, owner& to) noexcept {
  if (const auto stranger = share_.first_to_go()) return close(*find(*stranger), to);
  spare_.reset();
  const bool refused = static_cast<bool>(door.accept());
  spare_ = spare_fd();
  if (!refused) listen(false);
}

void broker_socket::listen(bool now) noexcept {
  paused_ = !now;
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    change_in(events_.get(), doors_[i].fd(), now ? std::uint32_t{EPOLLIN} : 0u, door_mark | i);
  }
}

// ---- receiving ----

void broker_socket::note(routing key, std::uint32_t events) noexcept {
  auto* const one = find(key);
  if (one == nullptr || one->in == &doomed_) return;
  const bool gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
  if (gone && one->stream.unsent() > unread_before_more) return doom(*one);
  if ((events & EPOLLOUT) != 0) flush(*one);
  if (gone || (events & (EPOLLIN | EPOLLRDHUP)) != 0) one->stream.readable(gone || (events & EPOLLRDHUP) != 0);
  if (one->in != &doomed_) share_.ready(key);
}

void broker_socket::serve(owner& to) noexcept {
  const auto end = now_ + one_turn;
  while (share_.any_ready() && now_ < end) {
    auto* const one = find(share_.next());
    if (one != nullptr) serve_one(*one, to);
  }
  while (!unsent_.empty()) flush(*unsent_.front());
}

void broker_socket::serve_one(connection& one, owner& to) noexcept {
  const auto end = now_ + one_connection;
  bool more = true;
  for (int n = 0; more && n < frames_of_one && now_ < end; ++n) {
    if (one.in == &doomed_ || one.stream.unsent() > unread_before_more) break;
    more = handle_one(one, to);
    now_ = clock::now();
  }
  if (one.in == &doomed_) return;
  count(one);
  flush(one);
  keep_within_budget();
  if (more && one.in != &doomed_ && one.stream.unsent() <= unread_before_more) share_.ready(one.key);
}

// False: it has nothing more for now.
bool broker_socket::handle_one(connection& one, owner& to) noexcept {
  std::span<const std::byte> frame;
  switch (one.stream.receive(frame, now_)) {
    case control_connection::event::nothing: return false;
    case control_connection::event::introduced: introduce(one, to); break;
    case control_connection::event::command: break;
    case control_connection::event::frame:
      to.received(one.key, frame);
      if (const bool participant = to.participates(one.key); participant != one.participant) {
        one.participant = participant;
        share_.settle(one.key, participant);
      }
      break;
    case control_connection::event::closed:
    case control_connection::event::broken: doom(one, one.stream.why()); break;
  }
  return true;
}

void broker_socket::introduce(connection& one, owner& to) noexcept {
  try {
    to.opened(one.key, one.who);
    one.opened = true;
    move(one, quiet_);
  } catch (const std::bad_alloc&) {
    doom(one);
  }
}

// ---- sending ----

bool broker_socket::send(routing to, const std::string& frame) noexcept {
  auto* const one = find(to);
  if (one == nullptr || one->deaf || !one->opened) return true;
  if (one->in == &doomed_) return false;
  const auto most = one->participant ? unread_by_participant : unread_by_stranger;
  if (one->stream.unsent() + frame.size() > most) {
    doom(*one, does_not_read);
  } else if (!one->stream.append(std::as_bytes(std::span(frame)))) {
    doom(*one, no_memory);
  } else {
    if (one->in == &quiet_) move(*one, unsent_);
    count(*one);
    keep_within_budget();
  }
  return one->in != &doomed_;
}

bool broker_socket::has_unread(routing from) noexcept {
  const auto* const one = find(from);
  int bytes = 0;
  return one != nullptr && ::ioctl(one->stream.fd(), FIONREAD, &bytes) == 0 && bytes > 0;
}

std::chrono::milliseconds broker_socket::round_trip(routing to) noexcept {
  const auto* const one = find(to);
  tcp_info info{};
  socklen_t size = sizeof info;
  if (one == nullptr || ::getsockopt(one->stream.fd(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(info.tcpi_rtt));
}

void broker_socket::flush(connection& one) noexcept {
  const auto done = one.stream.flush();
  if (done == control_connection::written::failed) {
    // Its earlier messages are still to be read. The connection ends after them.
    one.stream.discard();
    one.deaf = true;
    one.stream.readable(true);
    share_.ready(one.key);
  } else if (done == control_connection::written::some ||
             (done == control_connection::written::none && one.in != &blocked_)) {
    one.since = now_;
    move(one, blocked_);
  }
  const bool all = one.stream.unsent() == 0;
  if (all && one.in != &greeting_) move(one, quiet_);
  want_room(one, !all);
  count(one);
}

void broker_socket::want_room(connection& one, bool wanted) noexcept {
  if (one.waits_for_room == wanted) return;
  one.waits_for_room = wanted;
  change_in(events_.get(), one.stream.fd(), news | (wanted ? std::uint32_t{EPOLLOUT} : 0u), one.key);
}

// ---- endings ----

void broker_socket::close_late(owner& to) noexcept {
  while (!greeting_.empty() && greeting_.front()->since + introduction <= now_) close(*greeting_.front(), to);
  while (!blocked_.empty() && blocked_.front()->since + unread_for <= now_) {
    auto& one = *blocked_.front();
    flush(one);  // this process may have been stopped, not the peer
    if (one.in == &blocked_ && one.since + unread_for <= now_) doom(one, does_not_read);
  }
}

// A participant's session ends by Goodbye or lease, even while its connection is silent.
void broker_socket::review(owner& to) noexcept {
  next_review_ = now_ + review_period;
  for (auto& [key, one] : connections_) {
    if (!one.participant || to.participates(key)) continue;
    one.participant = false;
    share_.settle(key, false);
  }
  while (share_.crowded()) close(*find(*share_.first_to_go()), to);
  for (std::size_t n = 0; n < doors_.size(); ++n) {
    if (doors_[n].is_there()) continue;
    try {
      to.removed(doors_[n].endpoint(), listen_anew(n));
    } catch (const std::bad_alloc&) {  // the next review
    }
  }
  if (!spare_) spare_ = spare_fd();
  if (paused_) listen(true);
}

void broker_socket::count(connection& one) noexcept {
  if (one.in == &doomed_) return;
  kept_ += one.stream.kept() - one.counted;
  one.counted = one.stream.kept();
}

// The connection for which the broker keeps the most makes room.
void broker_socket::keep_within_budget() noexcept {
  while (kept_ > kept_for_all) {
    connection* most = nullptr;
    for (auto& [key, one] : connections_) {
      if (one.in != &doomed_ && (most == nullptr || one.counted > most->counted)) most = &one;
    }
    if (most == nullptr) return;
    doom(*most, does_not_read);
  }
}

void broker_socket::doom(connection& one, std::string_view why) noexcept {
  one.why = why;
  one.stream.discard();
  kept_ -= std::exchange(one.counted, 0);
  move(one, doomed_);
}

void broker_socket::close(connection& one, owner& to) noexcept {
  const auto key = one.key;
  const auto why = one.why;
  const bool opened = one.opened;
  // Removes it explicitly, because closing is not enough: a forked child may hold a copy of the descriptor, and epoll
  // would go on watching that.
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, one.stream.fd(), nullptr);
  kept_ -= one.counted;
  one.in->erase(one.at);
  share_.remove(key);
  connections_.erase(key);
  if (!why.empty()) to.rejected(why);
  if (opened) to.closed(key);
}

void broker_socket::move(connection& one, chain& to) noexcept {
  to.splice(to.end(), *one.in, one.at);
  one.in = &to;
}

broker_socket::connection* broker_socket::find(routing key) noexcept {
  const auto at = connections_.find(key);
  return at == connections_.end() ? nullptr : &at->second;
}

}  // namespace orc
