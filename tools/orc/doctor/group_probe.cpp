#include "tools/orc/doctor/group_probe.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "transport/multicast/socket/multicast_socket.h"

namespace orc::cli {

namespace {

namespace multicast = detail::multicast;

constexpr const char* channel = "orc doctor";
constexpr int copies = 3;
constexpr std::size_t max_arrivals = 100;
constexpr int max_at_once = 1000;  // datagrams: whoever sends more must not keep us here

// What LCM's format has in front of a short message.
std::string head() { return "LC02" + std::string(4, '\0') + channel + '\0'; }

}  // namespace

detail::expected<group_probe> group_probe::open(const wire::multicast_url& url) {
  auto in = multicast::open_receiver(url, multicast::channel_filter(channel, std::nullopt));
  if (!in) return in.error();
  if (url.ttl != 0 && multicast::join_network(in->get(), url) == 0)
    return error(errc::system_error, "the group cannot be joined: no interface has a route to it");
  auto out = multicast::open_sender(url);
  if (!out) return out.error();
  const auto largest = multicast::datagram_size(out->get(), url);
  return group_probe(*std::move(in), *std::move(out), largest);
}

result group_probe::send(const std::string& word, size how) {
  std::string datagram = head() + word;
  if (how == size::large) datagram.resize(largest_, ' ');
  for (int n = 0; n < copies; ++n) {  // it is connected to the group
    if (::send(out_.get(), datagram.data(), datagram.size(), 0) < 0) return {errc::system_error, std::strerror(errno)};
  }
  return {};
}

void group_probe::listen() {
  std::array<char, 256> bytes{};
  for (int n = 0; n < max_at_once; ++n) {
    detail::socket_address from;
    const auto count = ::recvfrom(in_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, from.get(), from.room());
    if (count < 0) return;
    const std::string_view datagram(bytes.data(), static_cast<std::size_t>(count));
    if (!datagram.starts_with(head())) continue;
    const auto word = datagram.substr(head().size());  // of a large one, followed by spaces
    arrivals_.push_back(
        {std::string(word.substr(0, word.find(' '))), from.value().value_or(detail::ip_port{}).address.text()});
    if (arrivals_.size() > max_arrivals) arrivals_.pop_front();
  }
}

std::optional<std::string> group_probe::heard(const std::string& word) {
  listen();
  const auto found =
      std::find_if(arrivals_.begin(), arrivals_.end(), [&](const arrival& each) { return each.word == word; });
  if (found == arrivals_.end()) return std::nullopt;
  return found->from;
}

}  // namespace orc::cli
