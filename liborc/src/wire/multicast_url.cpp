#include "wire/multicast_url.h"

#include <algorithm>
#include <charconv>

#include "base/process/environment.h"

namespace orc::wire {

namespace {

constexpr std::string_view scheme = "udpm://";
constexpr std::string_view usual_address = "239.255.76.67:7667";

[[nodiscard]] orc::error wrong(std::string_view text, const std::string& why) {
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

// "239.255.76.67:7667" or "[ff15::76:67]:7667"; without a port it is `usual_port`.
[[nodiscard]] std::optional<detail::ip_port> read_group(std::string_view text, std::uint16_t usual_port) {
  const bool has_port = text.ends_with(']') ? false : text.find(':') != std::string_view::npos;
  const auto found =
      detail::ip_port::parse(has_port ? std::string(text) : std::string(text) + ':' + std::to_string(usual_port));
  if (!found || found->port == 0) return std::nullopt;
  return found;
}

// The half byte after ff: the scope of a group (RFC 4291, section 2.7).
[[nodiscard]] int reach_of(const detail::ip_address& group) noexcept { return group.bytes[1] & 0x0f; }

[[nodiscard]] bool is_group(const detail::ip_address& address) noexcept {
  return address.is_multicast() && (address.is_v4() || reach_of(address) != 0);
}

// The address that a publication reports: not one that reaches several hosts.
[[nodiscard]] bool read_from(std::string_view text, std::optional<detail::ip_port>& to) {
  const auto from = detail::ip_port::parse(text);
  const bool good = from && from->port != 0 && !from->address.is_multicast() && from->address.scope == 0 &&
                    (from->address.is_v4() || !from->address.is_any());
  if (good) to = from;
  return good;
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
  if (name == "from") return read_from(value, to.from);
  if (name == "source") return read<std::uint16_t>(value, to.source, 1, 65535);
  return name == "transmit_only";  // LCM's: a hint for its own sockets
}

}  // namespace

detail::expected<multicast_url> multicast_url::parse(std::string_view text) {
  if (text.empty()) text = usual;
  if (!text.starts_with(scheme)) return wrong(text, "does not begin with udpm://");
  const auto rest = text.substr(scheme.size());
  const auto mark = std::min(rest.find('?'), rest.size());
  multicast_url url;
  const auto address =
      mark == 0 && !rest.empty() ? std::string_view(usual_address) : rest.substr(0, mark);  // "udpm://?ttl=1"
  const auto group = read_group(address, url.port);
  if (!group) return wrong(text, "has no numeric address and port (an IPv6 address in brackets: [ff15::76:67]:7667)");
  if (!is_group(group->address))
    return wrong(text,
                 "has no multicast address (224.0.0.0 to 239.255.255.255, or ff01:: to ff0f::, ff11:: to ff1f::)");
  url.group = group->address;
  url.port = group->port;
  for (auto parameters = rest.substr(std::min(mark + 1, rest.size())); !parameters.empty();) {
    const auto end = std::min(parameters.find('&'), parameters.size());
    const auto each = parameters.substr(0, end);
    const auto equals = std::min(each.find('='), each.size());
    const auto value = each.substr(std::min(equals + 1, each.size()));
    if (!each.empty() && !read_parameter(each.substr(0, equals), value, url))
      return wrong(text, "has a parameter " + std::string(each) + " that is unknown or out of range");
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  if (auto checked = url.check(); !checked) return wrong(text, checked.error().message());
  return url;
}

multicast_url::setting multicast_url::from_environment() {
  constexpr const char* own = "ORC_MULTICAST";
  constexpr const char* of_lcm = "LCM_DEFAULT_URL";
  if (auto text = detail::environment(own); !text.empty()) return {std::move(text), own};
  // LCM's may also name something else than a network ("file://…").
  if (auto text = detail::environment(of_lcm); text.starts_with(scheme)) return {std::move(text), of_lcm};
  return {};
}

std::string multicast_url::text() const {
  std::string out = std::string(scheme) + detail::ip_port{group, port}.text() + "?ttl=" + std::to_string(ttl);
  if (receive_buffer != default_receive_buffer) out += "&recv_buf_size=" + std::to_string(receive_buffer);
  if (reassembly != default_reassembly) out += "&reassembly=" + std::to_string(reassembly);
  if (!interface.empty()) out += "&interface=" + interface;
  if (fec != 0) out += "&fec=" + std::to_string(fec);
  if (from) out += "&from=" + from->text();
  if (source != 0) out += "&source=" + std::to_string(source);
  return out;
}

bool multicast_url::is_of_one_interface() const noexcept { return !group.is_v4() && reach_of(group) <= 2; }

// Finds what single parameters do not show.
result multicast_url::check() const {
  if (from && from->address.is_v4() != group.is_v4())
    return {errc::bad_argument, "has a group and a from= of different families"};
  if (is_of_one_interface() && ttl != 0 && interface.empty())
    return {errc::bad_argument,
            "has a group that each network has for itself (ff01:: or ff02::) and names no network: add "
            "&interface=eth0, or ttl=0 to stay on this host"};
  // A sender on another interface would let samples leave the host when that interface loses its memberships, as it
  // does for a moment when its MTU falls below 1280.
  if (!group.is_v4() && ttl == 0 && !interface.empty() && interface != "lo")
    return {errc::bad_argument,
            "names an interface, but an IPv6 group with ttl=0 stays on lo: leave out interface, or set ttl=1"};
  return {};
}

}  // namespace orc::wire
