// Programs that talk over multicast, started by a test: ORC, liblcm's C API (Debian's version) and Python's lcm (the
// newer one of PyPI). See peer.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/child_process.h"

namespace orc::test {

enum class kind { orc, lcm, python };

[[nodiscard]] std::string to_string(kind which);
// Why a test cannot have such a peer; nothing when it can.
[[nodiscard]] std::optional<std::string> missing(kind which);
// A program that came with Python's lcm: lcm-gen, lcm-logger, …
[[nodiscard]] std::string of_venv(const std::string& name);

// The largest message that liblcm sends as one datagram on a channel.
[[nodiscard]] constexpr std::size_t max_single(std::string_view channel) { return 65499 - 1 - channel.size(); }

struct received {
  std::string channel;
  std::size_t size = 0;
  std::uint32_t crc = 0;
  std::uint32_t life = 0;
  std::uint32_t number = 0;
  bool right = false;  // the receiver's verdict
};

// What `number` of `life` is like: CRC and size are computed here, not by the peer.
[[nodiscard]] bool is_told(const received& message, std::size_t size);

class peer {
 public:
  // `verb` and `words` as peer.h says; `in_front`: `ip netns exec …`. Returns when it is ready.
  peer(kind which, const std::string& verb, std::vector<std::string> words, std::vector<std::string> in_front = {});
  // Ends it in order, so that what a sanitizer has to say is heard: a status other than 0 is a failure.
  ~peer();
  peer(peer&&) noexcept = default;
  peer& operator=(peer&&) = delete;

  // The next message; nothing when none comes in time.
  [[nodiscard]] std::optional<received> next(std::chrono::milliseconds within = patience);
  // What has come and was not taken by next().
  [[nodiscard]] std::vector<received> rest(std::chrono::milliseconds quiet_for);
  void tell(const std::string& line) { process_.write_line(line); }
  [[nodiscard]] std::optional<std::string> line(std::chrono::milliseconds within = patience) {
    return process_.read_line(within);
  }

 private:
  child_process process_;
};

// `count` messages, 0: until it is destroyed.
struct stream {
  std::uint32_t life = 1;
  std::size_t size = 0;
  unsigned count = 0;
  double hz = 0;
};
[[nodiscard]] peer send(kind which, const std::string& url, const std::string& channel, const stream& what,
                        std::vector<std::string> in_front = {});

}  // namespace orc::test
