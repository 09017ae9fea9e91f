#include "broker/map/endpoint_rules.h"

#include <ifaddrs.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>

#include "base/files/run_dir.h"
#include "wire/multicast_url.h"

namespace orc {
namespace {

using detail::ip_address;

constexpr auto asked_again_after = std::chrono::milliseconds(100);  // getifaddrs() takes at most a tenth of that

template <class Number>
bool read(std::string_view text, Number& to) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), to);
  return failed == std::errc() && end == text.data() + text.size();
}

// "192.0.2.1:40000" or "[2001:db8::1]:40000", with a port to connect to. No scope, because it means something else on
// each host, and asking the kernel for an interface of any name may load modules.
std::optional<ip_address> parse_host_and_port(std::string_view text) {
  if (text.find('%') != std::string_view::npos) return std::nullopt;
  const auto read = detail::ip_port::parse(text);
  return read && read->port != 0 ? std::optional(read->address) : std::nullopt;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Cuts off the part behind the last slash, and returns it.
std::string_view take_name(std::string_view& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  const auto name = path.substr(slash + 1);
  path = path.substr(0, slash);
  return name;
}

bool is_number(std::string_view text) {
  std::uint32_t value = 0;
  return read(text, value) && (text.size() == 1 || text.front() != '0');
}

// …/orc or …/orc-<uid>: the directories of participants that came by tcp.
bool is_run_directory(std::string_view path) {
  auto name = take_name(path);
  return take_prefix(name, "orc") && (name.empty() || (take_prefix(name, "-") && is_number(name)));
}

// A path without "." and "..", which would lead elsewhere.
bool is_plain(std::string_view path) {
  return path.starts_with('/') && std::filesystem::path(path).lexically_normal().native() == path;
}

bool same_directory(std::string_view path, const std::string& other) {
  return !other.empty() && path == std::filesystem::path(other).lexically_normal().native();
}

// Not a wildcard, nor of one link or one host only.
bool is_of_a_host(const ip_address& address) {
  return !address.is_any() && !address.is_link_local() && !address.is_multicast() && !address.is_loopback();
}

error refused(std::string why) { return {errc::refused, std::move(why)}; }

result check_path(std::string_view path, std::string_view suffix, const wire::id& publication, const peer& by) {
  const std::string name = publication.hex().substr(0, 16) + std::string(suffix);
  const bool local = by.way == peer::via::ipc;
  const std::string uid = local ? std::to_string(by.uid) : "<uid>";
  auto directory = path;
  const bool named = take_name(directory) == name;
  const auto user = take_name(directory);
  const auto owner = local ? std::string_view(uid) : user.substr(0, user.find('-'));
  const bool users = is_number(owner) && detail::is_directory_of(user, owner);
  const bool place =
      is_plain(directory) && (is_run_directory(directory) || (local && same_directory(directory, by.directory)));
  if (named && users && place) return {};
  return refused("it must be D/" + uid + "/" + name +
                 " with D the directory of the broker's socket, or one named orc or orc-<uid>");
}

}  // namespace

bool address_range::contains(const ip_address& address) const noexcept {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + bits / 8, network.bytes.begin())) return false;
  const int rest = bits % 8;
  return rest == 0 || ((network.bytes[whole] ^ address.bytes[whole]) >> (8 - rest)) == 0;
}

std::optional<address_range> address_range::parse(std::string_view text) {
  const auto slash = std::min(text.find('/'), text.size());
  const auto network = ip_address::parse(text.substr(0, slash));
  if (!network) return std::nullopt;
  const int most = network->is_v4() && text.find(':') == std::string_view::npos ? 32 : 128;
  int bits = most;
  if (slash != text.size() && (!read(text.substr(slash + 1), bits) || bits < 0 || bits > most)) return std::nullopt;
  return address_range{*network, 128 - most + bits};
}

bool is_reachable(const wire::endpoint& which, bool same_host) {
  const auto is_usual = [&](const ip_address& address) {
    return is_of_a_host(address) || (same_host && address.is_loopback());
  };
  std::string_view rest = which.address;
  if (which.transport == wire::transport::tcp) {
    if (!take_prefix(rest, "tcp://")) return false;
    const auto address = parse_host_and_port(rest);
    return address && is_usual(*address);
  }
  if (which.transport != wire::transport::multicast) return false;
  const auto url = wire::multicast_url::parse(rest);
  return url && url->group.is_multicast() && (same_host || url->ttl > 0) &&
         (!url->from || is_usual(url->from->address));
}

result endpoint_rules::check_peer(const std::vector<wire::endpoint>& endpoints, bool same_host) {
  for (const auto& each : endpoints) {
    if (!is_reachable(each, same_host))
      return refused(std::string(wire::name_of(each.transport)) + " endpoint refused: other hosts cannot reach it");
  }
  return check_ports(endpoints);
}

