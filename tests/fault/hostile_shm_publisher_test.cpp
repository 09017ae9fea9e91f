// A shm publisher that does not behave: whose memory a subscriber maps, and how much of it.
#include <sys/wait.h>

#include <fstream>
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/forked.h"
#include "support/hostile_shm_publication.h"
#include "support/proc_stats.h"
#include "support/wait_until.h"
#include "transport/path_peer.h"
#include "transport/shm/slot_writer.h"

using namespace orc::test;
namespace shm = orc::detail::shm;

namespace {

constexpr const char* topic = "t";
constexpr std::uint64_t mib = 1024 * 1024;

struct scene {
  scene() {
    REQUIRE(participant.request_topic(topic, {.transports = {orc::transport::shm}}).result());
    REQUIRE(hostile.await_hello());
  }
  broker_process address_broker;
  hostile_shm_publication hostile{address_broker, topic};
  orc::participant participant{address_broker.options()};
};

std::uint32_t pages_of(std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / shm::page_size); }

// Of segments of ours, mapped read-only here.
std::uint64_t mapped_read_only() {
  std::uint64_t total = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (line.find(" r--s ") == std::string::npos || line.find("/memfd:orc") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2) total += end - begin;
  }
  return total;
}

}  // namespace

TEST_CASE("B9: memory of a strange publisher is taken only as it is read", "[fault][threads]") {
  scene s;
  const auto form = shm::slot_writer::shape_for({.capacity = 40 * mib, .history = 1, .pins = 4});
  REQUIRE(form.bytes() > 256 * mib);
  const std::uint64_t bytes = (form.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size;
  const auto segment = segment_like(bytes, form, 1);  // 1: once asked the subscriber to take all of it at once
  const auto before = stats_of().rss_kib;
  CHECK(s.hostile.is_believed(segment, pages_of(bytes)));
  CHECK(stats_of().rss_kib < before + 64 * 1024);
}

TEST_CASE("B9: a subscriber maps what was announced, and not what there is", "[fault][threads]") {
  scene s;
  const auto form = shm::slot_writer::shape_for({.capacity = 100, .history = 1, .pins = 4});
  const auto segment = segment_like(512 * mib, form);
  const std::uint64_t announced = (form.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size;
  CHECK(s.hostile.is_believed(segment, pages_of(announced)));
  CHECK(mapped_read_only() == announced);
}

TEST_CASE("B9: a segment that is not what was announced is refused", "[fault][threads]") {
  const auto form = shm::slot_writer::shape_for({.capacity = 1000, .history = 1, .pins = 4});
  const std::uint64_t bytes = (form.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size;
  const auto right = segment_like(bytes, form);
  {
    scene s;  // smaller than announced
    CHECK(!s.hostile.is_believed(right, pages_of(bytes) + 1));
  }
  {
    scene s;  // announced smaller than its shape
    CHECK(!s.hostile.is_believed(right, pages_of(bytes) - 1));
  }
  {
    scene s;  // not announced
    CHECK(!s.hostile.is_believed(right, 0));
  }
  if (!under_thread_sanitizer) {  // which has no addresses for two terabytes
    scene s;                      // beyond the limit; a hole costs the publisher nothing
    auto large = form;
    large.stride = shm::max_segment_bytes / 2;
    const auto segment = segment_like(2 * shm::max_segment_bytes, large);
    CHECK(!s.hostile.is_believed(segment, pages_of(2 * shm::max_segment_bytes)));
  }
  scene s;
  CHECK(s.hostile.is_believed(right, pages_of(bytes)));
}

TEST_CASE("B9: a socket of another user hands over no memory", "[fault][threads]") {
  if (::geteuid() != 0) return skip("only root can be two users");
  constexpr uid_t other = 65534;
  const orc::detail::temporary_directory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const auto accepted = [&](const std::string& name, uid_t owner) {
    const std::string in = directory.file(name);
    REQUIRE(::mkdir(in.c_str(), 0755) == 0);
    REQUIRE(::chmod(in.c_str(), 0777) == 0);
    shared_with_children<std::atomic<int>> step;
    forked publisher([&] {
      if (::setgid(other) != 0 || ::setuid(other) != 0) return;
      const auto listener = shm_listener(in + "/t.shm");
      *step = 1;
      while (*step != 2) ::usleep(1000);
    });
    REQUIRE(wait_until([&] { return *step == 1; }));
    REQUIRE(::chown(in.c_str(), owner, owner) == 0);
    const auto client = orc::detail::unique_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = in + "/t.shm";
    std::memcpy(address.sun_path, path.data(), path.size());
    REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const bool result = orc::detail::may_publish_at(client.get(), path);
    *step = 2;
    publisher.wait();
    return result;
  };
  CHECK(!accepted("elsewhere", other));
  CHECK(!accepted("0", other));
  CHECK(!accepted("1000", other));
  CHECK(accepted(std::to_string(other), other));  // a directory of the system's broker, as that user makes it
}

TEST_CASE("A1: a subscriber waits for a publication that prepares its memory, and takes no other way",
          "[fault][threads]") {
  broker_process address_broker;
  fake_publication other_way(address_broker, "other");  // its ipc socket
  hostile_shm_publication publication(
      address_broker, topic,
      orc::wire::endpoint{.transport = orc::wire::transport::ipc,
                          .address = address_of(address_broker.endpoint(), "other", orc::wire::transport::ipc)},
      other_way.id);
  orc::participant participant(address_broker.options());
  REQUIRE(participant.request_topic(topic).result());
  REQUIRE(publication.await_hello());
  REQUIRE(publication.say(hostile_shm_publication::kind::preparing));
  // Three times as long as it would wait for an answer.
  CHECK(!other_way.await_hello(std::chrono::milliseconds(1500)));
  const auto form = shm::slot_writer::shape_for({.capacity = 100, .history = 1, .pins = 4});
  const std::uint64_t bytes = (form.bytes() + shm::page_size - 1) / shm::page_size * shm::page_size;
  const auto segment = segment_like(bytes, form);
  CHECK(publication.is_believed(segment, pages_of(bytes)));
  CHECK(wait_until([&] { return participant.subscriber(topic).link().transport == orc::transport::shm; }));
}

TEST_CASE("A1: a subscriber goes another way when a publication that prepares memory falls silent",
          "[fault][threads]") {
  broker_process address_broker;
  fake_publication other_way(address_broker, "other");
  hostile_shm_publication publication(
      address_broker, topic,
      orc::wire::endpoint{.transport = orc::wire::transport::ipc,
                          .address = address_of(address_broker.endpoint(), "other", orc::wire::transport::ipc)},
      other_way.id);
  orc::participant participant(address_broker.options());
  REQUIRE(participant.request_topic(topic).result());
  REQUIRE(publication.await_hello());
  REQUIRE(publication.say(hostile_shm_publication::kind::preparing));
  CHECK(wait_until([&] {
    publication.stay_alive();
    return other_way.await_hello(std::chrono::milliseconds(100)).has_value();
  }));
}
