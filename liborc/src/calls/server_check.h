// Asks the broker whether the program that answers a client is the one that serves the service. Any program can
// register a client's reply topic.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace orc::detail {

// One thread at a time. The question has a thread of its own, because it may wait for the broker.
class server_check {
 public:
  struct answer {
    enum class server : std::uint8_t { same, other, unpublished, no_broker };
    server is = server::no_broker;
    std::string who = {};  // other: its name and pid
  };

  server_check() noexcept = default;
  ~server_check();
  server_check(const server_check&) = delete;
  server_check& operator=(const server_check&) = delete;

  // Waits at most `patience` for each of two answers of the broker. Calls `answered` once from the other thread, unless
  // stop() comes before. Call it again only when `answered` has been called. Throws std::system_error.
  void start(std::string broker, std::string service, std::string replies, std::chrono::milliseconds patience,
             std::function<void(const answer&)> answered);
  // Waits for the thread, which waits for the broker no longer.
  void stop() noexcept;

 private:
  std::thread thread_;
  int stop_ = -1;  // eventfd
};

}  // namespace orc::detail
