// Words to and from a multicast group, on a channel of their own and with the sockets of the transport: what leaves
// here and arrives on another host. For `orc doctor --to` and `--answer`.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "wire/multicast_url.h"

namespace orc::cli {

class group_probe {
 public:
  [[nodiscard]] static detail::expected<group_probe> open(const wire::multicast_url& url);

  // Sends it, more than once: datagrams may get lost. Large: in one as large as the transport sends.
  enum class size { small, large };
  [[nodiscard]] result send(const std::string& word, size how);
  // Of a large datagram, in bytes.
  [[nodiscard]] std::size_t largest() const { return largest_; }
  // Where a word came from that arrived so far: the last hundred are remembered.
  [[nodiscard]] std::optional<std::string> heard(const std::string& word);

 private:
  group_probe(detail::unique_fd in, detail::unique_fd out, std::size_t largest)
      : in_(std::move(in)), out_(std::move(out)), largest_(largest) {}
  void listen();

  struct arrival {
    std::string word;
    std::string from;
  };
  detail::unique_fd in_;
  detail::unique_fd out_;
  std::size_t largest_;
  std::deque<arrival> arrivals_;
};

}  // namespace orc::cli
