#include "broker/federation/peer_links.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/network/host_addresses.h"

namespace orc {
namespace {

using detail::ip_port;
using detail::socket_address;
using detail::unique_fd;

constexpr std::string_view scheme = "tcp://";
constexpr std::size_t most_unsent = 256 * 1024;
constexpr auto one_peer_turn = std::chrono::milliseconds(1);
constexpr auto look_again = std::chrono::milliseconds(20);  // for the resolver's answer
constexpr int frames_at_once = 4;

std::optional<ip_port> numeric(std::string_view endpoint) {
  return endpoint.starts_with(scheme) ? ip_port::parse(endpoint.substr(scheme.size())) : std::nullopt;
}

// The two ends are the same host: one address, or a loopback address.
bool is_on_this_host(int fd, const ip_port& there) {
  socket_address own;
  if (::getsockname(fd, own.get(), own.room()) != 0) return false;
  const auto here = own.value();
  return there.address.is_loopback() || (here && here->address.bytes == there.address.bytes);
}

}  // namespace

result peer_links::check(const std::string& endpoint) {
  const bool named = endpoint.starts_with(scheme) && detail::names_a_host(endpoint);
  const auto address = numeric(endpoint);
  const bool usable = address && address->port != 0 && !address->address.is_any() && !address->address.is_multicast();
  if (usable || (named && !address && endpoint.find('*') == std::string::npos)) return {};
  return {errc::bad_argument, "peer " + endpoint + ": write it as tcp://HOST:PORT, with the name or address of a host"};
}

detail::expected<std::unique_ptr<peer_links>> peer_links::open(const std::vector<std::string>& endpoints) {
  unique_fd events(::epoll_create1(EPOLL_CLOEXEC));
  if (!events)
    return error(errc::no_descriptors, "cannot watch the peers: too many open files: raise the limit with ulimit -n");
  std::unique_ptr<peer_links> made(new peer_links(std::move(events)));
  for (const auto& each : endpoints) {
    if (auto good = check(each); !good) return good.error();
    made->links_.push_back(std::make_unique<link>());
    made->links_.back()->endpoint = each;
  }
  return made;
}

void peer_links::turn(clock::time_point now, owner& to) noexcept {
  const auto end = now + one_peer_turn;
  std::array<epoll_event, 64> happened;
  const int count = ::epoll_wait(events_.get(), happened.data(), static_cast<int>(happened.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto which = static_cast<key>(happened[static_cast<std::size_t>(i)].data.u64);
    try {
      serve(which, happened[static_cast<std::size_t>(i)].events, now, to);
    } catch (const std::bad_alloc&) {
      fail(which, "no memory", now, to);
    }
    now = clock::now();
    if (now >= end) break;  // epoll reports the others again, in turns
  }
  for (key which = 0; which < links_.size(); ++which) {
    auto& one = *links_[which];
    if (one.endpoint.empty() || one.at == state::ready || one.due > now) continue;
    try {
      on_time(which, now, to);
    } catch (const std::bad_alloc&) {
      fail(which, "no memory", now, to);
    }
  }
}

peer_links::clock::time_point peer_links::next_deadline() const noexcept {
  auto next = clock::time_point::max();
  for (const auto& one : links_) {
    if (!one->endpoint.empty() && one->at != state::ready) next = std::min(next, one->due);
  }
  return next;
}

void peer_links::on_time(key which, clock::time_point now, owner& to) {
  auto& one = *links_[which];
  switch (one.at) {
    case state::idle:
      one.began = now;
      if (one.addresses.empty() && detail::names_a_host(one.endpoint)) {
        one.due = now + look_again;
        if (one.names.ask({one.endpoint})) one.at = state::looking;
        return;
      }
      if (one.addresses.empty()) one.addresses = {one.endpoint};
      return connect(which, now, to);
    case state::looking: {
      one.due = now + look_again;
      auto found = one.names.try_take();
      if (!found) return;
      one.at = state::idle;
      one.addresses = std::move(found->front());
      if (one.addresses.empty()) return fail(which, "no host has this name", now, to);
      return connect(which, now, to);
    }
    case state::connecting:
    case state::greeting: return fail(which, "no answer", now, to);
    case state::ready: return;
  }
}

void peer_links::connect(key which, clock::time_point now, owner& to) {
  auto& one = *links_[which];
  const auto next = one.addresses.front();
  one.addresses.erase(one.addresses.begin());
  one.began = now;
  const auto address = numeric(next);
  if (!address) return fail(which, "not an address", now, to);
  one.address = *address;
  const socket_address there(*address);
  unique_fd fd(::socket(there.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail(which, "too many open files", now, to);
  const int yes = 1;
  (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd.get(), there.get(), there.size()) != 0 && errno != EINPROGRESS)
    return fail(which, std::strerror(errno), now, to);
  epoll_event event{.events = EPOLLOUT, .data = {.u64 = which}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0)
    return fail(which, "the system watches no more descriptors", now, to);
  one.stream = std::make_unique<control_connection>(std::move(fd), control_connection::role::dealer);
  one.at = state::connecting;
  one.due = now + (++one.attempts % long_attempt == 0 ? long_patience : patience);
}

void peer_links::serve(key which, std::uint32_t happened, clock::time_point now, owner& to) {
  auto& one = *links_[which];
  if (!one.stream) return;
  if (one.at == state::connecting) {
    int problem = 0;
    socklen_t size = sizeof problem;
    (void)::getsockopt(one.stream->fd(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem != 0) return fail(which, std::strerror(problem), now, to);
    // A port of this host that looks for itself may connect to itself.
    socket_address own;
    if (::getsockname(one.stream->fd(), own.get(), own.room()) == 0 && own.value() == one.address)
      return fail(which, std::strerror(ECONNREFUSED), now, to);
    one.at = state::greeting;
    one.due = now + patience + 4 * (now - one.began);
    if (!one.stream->greet()) return fail(which, "the connection ended", now, to);
    return want(which, one.stream->unsent() != 0);
  }
  if ((happened & EPOLLOUT) != 0) flush(which);
  if (one.stream && (happened & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(which, now, to);
}

void peer_links::receive(key which, clock::time_point now, owner& to) {
  auto& one = *links_[which];
  for (int frames = 0; one.stream && frames < frames_at_once;) {
    std::span<const std::byte> frame;
    switch (one.stream->receive(frame, now)) {
      case control_connection::event::nothing: return;
      case control_connection::event::command: break;
      case control_connection::event::introduced:
        one.at = state::ready;
        one.addresses.clear();
        one.attempts = 0;
        to.peer_ready(which, is_on_this_host(one.stream->fd(), one.address));
        break;
      case control_connection::event::frame:
        ++frames;
        to.peer_received(which, frame);
        break;
      case control_connection::event::closed:
      case control_connection::event::broken:
        return fail(which, one.stream->why().empty() ? "the connection ended" : one.stream->why(), now, to);
    }
  }
}

void peer_links::fail(key which, std::string_view why, clock::time_point now, owner& to) noexcept {
  auto& one = *links_[which];
  end(one);
  one.due = one.addresses.empty() ? std::max(now, one.began + pause) : now;
  to.peer_ended(which, why);
}

void peer_links::end(link& one) noexcept {
  if (one.stream) (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, one.stream->fd(), nullptr);
  one.stream.reset();
  one.at = state::idle;
}

void peer_links::close(key which, std::chrono::milliseconds again) noexcept {
  auto& one = *links_[which];
  end(one);
  one.due = clock::now() + again;
}

void peer_links::follow_addresses(clock::time_point now, owner& to) noexcept {
  for (key which = 0; which < links_.size(); ++which) {
    const auto& stream = links_[which]->stream;
    if (stream && !detail::has_own_address(stream->fd())) fail(which, "this host's address changed", now, to);
  }
}

void peer_links::add(key which, const std::string& endpoint) {
  auto made = std::make_unique<link>();
  made->endpoint = endpoint;
  if (which == links_.size())
    links_.push_back(std::move(made));
  else
    links_.at(which) = std::move(made);
}

void peer_links::remove(key which) noexcept {
  auto& one = *links_[which];
  end(one);
  one.endpoint.clear();
  one.addresses.clear();
}

bool peer_links::send(key which, const std::string& frame) noexcept {
  auto& one = *links_[which];
  if (one.at != state::ready || one.stream->unsent() + frame.size() > most_unsent ||
      !one.stream->append(std::as_bytes(std::span(frame))))
    return false;
  flush(which);
  return true;
}

void peer_links::flush(key which) noexcept {
  auto& one = *links_[which];
  // After a failure the next receive() finds the end.
  if (one.stream->flush() == control_connection::written::failed) one.stream->discard();
  want(which, one.stream->unsent() != 0);
}

void peer_links::want(key which, bool room) noexcept {
  auto& one = *links_[which];
  epoll_event event{.events = EPOLLIN | (room ? std::uint32_t{EPOLLOUT} : 0u), .data = {.u64 = which}};
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_MOD, one.stream->fd(), &event);
}

}  // namespace orc
