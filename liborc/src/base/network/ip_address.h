// IPv4 and IPv6 addresses in one type, with and without a port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orc::detail {

// Holds an IPv4 address as ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2), so that each address has one value for both
// families of sockets.
struct ip_address {
  std::array<std::uint8_t, 16> bytes{};  // in network order
  std::uint32_t scope = 0;               // interface index of a link-local IPv6 address; 0: none

  [[nodiscard]] static ip_address any_v4() noexcept;
  [[nodiscard]] static ip_address loopback_v4() noexcept;
  [[nodiscard]] static ip_address of(const in_addr& address) noexcept;
  [[nodiscard]] static ip_address of(const in6_addr& address, std::uint32_t scope = 0) noexcept;
  // Parses "192.0.2.1", "2001:db8::1", "fe80::1%eth0": numbers, no names, no brackets.
  [[nodiscard]] static std::optional<ip_address> parse(std::string_view text);

  [[nodiscard]] bool is_v4() const noexcept;
  [[nodiscard]] bool is_any() const noexcept;         // 0.0.0.0 or ::
  [[nodiscard]] bool is_loopback() const noexcept;    // 127.0.0.0/8 or ::1
  [[nodiscard]] bool is_link_local() const noexcept;  // 169.254.0.0/16 or fe80::/10
  [[nodiscard]] bool is_multicast() const noexcept;
  [[nodiscard]] in_addr v4() const noexcept;  // only when is_v4()
  [[nodiscard]] in6_addr v6() const noexcept;
  [[nodiscard]] std::string text() const;    // as parse() reads it
  [[nodiscard]] std::string in_url() const;  // same, in brackets when it has colons

  auto operator<=>(const ip_address&) const = default;
};

struct ip_port {
  ip_address address;
  std::uint16_t port = 0;  // in host order

  [[nodiscard]] static std::optional<ip_port> of(const sockaddr& address) noexcept;  // nothing for another family
  // "192.0.2.1:40000", "[2001:db8::1]:40000"
  [[nodiscard]] static std::optional<ip_port> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  auto operator<=>(const ip_port&) const = default;
};

// The address for socket calls. Writes an IPv4 address for an AF_INET socket, unless `family` is AF_INET6.
class socket_address {
 public:
  socket_address() noexcept = default;
  explicit socket_address(const ip_port& to, sa_family_t family = AF_UNSPEC) noexcept;

  [[nodiscard]] const sockaddr* get() const noexcept { return &bytes_.any; }
  // For calls that write an address, such as getsockname.
  [[nodiscard]] sockaddr* get() noexcept { return &bytes_.any; }
  [[nodiscard]] socklen_t* room() noexcept { return &size_; }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] sa_family_t family() const noexcept { return bytes_.any.sa_family; }
  [[nodiscard]] std::optional<ip_port> value() const noexcept { return ip_port::of(bytes_.any); }

 private:
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } bytes_{.v6 = {}};
  socklen_t size_ = sizeof(sockaddr_in6);
};

}  // namespace orc::detail
