#include "transport/multicast/multicast_url.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>

#include "wire/environment.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "udpm://";
constexpr std::string_view usual_address = "239.255.76.67:7667";

[[nodiscard]] error wrong(std::string_view text, const std::string& why) {
  return {errc::bad_argument, "the multicast URL " + std::string(text) + " " + why + "; one is " +
                                  std::string(multicast_url::usual) +
                                  ", parameters are ttl, recv_buf_size, reassembly, interface and fec"};
}

template <typename Number>
[[nodiscard]] bool read(std::string_view text, Number& to, Number least, Number most) noexcept {
  Number value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value < least || value > most) return false;
  to = value;
  return true;
}

// The host "239.255.76.67" and the port behind the last colon, if there is one.
[[nodiscard]] bool read_address(std::string_view text, in_addr& host, std::uint16_t& port) {
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos && !read<std::uint16_t>(text.substr(colon + 1), port, 1, 65535)) return false;
  return ::inet_pton(AF_INET, std::string(text.substr(0, colon)).c_str(), &host) == 1;
}

[[nodiscard]] bool read_parameter(std::string_view name, std::string_view value, multicast_url& to) {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (name == "ttl") return read(value, to.ttl, 0, 255);
  if (name == "recv_buf_size") return read<std::size_t>(value, to.receive_buffer, 2048, most - 1);
  if (name == "reassembly") return read<std::size_t>(value, to.reassembly, 65536, most * 2);
  if (name == "fec") return read(value, to.fec, 0, 100);
  if (name == "interface") {
    to.interface = value;
    return !value.empty() && value.size() < 64;
  }
  if (name == "from") {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    std::uint16_t port = 0;
    if (!read_address(value, from.sin_addr, port) || port == 0) return false;
    from.sin_port = htons(port);
    to.from = from;
    return true;
  }
  if (name == "source") return read<std::uint16_t>(value, to.source, 1, 65535);
  return name == "transmit_only";  // LCM's: a hint to its own sockets
}

}  // namespace

std::variant<multicast_url, error> multicast_url::parse(std::string_view text) {
  if (text.empty()) text = usual;
  if (!text.starts_with(scheme)) return wrong(text, "does not begin with udpm://");
  const auto rest = text.substr(scheme.size());
  const auto mark = std::min(rest.find('?'), rest.size());
  multicast_url url;
  const auto address =
      mark == 0 && !rest.empty() ? std::string_view(usual_address) : rest.substr(0, mark);  // "udpm://?ttl=1"
  if (!read_address(address, url.group, url.port)) return wrong(text, "has no IPv4 address and port");
  if (!IN_MULTICAST(ntohl(url.group.s_addr)))
    return wrong(text, "has no multicast address (224.0.0.0 to 239.255.255.255)");
  for (auto parameters = rest.substr(std::min(mark + 1, rest.size())); !parameters.empty();) {
    const auto end = std::min(parameters.find('&'), parameters.size());
    const auto each = parameters.substr(0, end);
    const auto equals = std::min(each.find('='), each.size());
    const auto value = each.substr(std::min(equals + 1, each.size()));
    if (!each.empty() && !read_parameter(each.substr(0, equals), value, url))
      return wrong(text, "has a parameter " + std::string(each) + " that is unknown or out of range");
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return url;
}

multicast_url::setting multicast_url::from_environment() {
  constexpr const char* own = "ORC_MULTICAST";
  constexpr const char* of_lcm = "LCM_DEFAULT_URL";
  if (auto text = environment(own); !text.empty()) return {std::move(text), own};
  // LCM's may also name what is no network ("file://…").
  if (auto text = environment(of_lcm); text.starts_with(scheme)) return {std::move(text), of_lcm};
  return {};
}

std::string multicast_url::text() const {
  std::string out = std::string(scheme) + to_string(group_address()) + "?ttl=" + std::to_string(ttl);
  if (receive_buffer != default_receive_buffer) out += "&recv_buf_size=" + std::to_string(receive_buffer);
  if (reassembly != default_reassembly) out += "&reassembly=" + std::to_string(reassembly);
  if (!interface.empty()) out += "&interface=" + interface;
  if (fec != 0) out += "&fec=" + std::to_string(fec);
  if (from) out += "&from=" + to_string(*from);
  if (source != 0) out += "&source=" + std::to_string(source);
  return out;
}

sockaddr_in multicast_url::group_address() const noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = group;
  address.sin_port = htons(port);
  return address;
}

bool find_interface(const std::string& name, ip_mreqn& to) noexcept {
  if (name.empty() || ::inet_pton(AF_INET, name.c_str(), &to.imr_address) == 1) return true;
  to.imr_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  return to.imr_ifindex != 0;
}

std::string to_string(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return std::string(text) + ':' + std::to_string(ntohs(address.sin_port));
}

}  // namespace orc::detail
