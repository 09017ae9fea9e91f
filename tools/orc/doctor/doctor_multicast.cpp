// orc doctor: does multicast reach the programs of this host?
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/multicast_probe.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

std::string what_happened(const probe_result& result) {
  const std::string why = result.error == 0 ? "" : std::string(": ") + std::strerror(result.error);
  switch (result.reached) {
    case probe_step::socket: return "no socket" + why;
    case probe_step::find_interface: return "this host has no such interface";
    case probe_step::join: return "the group cannot be joined" + why;
    case probe_step::send: return "nothing can be sent to the group" + why;
    case probe_step::receive: return "what is sent does not come back to this host";
    case probe_step::done: break;
  }
  return "a datagram came back in " + fixed(result.milliseconds, 2) + " ms";
}

bool is_missing_route(const probe_result& result) {
  const bool refused = result.reached == probe_step::join || result.reached == probe_step::send;
  return refused && (result.error == ENODEV || result.error == ENETUNREACH || result.error == EHOSTUNREACH);
}

// Where multicast should go: what stays on this host goes over lo, the rest over the first network there is.
network_interface best_of(const std::vector<network_interface>& all, int ttl) {
  const auto network = std::find_if(all.begin(), all.end(), [](const network_interface& each) {
    return each.up && !each.loopback && each.multicast && !each.address.empty();
  });
  if (ttl > 0 && network != all.end()) return *network;
  const auto loopback = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.loopback; });
  return loopback != all.end() ? *loopback : network_interface{"lo", "", false, true, false};
}

std::string make_route(const network_interface& by, const multicast_wish& wish) {
  std::string command;
  if (!by.up) command += as_root("ip link set " + by.name + " up") + " && ";
  if (!by.multicast) command += as_root("ip link set " + by.name + " multicast on") + " && ";
  if (wish.url.group.is_v4()) return command + as_root("ip route add 224.0.0.0/4 dev " + by.name);
  return command + as_root("ip -6 route add " + std::string(by.loopback ? "local " : "") + "ff00::/8 dev " + by.name);
}

// The mend for a round trip that failed for another reason than a missing route.
std::vector<std::string> mend(const probe_result& result, const std::string& interface) {
  switch (result.reached) {
    case probe_step::find_interface: return {"ip -brief address"};
    case probe_step::receive: return {as_root("nft list ruleset")};  // a firewall is what is left
    case probe_step::join:
      if (result.error == ENOBUFS) return set_kernel_parameter("net.ipv4.igmp_max_memberships", "1000");
      break;
    case probe_step::send:
      if (result.error == EADDRNOTAVAIL && interface == "lo") return {as_root("ip address add 127.0.0.1/8 dev lo")};
      break;
    default: break;
  }
  if (interface.empty()) return {};
  return {as_root("ip link set " + interface + " up") + " && " + as_root("ip link set " + interface + " multicast on")};
}

// LCM's way. Returns the interface that the kernel chooses; empty: none.
std::string check_route(const examine& add, const multicast_wish& wish, const std::vector<network_interface>& all) {
  const std::string group = wish.url.group.text();
  const auto result = lcm_round_trip(wish.url.group);
  finding route{severity::ok, "multicast route", "", {}};
  if (result.reached == probe_step::done) {
    route.found = "the kernel sends " + group + " by " + result.by + ", and " + what_happened(result);
    const network_interface best = best_of(all, wish.url.ttl);
    const bool stays =
        std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.loopback && each.name == result.by; });
    if (stays && !best.loopback && wish.url.interface.empty()) {
      route.level = severity::fail;
      route.found += "; with ttl=" + std::to_string(wish.url.ttl) + " it should leave this host";
      route.fixes = {as_root("ip route replace 224.0.0.0/4 dev " + best.name)};
    }
    add(std::move(route));
    return result.by;
  }
  route.found = "to " + group + ": " + what_happened(result);
  route.level = severity::fail;
  if (is_missing_route(result))
    route.fixes = {make_route(best_of(all, wish.url.ttl), wish)};
  else
    route.fixes = mend(result, "");
  if (!wish.url.interface.empty() || wish.url.ttl == 0) {
    route.level = severity::note;
    route.found += wish.url.interface.empty() ? "; ORC's programs need none with ttl=0"
                                              : "; ORC's programs take " + wish.url.interface + ", as the URL says";
    route.found += ", but LCM's do not work";
  }
  add(std::move(route));
  return {};
}

std::vector<std::string> mend_transport(const probe_result& result, const multicast_wish& wish,
                                        const std::vector<network_interface>& all) {
  if (result.reached == probe_step::find_interface) return mend(result, "");
  const bool v4 = wish.url.group.is_v4();
  if (!v4 && wish.url.ttl == 0 && is_missing_route(result)) return {make_route(best_of(all, 0), wish)};
  if (!wish.url.interface.empty()) return mend(result, wish.url.interface);
  if (wish.url.ttl == 0) return mend(result, "lo");
  if (is_missing_route(result)) return {make_route(best_of(all, wish.url.ttl), wish)};
  return mend(result, "");
}

