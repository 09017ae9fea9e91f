// orc doctor --to HOST: do samples get from this host to another one, and back?
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/network/host_addresses.h"
#include "orc/version.h"
#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_conversation.h"
#include "tools/orc/doctor/group_probe.h"
#include "tools/orc/text.h"
#include "wire/control.h"

namespace orc::cli {

namespace {

using clock = detail::stop_signal::clock;

constexpr int clock_questions = 10;
constexpr double noticeable_ms = 5;  // a sample's age is wrong by as much
constexpr auto multicast_patience = std::chrono::milliseconds(500);
constexpr auto look_again = std::chrono::milliseconds(20);

std::string new_word() { return wire::id::random().hex(); }

double ms_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::string without_brackets(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

std::string why_not(const std::optional<std::string>& answer) {
  if (!answer) return "the other doctor does not answer any more";
  return answer->starts_with("no ") ? answer->substr(3) : *answer;
}

const std::vector<std::string> look_at_firewalls = {as_root("nft list ruleset")};
const std::vector<std::string> probe_the_mtu = {as_root("sysctl -w net.ipv4.tcp_mtu_probing=1") + "   # on both"};

// What the other side says about itself.
struct other_host {
  detail::ip_port data;
  std::string multicast;
  std::string name;
};

std::optional<other_host> introduced(doctor_line& line, const detail::ip_address& address,
                                     const detail::stop_signal& stop) {
  const auto answer = line.ask(doctor_greeting, stop);
  const std::string expected = std::string(doctor_greeting) + " ";
  if (!answer || !answer->starts_with(expected)) return std::nullopt;
  std::istringstream words(answer->substr(expected.size()));
  other_host other{{address, 0}, {}, {}};
  words >> other.data.port >> other.multicast;
  std::getline(words >> std::ws, other.name);
  if (other.data.port == 0) return std::nullopt;
  return other;
}

void check_clocks(const examine& add, doctor_line& line, const detail::stop_signal& stop) {
  double best_ms = std::numeric_limits<double>::infinity();
  double offset_ms = 0;
  for (int n = 0; n < clock_questions; ++n) {
    const auto before = clock::now();
    const auto here = std::chrono::system_clock::now().time_since_epoch();
    const auto answer = line.ask("time", stop);
    const double trip_ms = ms_between(before, clock::now());
    std::int64_t there_ns = 0;
    if (!answer || std::from_chars(answer->data(), answer->data() + answer->size(), there_ns).ec != std::errc()) return;
    if (trip_ms >= best_ms) continue;
    best_ms = trip_ms;
    const double here_ms = std::chrono::duration<double, std::milli>(here).count();
    offset_ms = static_cast<double>(there_ns) / 1e6 - here_ms - trip_ms / 2;
  }
  const bool apart = std::abs(offset_ms) - best_ms / 2 > noticeable_ms;
  finding clocks{apart ? severity::note : severity::ok,
                 "clocks",
                 fixed(std::abs(offset_ms), 1) + " ms apart, give or take " + fixed(best_ms / 2, 1) + " ms",
                 {}};
  if (apart) {
    clocks.found += ": the ages of messages, and max_age, are wrong by as much";
    clocks.fixes = {as_root("apt install chrony")};
  }
  add(std::move(clocks));
}

void check_data_port_there(const examine& add, const other_host& other, const detail::stop_signal& stop) {
  const auto before = clock::now();
  auto made = doctor_line::connect(other.data, stop);
  const double took_ms = ms_between(before, clock::now());
  if (!made)
    add({severity::fail, "data ports there", other.data.text() + ": " + made.error().message(), look_at_firewalls});
  else if (!made->carries_full_packets(stop))
    add({severity::fail, "data ports there", other.data.text() + ": connected" + loses_full_packets, probe_the_mtu});
  else
    add({severity::ok, "data ports there", other.data.text() + " was reached in " + fixed(took_ms, 1) + " ms", {}});
}

void check_data_port_here(const examine& add, doctor_line& line, const detail::stop_signal& stop) {
  std::uint16_t port = 0;
  const auto door = listen_on_data_port(port);
  if (!door) return add({severity::fail, "data ports here", door.error().message(), {}});
  const auto answer = line.ask("connect " + std::to_string(port), stop);
  if (answer == "ok")
    add({severity::ok, "data ports here", "port " + std::to_string(port) + " was reached from there", {}});
  else
    add({severity::fail, "data ports here", "from there, port " + std::to_string(port) + ": " + why_not(answer),
         answer && answer->ends_with(loses_full_packets) ? probe_the_mtu : look_at_firewalls});
}

// Asks until it is so, or the time for a datagram is over.
template <typename Condition>
bool comes_true(const detail::stop_signal& stop, Condition&& condition) {
  const auto until = clock::now() + multicast_patience;
  while (!condition()) {
    if (clock::now() >= until || stop.wait_until(clock::now() + look_again)) return false;
  }
  return true;
}

finding multicast_heard(const std::string& name, std::string what, bool also_large, std::size_t largest) {
  if (also_large) return {severity::ok, name, std::move(what), {}};
  what += ", but no datagrams of " + std::to_string(largest) +
          " bytes: an MTU on the way is smaller. ORC then sends smaller ones, LCM programs do not";
  return {severity::note, name, std::move(what), {as_root("ip link set eth0 mtu 1400") + "   # as the way allows"}};
}

void check_multicast_there(const examine& add, doctor_line& line, group_probe& group, const detail::stop_signal& stop) {
  std::optional<std::string> from;
  const auto is_heard = [&](group_probe::size how) {
    const std::string word = new_word();
    return group.send(word, how) && comes_true(stop, [&] {
             auto answer = line.ask("heard " + word, stop);
             if (answer == "no") return false;
             if (how == group_probe::size::small) from = std::move(answer);
             return true;
           });
  };
  if (const auto sent = group.send(new_word(), group_probe::size::small); !sent)
    return add({severity::fail, "multicast there", "cannot send: " + sent.error().message(), {}});
  if (is_heard(group_probe::size::small) && from)
    add(multicast_heard("multicast there", "what is sent here is heard there, from " + *from,
                        is_heard(group_probe::size::large), group.largest()));
  else
    add({severity::fail, "multicast there",
         "what is sent here is not heard there: a firewall, a switch that does not pass it on (IGMP snooping), or a "
         "router with a ttl that is too small",
         look_at_firewalls});
}

void check_multicast_here(const examine& add, doctor_line& line, group_probe& group, const detail::stop_signal& stop) {
  std::optional<std::string> sent;
  const auto heard = [&](const std::string& how) {
    const std::string word = new_word();
    sent = line.ask("send " + word + how, stop);
    std::optional<std::string> from;
    if (sent == "ok") (void)comes_true(stop, [&] { return (from = group.heard(word)).has_value(); });
    return from;
  };
  const auto from = heard("");
  if (sent != "ok") return add({severity::fail, "multicast here", "cannot be sent there: " + why_not(sent), {}});
  if (from)
    add(multicast_heard("multicast here", "what is sent there is heard here, from " + *from,
                        heard(" large").has_value(), group.largest()));
  else
    add({severity::fail, "multicast here", "what is sent there is not heard here: the same causes", look_at_firewalls});
}

void check_multicast_between(const examine& add, const wire::multicast_url& url, const other_host& other,
                             doctor_line& line, const detail::stop_signal& stop) {
  if (url.ttl == 0)
    return add({severity::note,
                "multicast between",
                "not tried: " + url.text() + " stays on this host",
                {"export ORC_MULTICAST='udpm://239.255.76.67:7667?ttl=1'   # there as well"}});
  const auto theirs = wire::multicast_url::parse(other.multicast);
  const bool same = theirs && theirs->ttl != 0 && theirs->port == url.port && theirs->group == url.group;
  if (!same)
    return add({severity::fail,
                "multicast between",
                "here " + url.text() + ", there " + other.multicast + ": they do not meet",
                {"export ORC_MULTICAST=" + shell_word(url.text()) + "   # there"}});
  auto opened = group_probe::open(url);
  if (!opened) return add({severity::fail, "multicast between", opened.error().message(), {"orc doctor"}});
  check_multicast_there(add, line, *opened, stop);
  check_multicast_here(add, line, *opened, stop);
}

}  // namespace

void check_other_host(const examine& add, const std::string& host, std::uint16_t port, const wire::multicast_url& url,
                      const detail::stop_signal& stop) {
  const auto addresses = detail::addresses_of_host(without_brackets(host));
  if (addresses.empty())
    return add({severity::fail, "other host", "there is no host '" + host + "'", {"getent hosts " + shell_word(host)}});
  std::string failures;
  for (const auto& address : addresses) {
    const detail::ip_port at{address, port};
    const auto before = clock::now();
    auto made = doctor_line::connect(at, stop);
    if (stop.raised()) return;
    if (!made) {
      failures += (failures.empty() ? "" : "; ") + at.text() + ": " + made.error().message();
      continue;
    }
    auto& line = *made;
    const auto other = introduced(line, address, stop);
    if (!other) {
      failures += (failures.empty() ? "" : "; ") + at.text() + ": something else answers there";
      continue;
    }
    add({severity::ok,
         "other host",
         other->name + " (" + at.text() + ") answers after " + fixed(ms_between(before, clock::now()), 1) + " ms",
         {}});
    check_clocks(add, line, stop);
    check_data_port_there(add, *other, stop);
    check_data_port_here(add, line, stop);
    check_multicast_between(add, url, *other, line, stop);
    return;
  }
  add({severity::fail, "other host", failures, {"orc doctor --answer   # there"}});
}

}  // namespace orc::cli
