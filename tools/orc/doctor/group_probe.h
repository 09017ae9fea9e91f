// Words to and from a multicast group, on a channel of their own and with the sockets of the transport: what leaves
// here and arrives on another host. For `orc doctor --to` and `--answer`.
#pragma once

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

  // Sends it, more than once: datagrams may get lost.
  [[nodiscard]] result send(const std::string& word);
  // Where a word came from that arrived so far: the last hundred are remembered.
  [[nodiscard]] std::optional<std::string> heard(const std::string& word);

 private:
  group_probe(detail::unique_fd in, detail::unique_fd out) : in_(std::move(in)), out_(std::move(out)) {}
  void listen();

  struct arrival {
    std::string word;
    std::string from;
  };
  detail::unique_fd in_;
  detail::unique_fd out_;
  std::deque<arrival> arrivals_;
};

}  // namespace orc::cli
