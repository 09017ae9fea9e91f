#include "base/network/ip_address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace orc::detail {

namespace {

constexpr std::size_t start_of_v4 = 12;
constexpr std::array<std::uint8_t, start_of_v4> before_v4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

[[nodiscard]] std::optional<std::uint16_t> port_in(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

ip_address ip_address::any_v4() noexcept { return of(in_addr{htonl(INADDR_ANY)}); }

ip_address ip_address::loopback_v4() noexcept { return of(in_addr{htonl(INADDR_LOOPBACK)}); }

ip_address ip_address::of(const in_addr& address) noexcept {
  ip_address made;
  std::copy(before_v4.begin(), before_v4.end(), made.bytes.begin());
  std::memcpy(made.bytes.data() + start_of_v4, &address, sizeof address);
  return made;
}

ip_address ip_address::of(const in6_addr& address, std::uint32_t scope) noexcept {
  ip_address made;
  std::memcpy(made.bytes.data(), &address, sizeof address);
  if (made.is_link_local() && !made.is_v4()) made.scope = scope;
  return made;
}

std::optional<ip_address> ip_address::parse(std::string_view text) {
  const auto percent = text.find('%');
  const std::string number(text.substr(0, percent));
  in_addr four{};
  if (percent == std::string_view::npos && ::inet_pton(AF_INET, number.c_str(), &four) == 1) return of(four);
  in6_addr six{};
  if (::inet_pton(AF_INET6, number.c_str(), &six) != 1) return std::nullopt;
  if (percent == std::string_view::npos) return of(six);
  const std::string interface(text.substr(percent + 1));
  const auto scope = of(six).is_link_local() ? ::if_nametoindex(interface.c_str()) : 0;
  if (scope == 0) return std::nullopt;
  return of(six, scope);
}

bool ip_address::is_v4() const noexcept { return std::equal(before_v4.begin(), before_v4.end(), bytes.begin()); }

bool ip_address::is_any() const noexcept {
  const auto from = bytes.begin() + (is_v4() ? start_of_v4 : 0);
  return std::all_of(from, bytes.end(), [](std::uint8_t each) { return each == 0; });
}

bool ip_address::is_loopback() const noexcept {
  return is_v4() ? bytes[start_of_v4] == 127 : std::memcmp(bytes.data(), &in6addr_loopback, bytes.size()) == 0;
}

bool ip_address::is_link_local() const noexcept {
  return is_v4() ? bytes[start_of_v4] == 169 && bytes[start_of_v4 + 1] == 254
                 : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool ip_address::is_multicast() const noexcept {
  return is_v4() ? (bytes[start_of_v4] & 0xf0) == 0xe0 : bytes[0] == 0xff;
}

in_addr ip_address::v4() const noexcept {
  in_addr address{};
  std::memcpy(&address, bytes.data() + start_of_v4, sizeof address);
  return address;
}

in6_addr ip_address::v6() const noexcept {
  in6_addr address{};
  std::memcpy(&address, bytes.data(), sizeof address);
  return address;
}

std::string ip_address::text() const {
  std::array<char, INET6_ADDRSTRLEN> number{};
  const std::uint8_t* const from = bytes.data() + (is_v4() ? start_of_v4 : 0);
  ::inet_ntop(is_v4() ? AF_INET : AF_INET6, from, number.data(), number.size());
  std::string text = number.data();
  std::array<char, IF_NAMESIZE> interface {};
  if (scope != 0 && ::if_indextoname(scope, interface.data()) != nullptr) text.append("%").append(interface.data());
  return text;
}

std::string ip_address::in_url() const { return is_v4() ? text() : '[' + text() + ']'; }

std::optional<ip_port> ip_port::of(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    return ip_port{ip_address::of(four.sin_addr), ntohs(four.sin_port)};
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 six{};
  std::memcpy(&six, &address, sizeof six);
  return ip_port{ip_address::of(six.sin6_addr, six.sin6_scope_id), ntohs(six.sin6_port)};
}

std::optional<ip_port> ip_port::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed != (host.find(':') != std::string_view::npos)) return std::nullopt;
  const auto address = ip_address::parse(host);
  const auto port = port_in(text.substr(colon + 1));
  if (!address || !port) return std::nullopt;
  return ip_port{*address, *port};
}

std::string ip_port::text() const { return address.in_url() + ':' + std::to_string(port); }

socket_address::socket_address(const ip_port& to, sa_family_t family) noexcept {
  if (to.address.is_v4() && family != AF_INET6) {
    bytes_.v4 = {};
    bytes_.v4.sin_family = AF_INET;
    bytes_.v4.sin_addr = to.address.v4();
    bytes_.v4.sin_port = htons(to.port);
    size_ = sizeof bytes_.v4;
    return;
  }
  bytes_.v6.sin6_family = AF_INET6;
  bytes_.v6.sin6_addr = to.address.v6();
  bytes_.v6.sin6_scope_id = to.address.scope;
  bytes_.v6.sin6_port = htons(to.port);
}

}  // namespace orc::detail
