// Attacks on the links of publications that the broker shows: strangers, readers that never read, floods.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "attacker/attack.h"
#include "wire/link_message.h"

namespace orc::test {

namespace {

struct victim {
  wire::id publication;
  wire::endpoint where;
  std::vector<wire::id> subscriptions;
};

std::optional<victim> any_of(battlefield& field, std::initializer_list<wire::transport> transports) {
  std::vector<victim> found;
  for (const auto& topic : topics_of(field)) {
    if (!topic.publication) continue;
    for (const auto& endpoint : topic.publication->endpoints) {
      if (std::find(transports.begin(), transports.end(), endpoint.transport) == transports.end()) continue;
      found.push_back({topic.publication->publication, endpoint, {}});
      for (const auto& each : topic.subscriptions) found.back().subscriptions.push_back(each.subscription);
    }
  }
  if (found.empty()) return std::nullopt;
  return found[field.below(found.size())];
}

std::optional<victim> any_stream(battlefield& field) {
  return any_of(field, {wire::transport::ipc, wire::transport::tcp});
}

std::string hello_for(const victim& of, const wire::id& subscription, std::uint32_t depth) {
  const auto bytes = wire::encode(wire::link_message{
      .kind = wire::link_kind::hello, .publication = of.publication, .subscription = subscription, .depth = depth});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void strangers(battlefield& field) {
  const auto at = any_of(field, {wire::transport::ipc, wire::transport::tcp, wire::transport::shm});
  std::vector<line> all;
  while (at && field.goes_on() && all.size() < 1100) all.emplace_back(at->where.address);
  while (field.goes_on() && !all.empty()) {
    (void)all.back().hear(std::chrono::milliseconds(20));
    all.pop_back();
  }
}

void come_and_go(battlefield& field) {
  const auto at = any_of(field, {wire::transport::ipc, wire::transport::tcp, wire::transport::shm});
  while (at && field.goes_on()) {
    line each(at->where.address);
    if (field.below(2) == 0) each.introduce();
    each.reset();
  }
}

void join_as_another(battlefield& field) {
  const auto at = any_stream(field);
  if (!at) return;
  std::vector<line> all;
  for (const auto& subscription : at->subscriptions) {
    all.emplace_back(at->where.address);
    all.back().introduce();
    all.back().say_frame(hello_for(*at, subscription, 0));
  }
  while (field.goes_on() && !all.empty()) {
    (void)all.back().hear();
    all.pop_back();
  }
}

// In order, with the greatest depth, and never reading.
void lag(battlefield& field) {
  const auto at = any_stream(field);
  std::vector<line> all;
  while (at && field.goes_on() && all.size() < 100) {
    all.emplace_back(at->where.address);
    all.back().introduce();
    all.back().say_frame(hello_for(*at, wire::id::random(), 65'536));
  }
  while (field.goes_on() && !all.empty() && all.front().push("") >= 0) (void)all.back().hear();
}

void flood(battlefield& field) {
  const auto at = any_stream(field);
  if (!at) return;
  line to(at->where.address);
  to.introduce();
  std::string piece;
  switch (field.below(4)) {
    case 0: piece = frame_of(std::string("\4PING\0\0", 7), 4); break;
    case 1: piece = frame_of(std::string(200, 'x'), 1); break;
    case 2: piece = frame_of(hello_for(*at, wire::id::random(), 0)); break;
    default: piece = std::string(64, static_cast<char>(field.random())); break;
  }
  std::string many;
  while (many.size() < 60'000) many += piece;
  while (field.goes_on() && to.say(many)) {
  }
}

void shm_packets(battlefield& field) {
  const auto at = any_of(field, {wire::transport::shm});
  if (!at) return;
  std::vector<line> all;
  while (field.goes_on() && all.size() < 40) {
    std::string packet(64, '\0');
    for (char& each : packet) each = static_cast<char>(field.random());
    std::memcpy(packet.data(), "OSHM\1", 5);
    packet[5] = static_cast<char>(field.below(4) == 0 ? field.below(12) : 1);
    if (field.below(4) != 0) std::memcpy(packet.data() + 8, &at->publication, 16);
    const auto pins = static_cast<std::uint32_t>(field.below(70));
    const std::uint32_t depth = field.below(2) == 0 ? 0 : static_cast<std::uint32_t>(field.random() % 70'000);
    std::memcpy(packet.data() + 40, &pins, 4);
    std::memcpy(packet.data() + 44, &depth, 4);
    all.emplace_back(at->where.address);
    for (int n = 0; n < 3; ++n) all.back().push(packet);
    if (field.below(3) == 0) all.erase(all.begin());
  }
}

// Reports and announcements that nobody asked for, to the group and to where reports are taken.
void multicast_datagrams(battlefield& field) {
  const auto at = any_of(field, {wire::transport::multicast});
  if (!at) return;
  const detail::unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int ttl = 0;
  ::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl);
  const in_addr loopback{htonl(INADDR_LOOPBACK)};
  ::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback);
  const auto address_in = [&](std::size_t start) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    const auto colon = at->where.address.find(':', start);
    ::inet_pton(AF_INET, at->where.address.substr(start, colon - start).c_str(), &to.sin_addr);
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(at->where.address.c_str() + colon + 1)));
    return to;
  };
  const auto group = address_in(std::strlen("udpm://"));
  const auto from = at->where.address.find("from=");
  const auto reports = from == std::string::npos ? group : address_in(from + 5);
  while (field.goes_on()) {
    std::string datagram(48 + field.below(100), '\0');
    for (char& each : datagram) each = static_cast<char>(field.random());
    std::memcpy(datagram.data(), "ORCM", 4);
    datagram[4] = static_cast<char>(1 + field.below(2));
    datagram[5] = static_cast<char>(1 + field.below(5));
    for (std::size_t n = 0; n < 8; ++n) {
      datagram[8 + n] = static_cast<char>(at->publication.hi >> (56 - 8 * n));
      datagram[16 + n] = static_cast<char>(at->publication.lo >> (56 - 8 * n));
    }
    const auto& to = field.below(2) == 0 ? group : reports;
    ::sendto(fd.get(), datagram.data(), datagram.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to),
             sizeof to);
  }
}

}  // namespace

const std::vector<attack>& attacks_on_publishers() {
  static const std::vector<attack> all{
      {"strangers", strangers}, {"come and go", come_and_go}, {"join as another", join_as_another},        {"lag", lag},
      {"flood", flood},         {"shm packets", shm_packets}, {"multicast datagrams", multicast_datagrams}};
  return all;
}

}  // namespace orc::test
