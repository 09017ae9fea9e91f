#include "base/network/endpoint_check.h"
#include "base/files/run_dir.h"

#include <netdb.h>
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

#include "base/files/denied_path.h"
#include "base/files/fd_limit.h"
#include "base/network/host_addresses.h"
#include "base/network/network_error.h"
#include "base/text/printable.h"

namespace orc::detail {

namespace {

constexpr std::string_view tcp_scheme = "tcp://";
using kind = endpoint_finding::kind;

constexpr const char* no_broker_there = "a program listens there, but no ORC broker answers";

// 0 or errno.
[[nodiscard]] int try_connect(const sockaddr* to, socklen_t size, std::chrono::milliseconds within) noexcept {
  const int fd = ::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  int failure = ::connect(fd, to, size) == 0 ? 0 : errno;
  if (failure == EINPROGRESS) {
    pollfd item{fd, POLLOUT, 0};
    socklen_t length = sizeof failure;
    if (::poll(&item, 1, static_cast<int>(within.count())) != 1)
      failure = ETIMEDOUT;
    else if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length) != 0)
      failure = errno;
  }
  ::close(fd);
  return failure;
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
    const int result = connection_problem(*there, within);
    if (result == 0) return {kind::listens, no_broker_there};
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
    case EACCES: return {kind::failed, detail::why_denied(path)};
    case EAGAIN: return {kind::listens, "its queue is full: the broker is busy or stopped"};
    default: return {kind::failed, std::strerror(failure)};
  }
}

}  // namespace

int connection_problem(const ip_port& there, std::chrono::milliseconds within) noexcept {
  const socket_address address(there);
  return try_connect(address.get(), address.size(), within);
}

endpoint_finding look_at_endpoint(const std::string& endpoint, std::chrono::milliseconds within, names_are names,
                                  const std::atomic<bool>* stop) {
  if (endpoint.starts_with(tcp_scheme)) return look_at_host(endpoint, within, names, stop);
  if (endpoint.starts_with(ipc_scheme)) return look_at_path(endpoint.substr(ipc_scheme.size()), within);
  return {};
}

endpoint_check::endpoint_check(std::vector<std::string> endpoints)
    : endpoints_(std::move(endpoints)), findings_(endpoints_.size()) {
  thread_ = std::thread([this]() noexcept {
    for (std::size_t i = 0; i < endpoints_.size() && !stop_ && room_for_fds(16); ++i) {
      try {
        findings_[i] = look_at_endpoint(endpoints_[i], patience, names_are::looked_up, &stop_).text;
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
