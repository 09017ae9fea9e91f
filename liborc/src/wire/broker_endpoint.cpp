#include "wire/broker_endpoint.h"

#include <algorithm>
#include <string_view>

#include "base/files/run_dir.h"
#include "base/network/ip_address.h"
#include "base/text/printable.h"

namespace orc::wire {

namespace {

constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::string_view ipc_scheme = "ipc://";
constexpr std::string_view usual_port = ":5570";
constexpr std::size_t max_shown = 120;

[[nodiscard]] bool has_port(std::string_view host_and_port) {
  if (host_and_port.ends_with(']')) return false;
  const auto colon = host_and_port.rfind(':');
  return colon != std::string_view::npos && colon + 1 < host_and_port.size();
}

[[nodiscard]] std::string_view without_slashes(std::string_view where) {
  return where.substr(std::min(where.find_first_not_of('/'), where.size()));
}

// Adds scheme and port to "10.0.0.2", "robot:5570", "fe80::1".
[[nodiscard]] std::string as_tcp(std::string_view where) {
  const auto number = detail::ip_address::parse(where);
  std::string host_and_port = number ? number->in_url() : std::string(where);
  while (host_and_port.ends_with(':')) host_and_port.pop_back();
  if (!has_port(host_and_port)) host_and_port += usual_port;
  return std::string(tcp_scheme) + host_and_port;
}

// Of "tcp:/robot" or "ipc:/run/orc/broker" what follows the slashes; empty: it is neither. tcp:5570 has a port.
[[nodiscard]] std::string_view after_few_slashes(std::string_view endpoint) {
  if (!endpoint.starts_with("tcp:") && !endpoint.starts_with("ipc:")) return {};
  const auto where = endpoint.substr(std::string_view("tcp:").size());
  if (where.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return without_slashes(where);
}

[[nodiscard]] endpoint_problem problem(std::string_view endpoint, const char* what, const std::string& instead) {
  const bool is_short = endpoint.size() <= max_shown;
  std::string text = detail::escaped(endpoint.substr(0, max_shown)) + (is_short ? " " : "... ") + what;
  if (instead.empty() || !is_short) return {text + ": a broker's endpoint is tcp://HOST:PORT or ipc:///PATH", {}};
  return {text + ": write " + detail::escaped(instead), instead};
}

}  // namespace

std::optional<endpoint_problem> problem_of_broker_endpoint(const std::string& endpoint) {
  const std::string_view all = endpoint;
  if (all == detail::without_broker) return problem(all, "beside other endpoints has no meaning", {});
  if (all.starts_with(tcp_scheme)) {
    const auto where = all.substr(tcp_scheme.size());
    const auto number = detail::ip_address::parse(where);
    if (number && !number->is_v4()) return problem(all, "needs brackets and a port", as_tcp(where));
    if (where.starts_with('/') && !without_slashes(where).empty())
      return problem(all, "has more than two slashes after tcp", as_tcp(without_slashes(where)));
    if (where.empty() || where.front() == ':' || where.front() == '/') return problem(all, "names no host", {});
    return has_port(where) ? std::nullopt : std::optional(problem(all, "has no port", as_tcp(where)));
  }
  if (all.starts_with(ipc_scheme))
    return all.size() > ipc_scheme.size() ? std::nullopt : std::optional(problem(all, "names no path", {}));
  if (all.find("://") != std::string_view::npos) return problem(all, "has another scheme", {});
  if (const auto where = after_few_slashes(all); !where.empty()) {
    if (all.starts_with("tcp")) return problem(all, "needs two slashes after tcp", as_tcp(where));
    return problem(all, "needs three slashes after ipc", "ipc:///" + std::string(where));
  }
  if (all.starts_with('/')) return problem(all, "has no scheme", std::string(ipc_scheme) + endpoint);
  return problem(all, "has no scheme", as_tcp(all));
}

}  // namespace orc::wire
