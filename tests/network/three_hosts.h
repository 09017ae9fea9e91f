// A broker on host 0, a publisher on 1, a subscriber on 2, and a stream of 100 Hz, all of it in order: what outages are
// tried on. Over multicast there may be no broker. Throws std::runtime_error when a program does not do what it is
// told.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "network/lab.h"

namespace orc::test {

class three_hosts {
 public:
  explicit three_hosts(lab& hosts, std::string transport = "tcp", bool with_broker = true);

  [[nodiscard]] test_node::collected heard() { return subscriber_->stats("pose"); }
  [[nodiscard]] std::uint64_t received() { return heard().received; }
  [[nodiscard]] std::uint64_t missed() { return heard().missed; }
  // Waits until so many more have arrived.
  void await_samples(std::uint64_t samples);
  // Ends the stream. Returns its last value.
  [[nodiscard]] std::uint64_t last_sent();
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
  // The same for any fault. `samples`: that have to arrive after it.
  [[nodiscard]] recovery after(const std::function<void()>& fail, const std::function<void()>& mend,
                               std::chrono::milliseconds length, std::uint64_t samples);
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
  const std::string transport_;
  const std::string wanted_;  // the transports of a request
  std::optional<lab_broker> broker_;
  std::unique_ptr<test_node> publisher_;
  std::unique_ptr<test_node> subscriber_;
  int outages_ = 0;
};

}  // namespace orc::test
