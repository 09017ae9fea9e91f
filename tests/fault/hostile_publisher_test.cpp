// contract.md 6: what a publisher may cost its subscribers. Whatever it sends besides samples is counted and limited,
// and a receive that does not wait returns soon.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/proc_stats.h"
#include "support/stream_peer.h"
#include "support/wait_until.h"
#include "wire/zmtp.h"

using namespace orc::test;
namespace wire = orc::wire;
namespace zmtp = orc::wire::zmtp;

namespace {

// A registered publication of which the test says every byte.
class bare_publication {
 public:
  const wire::id id = wire::id::random();

  explicit bare_publication(const broker_process& broker)
      : client_(broker.endpoint()),
        path_(place_of(broker)),
        listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, path_.data(), path_.size());
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(listener_.get(), 16) != 0)
      throw std::runtime_error("cannot listen on " + path_);
    client_.ask(hello_of_this_process("bare"));
    wire::register_topic registration{.topic = "t", .publication = id, .endpoints = {}, .type = std::nullopt};
    registration.endpoints.push_back({.transport = wire::transport::ipc, .address = "ipc://" + path_});
    client_.ask(registration);
  }

  // The next connection of the subscription, welcomed.
  [[nodiscard]] stream_peer welcomed() {
    if (!readable(listener_.get(), patience_ms)) throw std::runtime_error("the subscription does not come");
    stream_peer peer(orc::detail::unique_fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    peer.say(zmtp_introduction("ROUTER"));
    const auto hello = peer.hear_link_message();
    if (!hello) throw std::runtime_error("the subscription says no hello");
    peer.say(zmtp_frame(link_frame(wire::link_kind::welcome, id, hello->subscription)));
    welcome_ = zmtp_frame(link_frame(wire::link_kind::welcome, id, hello->subscription));
    client_.send(0, wire::heartbeat{});
    return peer;
  }
  [[nodiscard]] const std::string& welcome() const { return welcome_; }

 private:
  // The only place where its user may publish it.
  [[nodiscard]] std::string place_of(const broker_process& broker) const {
    const std::string directory = broker.directory().file(std::to_string(::geteuid()));
    ::mkdir(directory.c_str(), 0700);
    return directory + "/" + id.hex().substr(0, 16);
  }

  raw_client client_;
  const std::string path_;
  orc::detail::unique_fd listener_;
  std::string welcome_;
};

// Receives without waiting, over and over.
class impatient_receiver {
 public:
  explicit impatient_receiver(orc::subscriber from)
      : thread_([this, from]() mutable {
          while (!stop_) {
            const auto start = std::chrono::steady_clock::now();
            (void)from.recv(0);
            slowest_ms_ = std::max<std::int64_t>(slowest_ms_, ms_since(start));
            std::this_thread::sleep_for(std::chrono::microseconds(100));
          }
        }) {}
  ~impatient_receiver() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] std::int64_t slowest_ms() const { return slowest_ms_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> slowest_ms_{0};
  std::thread thread_;
};

std::string repeated(const std::string& piece, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += piece;
  return all;
}

std::size_t address_space_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

// A sample arrives over a new connection: the subscription has not given up.
void check_that_it_comes_back(bare_publication& publication, std::uint64_t sequence) {
  auto peer = publication.welcomed();
  CHECK(peer.say(zmtp_frame(sample_frame(sequence, 1, "fine"))));
}

}  // namespace

TEST_CASE("hostile publisher: parts of a message without end are cut off, and no receive takes long",
          "[fault][threads]") {
  broker_process address_broker;
  bare_publication publication(address_broker);
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  std::uint64_t sequence = 0;
  for (const std::size_t part : {1UL, 60'000UL, 8'000'000UL}) {
    INFO("parts of " << part << " bytes");
    auto peer = publication.welcomed();
    const impatient_receiver user(receiver.subscriber("t"));
    const std::string bytes = repeated(zmtp_frame(std::string(part, 'x'), zmtp::more), 100'000);
    std::size_t taken = 0;
    while (taken < 400'000'000 && peer.say(bytes)) taken += bytes.size();
    CHECK(taken < 400'000'000);
    CHECK(peer.is_cut_off());
    std::printf("parts of %zu bytes: cut off after %zu, slowest recv(0) %ld ms\n", part, taken,
                static_cast<long>(user.slowest_ms()));
    check_that_it_comes_back(publication, ++sequence);
  }
}

TEST_CASE("hostile publisher: PINGs, welcomes, goodbyes and empty frames at any pace are cut off", "[fault][threads]") {
  broker_process address_broker;
  bare_publication publication(address_broker);
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  const std::string ping = zmtp_frame(std::string("\4PING\0\0", 7), zmtp::command);
  std::uint64_t sequence = 0;
  for (int kind = 0; kind < 4; ++kind) {
    INFO("kind " << kind);
    auto peer = publication.welcomed();
    const std::string goodbye = zmtp_frame(link_frame(wire::link_kind::goodbye, publication.id, wire::id::random()));
    const std::string piece = kind == 0   ? ping
                              : kind == 1 ? publication.welcome()
                              : kind == 2 ? goodbye
                                          : zmtp_frame("");
    // Each waits until the ones before it have been read.
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t said = 0;
    bool cut_off = false;
    while (!cut_off && said < 50'000) {
      cut_off = !peer.say(repeated(piece, 10 * piece.size()));
      said += 10;
      for (int waiting = 1; waiting > 0 && !cut_off;) {
        cut_off = peer.is_cut_off();
        waiting = peer.unsent();
        std::this_thread::yield();
      }
    }
    CHECK(cut_off);
    // PROTOCOL.md: 200, and 100 a second. What the subscription had no time to read yet counts for it.
    CHECK(said <= 2 * (200 + 100 * static_cast<std::uint64_t>(1 + ms_since(start) / 1000)));
    check_that_it_comes_back(publication, ++sequence);
  }
}

TEST_CASE("hostile publisher: the size that a frame announces costs no memory, only what arrives does",
          "[fault][threads]") {
  broker_process address_broker;
  bare_publication publication(address_broker);
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  const auto header_of = [](std::size_t size) {
    const auto header = zmtp::encode_frame_header(size);
    return as_text(std::span(header.bytes).first(header.size));
  };
  for (const std::size_t size : {(std::size_t{1} << 30) + 17, std::size_t{1} << 40, SIZE_MAX / 2}) {
    auto peer = publication.welcomed();
    CHECK(peer.say(header_of(size) + "more than a sample may have"));
    CHECK(wait_until([&] { return peer.is_cut_off(); }));
  }
  // As large as it may be: the address space for it is not taken in advance either.
  auto peer = publication.welcomed();
  const std::size_t before = address_space_kib();
  REQUIRE(peer.say(header_of(std::size_t{1} << 30) + std::string(1'000'000, 'x')));
  auto subscriber = receiver.subscriber("t");
  CHECK(wait_until([&] {
    (void)subscriber.recv(0);
    return peer.unsent() == 0;
  }));
  CHECK(address_space_kib() < before + 256 * 1024);
  CHECK(subscriber.recv(0).status() == orc::errc::nothing_new);
}
