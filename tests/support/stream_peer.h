// Either end of an ipc or tcp link as a bare socket, for peers that do not behave: it says what the test wants, and
// reads only when it is asked to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/files/unique_fd.h"
#include "support/budget.h"
#include "wire/link_message.h"

namespace orc::test {

// One frame of ZMTP around `body`. `flags`: wire::zmtp::frame_flag.
[[nodiscard]] std::string zmtp_frame(const std::string& body, int flags = 0);
// What either end says first.
[[nodiscard]] std::string zmtp_introduction(const std::string& socket_type);
// A hello with a secret.
[[nodiscard]] std::string hello_frame(const wire::id& publication, const wire::id& subscription, std::uint64_t secret,
                                      std::uint32_t depth = 0);

class stream_peer {
 public:
  explicit stream_peer(detail::unique_fd fd) : fd_(std::move(fd)) {}
  // Connects to "ipc://path" or "tcp://address:port"; throws when it cannot.
  [[nodiscard]] static stream_peer connected_to(const std::string& endpoint);

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Waits while there is no room. False: the other end is gone, or takes nothing for `deadline`.
  bool say(const std::string& bytes, std::chrono::milliseconds deadline = patience);
  // Body of the next frame that is no command. Nothing at the end, or when none comes in time.
  [[nodiscard]] std::optional<std::string> hear(std::chrono::milliseconds deadline = patience);
  // The next link message, whatever comes before it.
  [[nodiscard]] std::optional<wire::link_message> hear_link_message(std::chrono::milliseconds deadline = patience);
  // Bytes that the other end has not read yet.
  [[nodiscard]] int unsent() const;
  // True once the other end has ended the connection. Throws away what it said before.
  [[nodiscard]] bool is_cut_off();

 private:
  // False: the end.
  bool read_some();

  detail::unique_fd fd_;
  std::string unread_;
  bool greeted_ = false;
};

// A subscription to `topic` of the publication at `endpoint`, welcomed.
[[nodiscard]] stream_peer joined_peer(const std::string& endpoint, const std::string& hello);

// For tests with a thousand connections.
void raise_own_fd_limit();

}  // namespace orc::test