// ORC's way, with the transport's own sockets.
void check_transport(const examine& add, const multicast_wish& wish, const std::vector<network_interface>& all) {
  const std::string& named = wish.url.interface;  // may be an address or none of this host's
  const auto result = transport_round_trip(wish.url);
  const bool works = result.reached == probe_step::done;
  finding own{severity::ok, "multicast interface", "of the URL, " + named + ": ", {}};
  if (named.empty()) {
    own.name = "multicast transport";
    own.found = "with ttl=" + std::to_string(wish.url.ttl) + " ORC's programs ";
    own.found += works ? "send by " + result.by + ", and " : "cannot send: ";
  }
  own.found += what_happened(result);
  const bool may_leave = works && named.empty() && wish.url.ttl == 0 && result.by != "lo";
  if (!works || may_leave) own.level = severity::fail;
  if (!works) own.fixes = mend_transport(result, wish, all);
  add(std::move(own));
}

probe_result round_trip_by(const network_interface& interface, wire::multicast_url url) {
  url.interface = interface.name;
  if (!url.group.is_v4()) url.ttl = interface.loopback ? 0 : 1;  // with 0 it would be lo; the probe stays here anyway
  return transport_round_trip(std::move(url));
}

void check_interfaces(const examine& add, const multicast_wish& wish, const std::vector<network_interface>& all,
                      const std::string& chosen) {
  for (const network_interface& each : all) {
    if (!each.loopback && (!each.up || each.address.empty())) continue;
    finding result{severity::ok, "multicast " + each.name, "", {}};
    const std::string address = each.address.empty() ? "" : " (" + each.address + ")";
    if (!each.up) {
      result = {severity::note, result.name, "the interface is down", {as_root("ip link set " + each.name + " up")}};
    } else if (const auto trip = round_trip_by(each, wish.url); trip.reached != probe_step::done) {
      const bool matters = each.name == chosen || each.name == wish.url.interface || each.address == wish.url.interface;
      result = {matters ? severity::fail : severity::note, result.name, what_happened(trip) + address,
                mend(trip, each.name)};
    } else {
      result.found = what_happened(trip) + address;
    }
    add(std::move(result));
  }
}

void check_port(const examine& add, const multicast_wish& wish) {
  const std::string port = std::to_string(wish.url.port);
  finding result{severity::ok, "multicast port", port + " can be shared", {}};
  const int of_orc = try_port(wish.url, bind_to::group);
  const int of_lcm = wish.url.group.is_v4() ? try_port(wish.url, bind_to::any) : 0;
  if (of_orc != 0 || of_lcm != 0) {
    const int why = of_orc != 0 ? of_orc : of_lcm;
    result.level = of_orc != 0 ? severity::fail : severity::note;
    result.found = port + ": " + std::strerror(why);
    if (why == EADDRINUSE) {
      result.found += ", a program has it for itself alone; find it, and end it";
      result.fixes = {as_root("ss -ulpn 'sport = :" + port + "'")};
    }
    if (of_orc == 0) result.found += " (ORC's programs can share it, LCM's cannot)";
  }
  add(std::move(result));
}

}  // namespace

void check_receive_buffer(const examine& add, const multicast_wish& wish) {
  const std::size_t asked = wish.url.receive_buffer;
  const auto granted = try_receive_buffer(asked);
  const std::string wanted = std::to_string(asked) + " bytes are asked for";
  finding result{severity::ok, "receive buffer", wanted + " and granted", {}};
  if (granted.plain < asked) {
    result.found = wanted + ", " + std::to_string(granted.plain) + " granted (net.core.rmem_max)";
    if (granted.privileged >= asked)
      result.found += "; this user may pass the limit, others may not";
    else
      result.found += ": large samples lose parts when they come faster than they are read";
    const bool fails = wish.buffer_is_asked_for && granted.privileged < asked;
    result.level = fails ? severity::fail : severity::note;
    result.fixes = set_kernel_parameter("net.core.rmem_max", std::to_string(asked));
  }
  add(std::move(result));
}

void check_multicast(const examine& add, const multicast_wish& wish) {
  const bool v4 = wish.url.group.is_v4();
  const auto interfaces = network_interfaces(v4 ? AF_INET : AF_INET6);
  std::string chosen;
  if (v4)
    chosen = check_route(add, wish, interfaces);
  else
    add({severity::note,
         "multicast route",
         "not checked for LCM's programs: " + wish.url.group.text() + " is an IPv6 group, which they do not have",
         {}});
  check_transport(add, wish, interfaces);
  check_interfaces(add, wish, interfaces, chosen);
  check_port(add, wish);
}

}  // namespace orc::cli
