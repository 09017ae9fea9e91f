#include "tools/orc/doctor/multicast_probe.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "transport/multicast/socket/multicast_interface.h"
#include "transport/multicast/socket/multicast_socket.h"
#include "wire/control.h"

namespace orc::cli {

namespace {

using clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::milliseconds(300);

class udp_socket {
 public:
  explicit udp_socket(sa_family_t family = AF_INET) noexcept
      : fd_(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~udp_socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  udp_socket(const udp_socket&) = delete;
  udp_socket& operator=(const udp_socket&) = delete;

  explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  template <typename Value>
  [[nodiscard]] bool set(int level, int name, const Value& value) const noexcept {
    return ::setsockopt(fd_, level, name, &value, sizeof value) == 0;
  }
  [[nodiscard]] bool bind(const detail::socket_address& address) const noexcept {
    return ::bind(fd_, address.get(), address.size()) == 0;
  }

 private:
  int fd_;
};

struct arrival {
  bool came = false;
  std::string by;
};

// Of a channel that nobody else has: what LCM's format needs of a message.
std::string new_channel() { return "orc doctor " + wire::id::random().hex(); }
std::string message_on(const std::string& channel) { return "LC02" + std::string(4, '\0') + channel + '\0'; }

// Index of the interface that a datagram came by; 0: it does not say.
unsigned interface_in(const cmsghdr& control) {
  if (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_PKTINFO) {
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(&control), sizeof info);
    return static_cast<unsigned>(info.ipi_ifindex);
  }
  if (control.cmsg_level != IPPROTO_IPV6 || control.cmsg_type != IPV6_PKTINFO) return 0;
  in6_pktinfo info{};
  std::memcpy(&info, CMSG_DATA(&control), sizeof info);
  return static_cast<unsigned>(info.ipi6_ifindex);
}

arrival receive(int fd, const std::string& expected) {
  std::array<char, 128> bytes{};
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, 256> control{};  // the transport asks for a time too
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto size = ::recvmsg(fd, &message, 0);
  if (size < 0 || std::string_view(bytes.data(), static_cast<std::size_t>(size)) != expected) return {};
  arrival found{true, ""};
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    std::array<char, IF_NAMESIZE> name{};
    if (const unsigned by = interface_in(*each); by != 0 && ::if_indextoname(by, name.data()) != nullptr)
      found.by = name.data();
  }
  return found;
}

arrival wait_for(int fd, const std::string& expected) {
  const auto end = clock::now() + patience;
  for (auto now = clock::now(); now < end; now = clock::now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    pollfd item{fd, POLLIN, 0};
    if (::poll(&item, 1, static_cast<int>(left.count())) <= 0) continue;
    if (auto found = receive(fd, expected); found.came) return found;
  }
  return {};
}

bool tells_interface(int receiver, const wire::multicast_url& url) {
  const int on = 1;
  return url.group.is_v4() ? ::setsockopt(receiver, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) == 0
                           : ::setsockopt(receiver, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) == 0;
}

bool stays_here(int sender, const wire::multicast_url& url) {
  const int off = 0;
  return url.group.is_v4() ? ::setsockopt(sender, IPPROTO_IP, IP_MULTICAST_TTL, &off, sizeof off) == 0
                           : ::setsockopt(sender, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &off, sizeof off) == 0;
}

probe_result ended(probe_step step, int why) { return {step, why, "", 0}; }

// To where `in` is bound.
probe_result send_and_wait(int in, int out, const std::string& message) {
  detail::socket_address to;
  (void)::getsockname(in, to.get(), to.room());
  const auto before = clock::now();
  if (::sendto(out, message.data(), message.size(), 0, to.get(), to.size()) < 0) return ended(probe_step::send, errno);
  auto found = wait_for(in, message);
  if (!found.came) return ended(probe_step::receive, 0);
  return {probe_step::done, 0, std::move(found.by),
          std::chrono::duration<double, std::milli>(clock::now() - before).count()};
}

}  // namespace

probe_result lcm_round_trip(const detail::ip_address& group) {
  ip_mreqn by{};
  by.imr_multiaddr = group.v4();
  const udp_socket in;
  const udp_socket out;
  const int on = 1;
  const int off = 0;
  if (!in || !out || !in.bind(detail::socket_address({group, 0})) || !in.set(IPPROTO_IP, IP_PKTINFO, on) ||
      !in.set(IPPROTO_IP, IP_MULTICAST_ALL, off) || !out.set(IPPROTO_IP, IP_MULTICAST_TTL, off))
    return ended(probe_step::socket, errno);
  if (!in.set(IPPROTO_IP, IP_ADD_MEMBERSHIP, by)) return ended(probe_step::join, errno);
  return send_and_wait(in.fd(), out.fd(), message_on(new_channel()));
}

probe_result transport_round_trip(wire::multicast_url url) {
  namespace multicast = detail::multicast;
  if (!multicast::named_interface(url)) return ended(probe_step::find_interface, ENODEV);
  const std::string channel = new_channel();
  url.port = 0;  // a free one
  url.receive_buffer = 4096;
  const auto receiver = multicast::open_receiver(url, multicast::channel_filter(channel, std::nullopt));
  if (!receiver) return ended(probe_step::join, errno);
  url.port = multicast::address_of(receiver->get()).port;
  const auto sender = multicast::open_sender(url);
  if (!sender) return ended(probe_step::send, errno);
  if (!tells_interface(receiver->get(), url) || !stays_here(sender->get(), url))
    return ended(probe_step::socket, errno);
  return send_and_wait(receiver->get(), sender->get(), message_on(channel));
}

std::vector<network_interface> network_interfaces(sa_family_t family) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<network_interface> all;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == each->ifa_name; });
    if (known == all.end()) {
      const auto has = [&](unsigned flag) { return (each->ifa_flags & flag) != 0; };
      known = all.insert(all.end(), {each->ifa_name, "", has(IFF_UP), has(IFF_LOOPBACK), has(IFF_MULTICAST)});
    }
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family || !known->address.empty()) continue;
    if (const auto has = detail::ip_port::of(*each->ifa_addr)) known->address = has->address.text();
  }
  return all;
}

int try_port(const wire::multicast_url& url, bind_to where) {
  const auto by = detail::multicast::named_interface(url);
  const int interface = by && by->index != 0 ? by->index : detail::multicast::loopback;
  const auto group = detail::multicast::group_at(url, interface);
  const udp_socket socket(group.family());
  const int on = 1;
  if (!socket || !socket.set(SOL_SOCKET, SO_REUSEADDR, on)) return errno;
  const auto any = url.group.is_v4() ? detail::ip_address::any_v4() : detail::ip_address{};
  return socket.bind(where == bind_to::group ? group : detail::socket_address({any, url.port})) ? 0 : errno;
}

granted_buffer try_receive_buffer(std::size_t bytes) {
  const udp_socket socket;
  const int wanted = static_cast<int>(bytes);
  const auto granted = [&]() -> std::size_t {
    int got = 0;
    socklen_t size = sizeof got;
    if (::getsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &got, &size) != 0) return 0;
    return static_cast<std::size_t>(got) / 2;  // the kernel doubles it, for its own part
  };
  granted_buffer answer;
  if (socket.set(SOL_SOCKET, SO_RCVBUF, wanted)) answer.plain = granted();
  (void)socket.set(SOL_SOCKET, SO_RCVBUFFORCE, wanted);
  answer.privileged = granted();
  return answer;
}

}  // namespace orc::cli
