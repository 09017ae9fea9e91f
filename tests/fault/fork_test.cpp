// After fork() the child must make its own participant; what it inherited says forked and does no harm.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// Runs `body` in a child made by fork alone; its status: 0 when body() returned true, 1 when false, nothing when it
// hung or died.
template <class Body>
std::optional<int> in_fork(Body&& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  const bool ended = wait_until([&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return std::nullopt;
  }
  if (!WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

struct scene {
  explicit scene(orc::transport kind) {
    const orc::transport_set only{kind};
    sender.emplace(address_broker.options("sender"));
    receiver.emplace(address_broker.options("receiver"));
    if (!sender->register_topic("t", {.transports = only}) ||
        !receiver->request_topic("t", {.connected_within = patience, .transports = only}).result()) {
      throw std::runtime_error("no link");
    }
    publisher = sender->publisher("t");
    subscriber = receiver->subscriber("t");
  }
  [[nodiscard]] bool well(std::uint64_t value) {
    return static_cast<bool>(send_value(publisher, value)) && value_of(subscriber.recv(patience_ms)) == value;
  }

  broker_process address_broker;
  std::optional<orc::participant> sender;
  std::optional<orc::participant> receiver;
  orc::publisher publisher;
  orc::subscriber subscriber;
};

constexpr orc::transport kinds[] = {orc::transport::inproc, orc::transport::shm, orc::transport::ipc,
                                    orc::transport::tcp};

}  // namespace

TEST_CASE("fork: in the child every inherited call says forked", "[fault][threads]") {
  for (const auto kind : kinds) {
    INFO(orc::to_string(kind));
    scene s(kind);
    REQUIRE(s.well(1));
    auto kept = s.publisher.loan(10);
    orc::directory directory({.broker = s.address_broker.endpoint()});
    auto watch = directory.watch();
    orc::directory_change change;
    REQUIRE(watch.next_change(change, patience_ms));
    std::vector<orc::topic_state> topics;
    const auto status = in_fork([&] {
      bool all = true;
      const auto forked = [&](orc::errc code) { all = all && code == orc::errc::forked; };
      forked(s.publisher.send("x", 1).code());
      forked(s.subscriber.recv(0).status());
      forked(s.subscriber.recv(-1).status());
      forked(s.subscriber.wait_connected(-1).code());
      forked(s.publisher.wait_readers(1, -1).code());
      forked(directory.topics("**", topics).code());
      forked(watch.next_change(change, -1).code());
      forked(s.sender->register_topic("u").result().code());
      forked(s.sender->request_topic("u").result().code());
      forked(s.sender->send_msg("t", "x", 1).code());
      forked(s.receiver->recv_msg("t", -1).status());
      forked(s.sender->unregister_topic("t").code());
      forked(s.receiver->release_topic("t").code());
      forked(s.publisher.send(std::move(kept)).code());
      all = all && !s.subscriber.connected() && s.publisher.readers() == 0 && watch.fd() == -1;
      static_cast<void>(s.subscriber.link());
      static_cast<void>(s.subscriber.fd());
      static_cast<void>(s.sender->broker_endpoint());
      return all;
    });
    REQUIRE(status);
    CHECK(*status == 0);
    CHECK(s.well(2));
    CHECK(directory.topics("**", topics));
  }
}

TEST_CASE("fork: destroying what was inherited is harmless to the child and to the parent", "[fault][threads]") {
  for (const auto kind : kinds) {
    INFO(orc::to_string(kind));
    scene s(kind);
    REQUIRE(s.well(1));
    REQUIRE(s.publisher.send("kept", 4));
    auto kept = std::make_optional(s.subscriber.recv(patience_ms));
    REQUIRE(*kept);
    auto directory = std::make_optional<orc::directory>(orc::directory_options{.broker = s.address_broker.endpoint()});
    auto watch = std::make_optional(directory->watch());
    orc::directory_change change;
    REQUIRE(watch->next_change(change, patience_ms));
    const auto status = in_fork([&] {
      const bool readable = kept->size() == 4 && std::memcmp(kept->data(), "kept", 4) == 0;
      kept.reset();
      s.publisher = {};
      s.subscriber = {};
      s.sender.reset();
      s.receiver.reset();
      watch.reset();
      directory.reset();
      return readable;
    });
    REQUIRE(status);
    CHECK(*status == 0);
    for (std::uint64_t value = 3; value < 100; ++value) REQUIRE(s.well(value));
    REQUIRE(s.sender->register_topic("after").result());
    const auto end = std::chrono::steady_clock::now() + patience;
    while (change.topic.name != "after" && std::chrono::steady_clock::now() < end)
      (void)watch->next_change(change, patience_ms);
    CHECK(change.topic.name == "after");
  }
}

TEST_CASE("fork: the child can make a participant of its own and talk to its parent", "[fault][threads]") {
  if (under_thread_sanitizer) return skip("no new threads in a forked child under ThreadSanitizer");
  for (const auto kind : {orc::transport::shm, orc::transport::ipc, orc::transport::tcp}) {
    INFO(orc::to_string(kind));
    scene s(kind);
    REQUIRE(s.well(1));
    REQUIRE(s.receiver->request_topic("child", {.transports = {kind}}).result());
    REQUIRE(s.publisher.send("for the child", 13));
    const auto status = in_fork([&] {
      orc::participant own(s.address_broker.options("child"));
      if (!own.register_topic("child", {.transports = {kind}})) return false;
      if (!own.request_topic("t", {.connected_within = patience, .transports = {kind}}).result()) return false;
      if (own.recv_msg("t", patience_ms).size() != 13) return false;
      if (!own.request_topic("parent/has/it", {.transports = {kind}}).result()) return false;
      auto publisher = own.publisher("child");
      for (int n = 0; n < 1000 && publisher.readers() == 0; ++n) {
        if (!publisher.send("from the child", 14)) return false;
        ::usleep(1000);
      }
      return static_cast<bool>(publisher.send("from the child", 14)) && publisher.readers() == 1;
    });
    REQUIRE(status);
    CHECK(*status == 0);
    CHECK(s.receiver->recv_msg("child", patience_ms).size() == 14);
    CHECK(s.receiver->recv_msg("t", patience_ms).size() == 13);
    CHECK(s.well(3));
  }
}

TEST_CASE("fork: with exec nothing is inherited", "[fault][threads]") {
  scene s(orc::transport::ipc);
  REQUIRE(s.well(1));
  for (int n = 0; n < 5; ++n) {
    // Lists the descriptors that survived: standard ones, and that of the listing itself.
    child_process listing({"/bin/ls", "-l", "/proc/self/fd"});
    listing.close_input();
    const std::string text = listing.read_all();
    INFO(text);
    CHECK(text.find("eventfd") == std::string::npos);
    CHECK(text.find("eventpoll") == std::string::npos);
    CHECK(text.find("socket:") == std::string::npos);
    CHECK(s.well(static_cast<std::uint64_t>(n) + 2));
  }
}

TEST_CASE("fork: while other threads send and receive", "[fault][threads]") {
  scene s(orc::transport::ipc);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> seen{0};
  std::uint64_t sent = 0;
  std::thread writer([&] {
    while (!stop) {
      if (send_value(s.publisher, sent + 1)) ++sent;
    }
  });
  std::thread reader([&] {
    while (!stop) {
      if (const auto got = s.subscriber.recv(20)) seen = value_of(got);
    }
  });
  for (int n = 0; n < 20; ++n) {
    const std::uint64_t before = seen;
    const auto status = in_fork([&] {
      // Whatever lock another thread held at the moment of the fork, nothing here may wait for it.
      return s.publisher.send("x", 1).code() == orc::errc::forked &&
             s.subscriber.recv(-1).status() == orc::errc::forked;
    });
    CHECK(status == 0);
    CHECK(wait_until([&] { return seen > before; }));
  }
  stop = true;
  writer.join();
  reader.join();
}
