// contract.md 4: broker loss and return, where the loss is silence on a connection that never breaks.
#include <zmq.h>

#include <chrono>
#include <string>
#include <variant>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/catch.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/control.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// A broker that keeps its connections and can stop answering; its lease is short so that the silence is soon noticed.
class moody_broker {
 public:
  explicit moody_broker(const std::string& endpoint) : socket_(ZMQ_ROUTER) { socket_.bind(endpoint); }

  // Answers for `duration`, or takes what comes and says nothing. True once a registration was acknowledged.
  bool run_for(std::chrono::milliseconds duration, bool answering) {
    bool registered = false;
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end && !registered) {
      const auto frames = socket_.receive(std::chrono::milliseconds(20));
      if (!frames || !answering) continue;
      const std::string& peer = frames->front();
      const std::string& content = frames->back();
      if (content.empty()) {  // the probe of a new connection
        socket_.send({peer, wire::encode({0, welcome_})});
        continue;
      }
      const auto message = wire::decode({reinterpret_cast<const std::byte*>(content.data()), content.size()});
      REQUIRE(message);
      if (std::holds_alternative<wire::hello>(message->content)) {
        socket_.send({peer, wire::encode({message->request, welcome_})});
      } else {
        registered = std::holds_alternative<wire::register_topic>(message->content);
        socket_.send({peer, wire::encode({message->request, wire::ack{}})});
      }
    }
    return registered;
  }

 private:
  raw_socket socket_;
  const wire::welcome welcome_{7, 200, 50, false, "moody"};
};

}  // namespace

TEST_CASE("regression: a broker that was silent past its lease is found again on the connection it kept",
          "[fault][threads]") {
  const orc::detail::temporary_directory dir;
  const std::string endpoint = "ipc://" + dir.file("broker");
  moody_broker address_broker(endpoint);
  orc::participant participant({.broker = endpoint, .broker_timeout = std::chrono::milliseconds(0)});
  REQUIRE(participant.register_topic("t").result().code() == orc::errc::no_broker);
  REQUIRE(address_broker.run_for(patience, true));
  CHECK_FALSE(address_broker.run_for(std::chrono::milliseconds(600), false));
  CHECK(address_broker.run_for(patience, true));
}
