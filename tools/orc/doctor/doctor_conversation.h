// What `orc doctor --to` and `orc doctor --answer` say to each other: lines of text over tcp. Neither trusts the other:
// lines are short, and every wait has an end.
//
//   asks                      answers
//   orc doctor 1              orc doctor 1 <data port> <multicast URL> <host name>
//   time                      <nanoseconds since 1970>
//   connect <port>            ok | no <why>          connects to that port of who asks, and sends full packets
//   send <token> [large]      ok | no <why>          sends it to its multicast group, in a large datagram
//   heard <token>             <address> | no         did it come by multicast, and from where?
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/ip_address.h"
#include "base/process/stop_signal.h"

namespace orc::cli {

inline constexpr std::uint16_t doctor_port = 5571;
inline constexpr const char* doctor_greeting = "orc doctor 1";
// For a connection between hosts: more than any network of robots takes. And for an answer, which may have to wait for
// a connection.
inline constexpr auto connection_patience = std::chrono::milliseconds(1500);
inline constexpr auto answer_patience = std::chrono::seconds(3);

// Follows "connected".
inline constexpr const char* loses_full_packets =
    ", but full packets do not arrive: an MTU on the way is smaller, and no ICMP says so";

// Non-blocking, listening on all interfaces, for both families. Sets port 0 to the free one it took.
[[nodiscard]] detail::expected<detail::unique_fd> listen_for_doctor(std::uint16_t& port);

// The same on a port that topics may use here: $ORC_PORTS.
[[nodiscard]] detail::expected<detail::unique_fd> listen_on_data_port(std::uint16_t& port);

// One end of a connection.
class doctor_line {
 public:
  explicit doctor_line(detail::unique_fd fd) : fd_(std::move(fd)) {}
  // The error's message follows "10.0.0.2:5571: ".
  [[nodiscard]] static detail::expected<doctor_line> connect(const detail::ip_port& to,
                                                             const detail::stop_signal& stop);

  // False: the other end is gone, or does not read.
  bool say(const std::string& line);
  // The next line. Nothing: none came within answer_patience, it was too long, the other end is gone, or a signal came.
  [[nodiscard]] std::optional<std::string> hear(const detail::stop_signal& stop);
  // Both: nothing when there was no answer.
  [[nodiscard]] std::optional<std::string> ask(const std::string& line, const detail::stop_signal& stop);
  // Sends full packets, which the other end need not read. False: it does not acknowledge them in time, although it
  // accepted the connection.
  [[nodiscard]] bool carries_full_packets(const detail::stop_signal& stop);
  // The other end's address. Nothing: it is gone.
  [[nodiscard]] std::optional<detail::ip_address> peer() const;

 private:
  detail::unique_fd fd_;
  std::string heard_;
};

}  // namespace orc::cli
