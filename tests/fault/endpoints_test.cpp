// Endpoints come from other programs: a subscriber must not connect to whatever they name, nor as often as they like.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/wait_until.h"
#include "transport/stream/stream_transport.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// Counts who connects to a Unix socket.
class door_counter {
 public:
  explicit door_counter(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd_, 1024) == 0);
    thread_ = std::thread([this] {
      while (!stop_) {
        if (!readable(fd_, 10)) continue;
        const int guest = ::accept(fd_, nullptr, nullptr);
        if (guest < 0) continue;
        ++count_;
        ::close(guest);
      }
    });
  }
  ~door_counter() {
    stop_ = true;
    thread_.join();
    ::close(fd_);
  }
  [[nodiscard]] unsigned count() const { return count_; }

 private:
  const int fd_;
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> count_{0};
  std::thread thread_;
};

void announce(raw_client& client, const std::string& topic, const wire::id& id, const std::string& address) {
  const auto answer =
      client.ask(wire::register_topic{topic, id, {{wire::transport::ipc, "ipc://" + address}}, std::nullopt});
  REQUIRE(!std::holds_alternative<wire::error>(answer));
}

std::string socket_name(const wire::id& id) { return id.hex().substr(0, 16); }

// The only one where the broker lets a publication of this user be.
std::string own_directory(const broker_process& of) {
  std::string directory = of.directory().file(std::to_string(::geteuid()));
  ::mkdir(directory.c_str(), 0700);
  return directory;
}

}  // namespace

TEST_CASE("B10: a subscriber never connects to a Unix socket outside of a run directory", "[fault][threads]") {
  const orc::detail::temporary_directory run_directory;
  const orc::detail::temporary_directory elsewhere;
  const wire::id id = wire::id::random();
  const std::string home = run_directory.file("77");
  const std::string foreign_home = elsewhere.file("77");
  REQUIRE(::mkdir(home.c_str(), 0700) == 0);
  REQUIRE(::mkdir(foreign_home.c_str(), 0700) == 0);
  // The right name in the wrong place, a wrong name in the right place, and ways around.
  const std::string outside = foreign_home + "/" + socket_name(id);
  const std::string other_name = home + "/agent.sock";
  const door_counter first(outside);
  const door_counter second(other_name);
  const std::string by_link = home + "/" + socket_name(id);
  REQUIRE(::symlink(outside.c_str(), by_link.c_str()) == 0);
  const std::string linked_home = run_directory.file("78");
  REQUIRE(::symlink(foreign_home.c_str(), linked_home.c_str()) == 0);

  orc::detail::subscription_spec wanted;
  wanted.topic = "t";
  wanted.publication = id;
  wanted.id = wire::id::random();
  wanted.run_directory = run_directory.path().string();
  for (const auto& address :
       {outside, other_name, by_link, linked_home + "/" + socket_name(id), home + "/../../" + outside}) {
    INFO(address);
    const auto link = orc::detail::ipc_transport().subscribe(wanted, {wire::transport::ipc, "ipc://" + address});
    CHECK_FALSE(link);
  }
  CHECK(first.count() == 0);
  CHECK(second.count() == 0);
}

TEST_CASE("B10: what others see does not say what is there", "[fault][threads]") {
  broker_process address_broker;
  raw_client liar(address_broker.endpoint());
  liar.ask(hello_of_this_process("liar"));
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t").result());
  const wire::id id = wire::id::random();
  announce(liar, "t", id, own_directory(address_broker) + "/" + socket_name(id));
  auto subscriber = receiver.subscriber("t");
  CHECK(wait_until([&] { return subscriber.link().reason.find("no such socket") != std::string::npos; }));
  CHECK(wait_until([&] {
    liar.send(0, wire::heartbeat{});
    const auto state = described(liar, "t");
    return !state.subscriptions.empty() && state.subscriptions.front().counters &&
           state.subscriptions.front().counters->reason.find("ipc: not reachable") != std::string::npos;
  }));
}

TEST_CASE("B10: a topic that is registered anew thousands of times makes a subscriber connect a few times",
          "[fault][threads]") {
  broker_process address_broker;
  raw_client liar(address_broker.endpoint());
  liar.ask(hello_of_this_process("liar"));
  const wire::id id = wire::id::random();
  const std::string path = own_directory(address_broker) + "/" + socket_name(id);
  const door_counter door(path);
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t").result());
  const auto start = std::chrono::steady_clock::now();
  std::uint16_t changes = 0;
  while (ms_since(start) < 3000) {
    const wire::endpoint other{wire::transport::tcp, "tcp://127.0.0.1:" + std::to_string(++changes)};
    (void)liar.ask(wire::register_topic{"t", id, {{wire::transport::ipc, "ipc://" + path}, other}, std::nullopt});
  }
  const auto seconds = static_cast<unsigned>(ms_since(start) / 1000 + 1);
  INFO(changes << " changes");
  CHECK(changes > 100);
  CHECK(door.count() <= 4 * seconds + 4);
  CHECK(wait_until([&] { return door.count() > 0; }));
}