result endpoint_rules::check(const wire::register_topic& what, const peer& by, time now) {
  for (const auto& each : what.endpoints) {
    if (auto checked = check_endpoint(each, what.publication, by, now); !checked)
      return refused(std::string(wire::name_of(each.transport)) + " endpoint refused: " + checked.error().message());
  }
  return check_ports(what.endpoints);
}

// A publication listens on one tcp port, which it may name at several addresses. Its subscribers try all of them, and
// must not knock at one port of a host after the other.
result endpoint_rules::check_ports(const std::vector<wire::endpoint>& endpoints) {
  std::size_t count = 0;
  std::string_view port;
  for (const auto& each : endpoints) {
    if (each.transport != wire::transport::tcp) continue;
    const auto its = std::string_view(each.address).substr(each.address.rfind(':'));
    if (count++ != 0 && its != port)
      return refused("tcp endpoints refused: all of a publication must have the same port");
    port = its;
  }
  if (count <= wire::max_tcp_endpoints) return {};
  return refused("tcp endpoints refused: a publication may have " + std::to_string(wire::max_tcp_endpoints));
}

result endpoint_rules::check_endpoint(const wire::endpoint& which, const wire::id& publication, const peer& by,
                                      time now) {
  std::string_view rest = which.address;
  switch (which.transport) {
    case wire::transport::inproc:
      if (rest == "inproc://" + publication.hex()) return {};
      return refused("it must be inproc:// and the id of the publication");
    case wire::transport::ipc:
      if (!take_prefix(rest, "ipc://")) return refused("it must begin with ipc://");
      return check_path(rest, "", publication, by);
    case wire::transport::shm:
      if (!take_prefix(rest, "shm://")) return refused("it must begin with shm://");
      return check_path(rest, ".shm", publication, by);
    case wire::transport::tcp:
      if (!take_prefix(rest, "tcp://")) return refused("it must begin with tcp://");
      return check_address(rest, by, now);
    case wire::transport::multicast: {
      if (!take_prefix(rest, "udpm://")) return refused("it must begin with udpm://");
      const auto mark = std::min(rest.find('?'), rest.size());
      const auto group = parse_host_and_port(rest.substr(0, mark));
      if (!group || !group->is_multicast())
        return refused(
            "it must name a multicast address (224.0.0.0 to 239.255.255.255, or one that begins with ff) and a port");
      rest.remove_prefix(mark);
      while (!rest.empty()) {
        rest.remove_prefix(1);
        const auto end = std::min(rest.find('&'), rest.size());
        auto parameter = rest.substr(0, end);
        // Linux sends from 0.0.0.0 where a host has only the loopback's address.
        const bool unnamed = by.way == peer::via::ipc && parameter.starts_with("from=0.0.0.0:");
        if (!unnamed && take_prefix(parameter, "from=")) {
          if (auto checked = check_source(parameter, by, now); !checked)
            return refused("from: " + checked.error().message());
        }
        rest.remove_prefix(end);
      }
      return {};
    }
    default: return refused("its transport is unknown");
  }
}

// Multicast goes by a way of its own. So on another host its address may be another one than the connection's, which
// this broker cannot check.
result endpoint_rules::check_source(std::string_view address_and_port, const peer& by, time now) {
  const auto address = parse_host_and_port(address_and_port);
  const auto from = by.way == peer::via::tcp ? ip_address::parse(by.address) : std::nullopt;
  if (address && is_of_a_host(*address) && from && !is_of_this_host(*from, now)) return {};
  return check_address(address_and_port, by, now);
}

result endpoint_rules::check_address(std::string_view address_and_port, const peer& by, time now) {
  const auto address = parse_host_and_port(address_and_port);
  if (!address) return refused("it must be a numeric address and a port from 1 to 65535");
  const auto from = by.way == peer::via::tcp ? ip_address::parse(by.address) : std::nullopt;
  const bool local = by.way == peer::via::ipc || (from && is_of_this_host(*from, now));
  if (from && from->bytes == address->bytes) return {};
  if (local && is_of_this_host(*address, now)) return {};
  if (std::any_of(allowed_.begin(), allowed_.end(), [&](const auto& each) { return each.contains(*address); }))
    return {};
  if (local)
    return refused(
        "this host has no such address: where a participant advertises another one (NAT), start the broker with "
        "--allow-endpoints");
  return refused("a participant at " + by.address +
                 " may name that address only: behind NAT let it advertise that one (ORC_ADVERTISE), or start the "
                 "broker with --allow-endpoints");
}

bool endpoint_rules::is_of_this_host(const ip_address& address, time now) {
  if (address.is_loopback()) return true;
  const auto is_it = [&](const ip_address& own) { return own.bytes == address.bytes; };  // in any scope
  const auto known = [&] { return std::any_of(own_.begin(), own_.end(), is_it); };
  if (known()) return true;
  if (!own_.empty() && now - asked_ < asked_again_after) return false;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  asked_ = now;
  own_.clear();
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    if (const auto here = detail::ip_port::of(*each->ifa_addr)) own_.push_back(here->address);
  }
  return known();
}

}  // namespace orc
