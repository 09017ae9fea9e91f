// What a participant does when the broker refuses it, is silent while a topic ends, or ends its session.
#include <zmq.h>

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <variant>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/control.h"

using namespace orc::test;
namespace wire = orc::wire;
using steady = std::chrono::steady_clock;

namespace {

// A broker whose answers the test gives, on a thread of its own.
class scripted_broker {
 public:
  // The answer to a message of a participant; nothing: says nothing.
  using script = std::function<std::optional<wire::body>(const wire::envelope&)>;

  scripted_broker(const std::string& endpoint, script answer)
      : socket_(ZMQ_ROUTER), answer_(std::move(answer)), thread_([this] { run(); }) {
    socket_.bind(endpoint);
    bound_ = true;
  }
  ~scripted_broker() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run() {
    while (!bound_ && !stop_) std::this_thread::yield();
    while (!stop_) {
      const auto frames = socket_.receive(std::chrono::milliseconds(10));
      if (!frames) continue;
      if (frames->back().empty()) {  // the probe of a new connection
        socket_.send({frames->front(), wire::encode({0, wire::welcome{7, 3000, 1000, false, "scripted"}})});
        continue;
      }
      const std::string& content = frames->back();
      const auto message = wire::decode({reinterpret_cast<const std::byte*>(content.data()), content.size()});
      if (!message) continue;
      if (auto answer = answer_(*message))
        socket_.send({frames->front(), wire::encode({message->request, std::move(*answer)})});
    }
  }

