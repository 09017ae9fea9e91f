#include "base/network/endpoint_check.h"
#include "base/files/run_dir.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/files/denied_path.h"
#include "base/files/fd_limit.h"
#include "base/files/unique_fd.h"
#include "base/network/host_addresses.h"
#include "base/network/network_error.h"
#include "base/text/printable.h"

namespace orc::detail {

namespace {

constexpr std::string_view tcp_scheme = "tcp://";
using kind = endpoint_finding::kind;

constexpr const char* no_broker_there = "a program listens there, but no ORC broker answers";

constexpr std::chrono::milliseconds slice{50};  // between two looks at `stop`

[[nodiscard]] std::chrono::milliseconds round_trip_of(int fd) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(info.tcpi_rtt));
}

// 0 or errno.
[[nodiscard]] int try_connect(const sockaddr* to, socklen_t size, std::chrono::milliseconds within,
                              const std::atomic<bool>* stop = nullptr,
                              std::chrono::milliseconds* round_trip = nullptr) noexcept {
  const unique_fd fd(::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  if (::connect(fd.get(), to, size) != 0) {
    if (errno != EINPROGRESS) return errno;
    const deadline until(within);
    pollfd item{fd.get(), POLLOUT, 0};
    const auto wait = [&] { return ::poll(&item, 1, std::min(until.left_ms(), static_cast<int>(slice.count()))); };
    while (wait() != 1) {
      if (until.passed() || (stop != nullptr && *stop)) return ETIMEDOUT;
    }
    int failure = 0;
    socklen_t length = sizeof failure;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &length) != 0) return errno;
    if (failure != 0) return failure;
  }
  if (round_trip != nullptr) *round_trip = round_trip_of(fd.get());
  return 0;
}

// Of a program that listens.
[[nodiscard]] endpoint_finding found_listening(std::chrono::milliseconds round_trip) {
  endpoint_finding found{kind::listens, no_broker_there, round_trip};
  if (round_trip >= slow_round_trip)
    found.text = "a program listens there, a round trip takes " + std::to_string(round_trip.count()) +
                 " ms, and no ORC broker has answered yet";
  return found;
}

[[nodiscard]] std::string why_unknown(const std::string& host, int problem) {
  std::string name = "the host name " + escaped(host) + " is not known here";
  switch (problem) {
    case EAI_NONAME:
    case EAI_NODATA: return name;
    case EAI_AGAIN: return name + " (no name server answers)";
    default: return escaped(host) + ": " + ::gai_strerror(problem);
  }
}

[[nodiscard]] endpoint_finding look_at_host(const std::string& endpoint, std::chrono::milliseconds within,
                                            names_are names, const std::atomic<bool>* stop) {
  if (names == names_are::left_out && names_a_host(endpoint)) return {};
  int unknown = EAI_NONAME;
  int failure = 0;
  for (const auto& each : numeric_endpoints(endpoint, &unknown)) {
    const auto there = numbers_in(each);
    if (!there) break;
    if (stop != nullptr && *stop) return {};
    std::chrono::milliseconds round_trip{0};
    const int result = connection_problem(*there, within, stop, &round_trip);
    if (result == 0) return found_listening(round_trip);
    // Of the addresses of a name, reports the most significant finding.
    if (failure == 0 || failure == ENETUNREACH || failure == EADDRNOTAVAIL) failure = result;
  }
  if (failure == 0) {
    if (names == names_are::left_out) return {};
    return {kind::failed,
            why_unknown(endpoint.substr(tcp_scheme.size(), endpoint.rfind(':') - tcp_scheme.size()), unknown)};
  }
  if (failure != ETIMEDOUT) return {kind::failed, why_unreachable(failure)};
  return {kind::no_answer, "no answer within " + std::to_string(within.count()) + " ms: " + likely_cause_of_silence};
}

[[nodiscard]] endpoint_finding look_at_path(const std::string& path, std::chrono::milliseconds within) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path || path.starts_with('@')) return {};
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  switch (const int failure = try_connect(reinterpret_cast<const sockaddr*>(&to), sizeof to, within); failure) {
    case 0: return {kind::listens, no_broker_there};
    case ENOENT:
    case ENOTDIR: return {kind::failed, "nothing there"};
    case ECONNREFUSED: return {kind::failed, "no program listens there"};
    case EACCES: return {kind::failed, detail::why_denied(path, detail::wish::connect)};
    case EAGAIN: return {kind::listens, "its queue is full: the broker is busy or stopped"};
    default: return {kind::failed, std::strerror(failure)};
  }
}

}  // namespace

int connection_problem(const ip_port& there, std::chrono::milliseconds within, const std::atomic<bool>* stop,
                       std::chrono::milliseconds* round_trip) noexcept {
  const socket_address address(there);
  return try_connect(address.get(), address.size(), within, stop, round_trip);
}

endpoint_finding look_at_endpoint(const std::string& endpoint, std::chrono::milliseconds within, names_are names,
                                  const std::atomic<bool>* stop) {
  if (endpoint.starts_with(tcp_scheme)) return look_at_host(endpoint, within, names, stop);
  if (endpoint.starts_with(ipc_scheme)) return look_at_path(endpoint.substr(ipc_scheme.size()), within);
  return {};
}

endpoint_check::endpoint_check(std::vector<std::string> endpoints, std::chrono::milliseconds within)
    : endpoints_(std::move(endpoints)), findings_(endpoints_.size()) {
  thread_ = std::thread([this, within]() noexcept {
    for (std::size_t i = 0; i < endpoints_.size() && !stop_ && room_for_fds(16); ++i) {
      try {
        findings_[i] = look_at_endpoint(endpoints_[i], within, names_are::looked_up, &stop_);
      } catch (const std::bad_alloc&) {  // this finding is missing
      }
    }
    done_.store(true, std::memory_order_release);
  });
}

endpoint_check::~endpoint_check() {
  stop_ = true;
  thread_.join();
}

}  // namespace orc::detail
