// A broker on host 0, a publisher on 1, a subscriber on 2, and a stream of 100 Hz, all of it in order: what outages are
// tried on. Throws std::runtime_error when a program does not do what it is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "network/lab.h"

namespace orc::test {

class three_hosts {
 public:
  explicit three_hosts(lab& hosts);

  [[nodiscard]] std::uint64_t received() { return subscriber_->stats("pose").received; }
  [[nodiscard]] std::uint64_t missed() { return subscriber_->stats("pose").missed; }
  [[nodiscard]] bool is_linked() { return !subscriber_->ask("link pose").starts_with("none"); }
  // Does the broker know the publisher?
  [[nodiscard]] bool is_published();
  [[nodiscard]] std::int64_t slowest_send_us() { return publisher_->progress("pose").slowest_us; }

  struct cut {
    std::size_t host;
    outage how;
    std::optional<std::size_t> from = {};  // of that one only
  };
  // Milliseconds after the path is back until a sample arrives, and until the subscriber hears of a topic that was
  // registered meanwhile; -1: they did not.
  struct recovery {
    std::int64_t stream_ms = -1;
    std::int64_t map_ms = -1;
  };
  [[nodiscard]] recovery after(const cut& what, std::chrono::milliseconds length);
  // One outage that ends every connection of a host; back when samples arrive and the broker knows the publisher.
  void reset(std::size_t host);

  // Of broker, publisher and subscriber.
  struct footprint {
    std::size_t fds[3] = {};
    std::size_t rss_kib[3] = {};
  };
  [[nodiscard]] footprint footprints();

 private:
  lab& hosts_;
  lab_broker broker_;
  std::unique_ptr<test_node> publisher_;
  std::unique_ptr<test_node> subscriber_;
  int outages_ = 0;
};

}  // namespace orc::test
