// A publication without liborc behind it: registered at the broker, a bare ROUTER, says what the test wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "support/broker_process.h"
#include "support/raw_client.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/link_message.h"

namespace orc::test {

[[nodiscard]] std::string sample_frame(std::uint64_t sequence, std::int64_t stamp_ns, const std::string& payload);
[[nodiscard]] std::string link_frame(wire::link_kind kind, const wire::id& publication, const wire::id& subscription,
                                     std::uint32_t depth = 0);

class fake_publication {
 public:
  fake_publication(const broker_process& broker, const std::string& topic);

  // Tells the broker that the topic is here, as publication `id`.
  void announce(const wire::id& publication);
  // And that it is not any more.
  void withdraw() { (void)client_.ask(wire::unregister_topic{topic_, id}); }
  // The lease of the broker would run out during a long test.
  void stay_alive() { client_.send(0, wire::heartbeat{}); }

  // Waits for a hello for `id`; what is said goes to who said it. Nothing when none comes in time.
  [[nodiscard]] std::optional<wire::link_message> await_hello(std::chrono::milliseconds deadline = patience);
  // Ends every connection, and listens again at the same place.
  void hang_up();
  // All that a subscriber needs to be connected.
  [[nodiscard]] bool welcome();

  bool say(const std::string& frame) {
    return wait_until([&] { return router_->send({peer_, frame}); });
  }
  bool say(const std::string& first, const std::string& second) {
    return wait_until([&] { return router_->send({peer_, first, second}); });
  }

  wire::id id;
  wire::id subscription;  // of the one who was welcomed

 private:
  [[nodiscard]] std::string link_path() const;

  raw_client client_;
  std::unique_ptr<raw_socket> router_;
  std::string topic_;
  std::string home_;
  std::string peer_;
};

}  // namespace orc::test