  raw_socket socket_;
  const script answer_;
  std::atomic<bool> bound_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// What a well-behaved broker says.
wire::body accept(const wire::envelope& message) {
  if (std::holds_alternative<wire::hello>(message.content)) return wire::welcome{7, 3000, 1000, false, "scripted"};
  if (const auto* const topic = std::get_if<wire::register_topic>(&message.content))
    return wire::topic_state{topic->topic, {}, {}, 0};
  if (const auto* const topic = std::get_if<wire::request_topic>(&message.content))
    return wire::topic_state{topic->topic, {}, {}, 0};
  return wire::ack{};
}

// Log lines of a participant.
class log_lines {
 public:
  orc::log_callback writer() {
    return [this](orc::log_level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      all_ += std::string(line) + "\n";
    };
  }
  [[nodiscard]] std::size_t count(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    std::size_t found = 0;
    for (auto at = all_.find(text); at != std::string::npos; at = all_.find(text, at + 1)) ++found;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::string all_;
};

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

TEST_CASE("A3: a topic unregistered while the broker is silent is free when it is back", "[fault][threads]") {
  broker_process address_broker;
  log_lines log;
  auto options = address_broker.options("leaver");
  options.log = log.writer();
  orc::participant leaver(options);
  REQUIRE(leaver.register_topic("name").result());
  REQUIRE(leaver.request_topic("other").result());
  address_broker.process().freeze();
  REQUIRE(wait_until([&] { return log.count("does not answer any more") != 0; }));
  const auto start = steady::now();
  CHECK(leaver.unregister_topic("name"));
  CHECK(ms_since(start) < 900);  // nobody to wait for
  CHECK(leaver.release_topic("other"));
  address_broker.process().thaw();
  orc::participant next(address_broker.options("next"));
  orc::result taken;
  CHECK(wait_until([&] { return static_cast<bool>(taken = next.register_topic("name").result()); }));
}

TEST_CASE("A3: a topic that is unregistered and registered anew while the broker is silent is there in the end",
          "[fault][threads]") {
  broker_process address_broker;
  log_lines log;
  auto options = address_broker.options("changer");
  options.log = log.writer();
  options.broker_timeout = std::chrono::milliseconds(0);
  orc::participant changer(options);
  REQUIRE(wait_until([&] { return static_cast<bool>(changer.register_topic("name").result()); }));
  address_broker.process().freeze();
  REQUIRE(wait_until([&] { return log.count("does not answer any more") != 0; }));
  for (int n = 0; n < 20; ++n) {
    CHECK(changer.unregister_topic("name"));
    (void)changer.register_topic("name");
  }
  address_broker.process().thaw();
  REQUIRE(wait_until([&] { return static_cast<bool>(changer.register_topic("name").result()); }));
  orc::participant receiver(address_broker.options("receiver"));
  orc::request_options wanted;
  wanted.connected_within = patience;
  REQUIRE(receiver.request_topic("name", wanted).result());
  REQUIRE(changer.send_msg("name", "x", 1));
  CHECK(receiver.recv_msg("name", patience_ms));
}

TEST_CASE("A4: a publication that cannot be opened is tried again with pauses, and logged once", "[fault][threads]") {
  broker_process address_broker(broker_process::at::nowhere);
  log_lines log;
  auto options = address_broker.options();
  options.log = log.writer();
  options.broker_timeout = std::chrono::milliseconds(0);
  orc::participant participant(options);
  REQUIRE(participant.register_topic("t").result().code() == orc::errc::no_broker);
  // A file where the participant's directory is to be.
  const std::string obstacle = address_broker.directory().file(std::to_string(::geteuid()));
  fclose(fopen(obstacle.c_str(), "w"));
  address_broker.start();
  REQUIRE(wait_until([&] { return log.count("topic t cannot be offered") != 0; }));
  const double before = processor_seconds();
  const auto start = steady::now();
  CHECK(wait_until([&] { return ms_since(start) > 1500; }));
  CHECK(processor_seconds() - before < 0.4);  // 57 % of a processor before
  CHECK(log.count("topic t cannot be offered") == 1);
}

TEST_CASE("A5: a refused Hello is reported at once in the broker's words, and the topics stay declared",
          "[fault][threads]") {
  const orc::detail::temporary_directory dir;
  const std::string endpoint = "ipc://" + dir.file("broker");
  std::atomic<bool> full{true};
  std::atomic<int> hellos{0};
  const scripted_broker address_broker(endpoint, [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (!std::holds_alternative<wire::hello>(message.content)) return accept(message);
    ++hellos;
    if (full) return wire::error{wire::error_code::limit, "1000 participants are registered"};
    return accept(message);
  });
  log_lines log;
  orc::participant participant({.broker = endpoint, .broker_timeout = patience, .log = log.writer()});
  const auto start = steady::now();
  const auto refused = participant.register_topic("t").result();
  CHECK(refused.code() == orc::errc::refused);
  CHECK_THAT(refused.error().message(), contains("1000 participants are registered"));
  CHECK(participant.request_topic("u").result().code() == orc::errc::refused);
  CHECK(ms_since(start) < patience_ms / 2);
  CHECK(wait_until([&] { return hellos >= 3; }));
  CHECK(log.count("1000 participants are registered") == 1);
  full = false;
  CHECK(wait_until([&] { return static_cast<bool>(participant.register_topic("t").result()); }));
  CHECK(participant.request_topic("u").result());
}

TEST_CASE("A5: a participant whose id is taken draws another one and a new secret", "[fault][threads]") {
  const orc::detail::temporary_directory dir;
  const std::string endpoint = "ipc://" + dir.file("broker");
  std::mutex mutex;
  std::vector<wire::hello> said;
  const scripted_broker address_broker(endpoint, [&](const wire::envelope& message) -> std::optional<wire::body> {
    const auto* const hello = std::get_if<wire::hello>(&message.content);
    if (hello == nullptr) return accept(message);
    const std::lock_guard lock(mutex);
    if (said.empty() || said.front().participant == hello->participant) {
      said.push_back(*hello);
      return wire::error{wire::error_code::id_taken, "another session has this id"};
    }
    said.push_back(*hello);
    return accept(message);
  });
  log_lines log;
  orc::participant participant({.broker = endpoint, .broker_timeout = patience, .log = log.writer()});
  CHECK(participant.register_topic("t").result());
  const std::lock_guard lock(mutex);
  REQUIRE(said.size() >= 2);
  CHECK(said.front().secret != wire::id{});
  CHECK(said.back().secret != said.front().secret);
  CHECK(log.count("another session has this id") == 1);
}

TEST_CASE("C1: a participant whose session somebody ended says so and registers everything again", "[fault][threads]") {
  const orc::detail::temporary_directory dir;
  const std::string endpoint = "ipc://" + dir.file("broker");
  std::atomic<bool> ended{false};
  std::atomic<int> registered{0};
  const scripted_broker address_broker(endpoint, [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (std::holds_alternative<wire::hello>(message.content)) ended = false;
    if (ended) return wire::error{wire::error_code::unknown_participant, "say Hello first"};
    if (std::holds_alternative<wire::register_topic>(message.content)) ++registered;
    return accept(message);
  });
  log_lines log;
  orc::participant participant({.broker = endpoint, .broker_timeout = patience, .log = log.writer()});
  REQUIRE(participant.register_topic("t").result());
  const int before = registered;
  ended = true;
  CHECK(wait_until([&] { return registered > before; }));
  CHECK(log.count("ended the session of this participant") == 1);
}
