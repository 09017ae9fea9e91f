#include "tools/web/http/host_check.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace orc::web {

namespace {

constexpr std::uint16_t http_port = 80;

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return made;
}

struct host_parts {
  std::string name;  // in lower case, without brackets
  bool bracketed = false;
  std::uint16_t port = http_port;
};

std::optional<host_parts> parts_of(std::string_view host) {
  host_parts found;
  std::string_view rest;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    found.name = lower(host.substr(1, end - 1));
    found.bracketed = true;
    rest = host.substr(end + 1);
  } else {
    const auto end = std::min(host.find(':'), host.size());
    found.name = lower(host.substr(0, end));
    rest = host.substr(end);
  }
  if (found.name.empty()) return std::nullopt;
  if (rest.empty()) return found;
  const char* const last = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data() + 1, last, found.port);
  if (rest.front() != ':' || read.ec != std::errc() || read.ptr != last) return std::nullopt;
  return found;
}

}  // namespace

bool is_own_host(std::string_view host, const detail::ip_port& local, std::string_view own_name) {
  const auto parts = parts_of(host);
  if (!parts || parts->port != local.port) return false;
  const bool loopback = local.address.is_loopback();
  if (const auto number = detail::ip_address::parse(parts->name)) {
    if (parts->bracketed == number->is_v4()) return false;
    return *number == local.address || (loopback && number->is_loopback());
  }
  if (parts->bracketed) return false;
  if (loopback) return parts->name == "localhost";
  return !own_name.empty() && (parts->name == lower(own_name) || parts->name == lower(own_name) + ".local");
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return lower(origin.substr(scheme.size())) == lower(host);
  }
  return false;
}

}  // namespace orc::web
