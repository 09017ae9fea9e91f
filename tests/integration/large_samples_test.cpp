// Large samples over ipc and tcp: memory is used again, goes back when a topic falls silent, and lies where copies of
// it are fast, in any process.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "base/copy.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"
#include "support/raw_socket.h"
#include "support/stream_peer.h"
#include "support/wait_until.h"
#include "wire/sample_header.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// A caller's memory.
class pages {
 public:
  explicit pages(std::size_t size)
      : size_(size + orc::detail::page_bytes),
        at_(static_cast<std::byte*>(
            ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(at_ != MAP_FAILED);
    std::memset(at_, 's', size_);
  }
  ~pages() { ::munmap(at_, size_); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  [[nodiscard]] std::byte* from(std::size_t offset) const { return at_ + offset; }

 private:
  std::size_t size_;
  std::byte* at_;
};

struct scene {
  explicit scene(orc::transport over) {
    REQUIRE(sender.register_topic("t", {.transports = {over}}).result());
    REQUIRE(receiver.request_topic("t", {.transports = {over}}).result());
    publisher = sender.publisher("t");
    subscriber = receiver.subscriber("t");
    REQUIRE(subscriber.wait_connected(patience_ms));
  }

  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  orc::publisher publisher;
  orc::subscriber subscriber;
};

long page_faults() {
  rusage now{};
  ::getrusage(RUSAGE_SELF, &now);
  return now.ru_minflt;
}

}  // namespace

TEST_CASE("large samples: from 32 MiB on their memory is used again, and goes back when none comes", "[integration]") {
  constexpr std::size_t size = 40'000'000;
  constexpr int samples = 4;
  for (const auto over : {orc::transport::ipc, orc::transport::tcp}) {
    const pages memory(size);
    const auto before = stats_of();
    scene s(over);
    const auto send_one = [&] {
      REQUIRE(s.publisher.send(memory.from(0), size));
      REQUIRE(s.subscriber.recv(patience_ms).size() == size);
    };
    for (int n = 0; n < 4; ++n) send_one();  // takes the memory
    const long faults = page_faults();
    for (int n = 0; n < samples; ++n) send_one();
    const long more = page_faults() - faults;
    // One block has 9,800 pages. Huge pages would be few as well.
    if (!under_sanitizer) CHECK(more < 2'000 * samples);
    // The publication has its last sample.
    if (over == orc::transport::ipc)
      CHECK(wait_until([&] { return stats_of().rss_kib < before.rss_kib + size / 1024 + 24 * 1024; }));
  }
}

TEST_CASE("large samples: received bytes lie where copies from and to them are fast", "[integration]") {
  constexpr std::size_t size = 1'000'000;
  const pages memory(size);
  for (const auto over : {orc::transport::ipc, orc::transport::tcp, orc::transport::shm, orc::transport::inproc}) {
    scene s(over);
    for (int n = 0; n < 3; ++n) {
      REQUIRE(s.publisher.send(memory.from(0), size));
      const auto got = s.subscriber.recv(patience_ms);
      REQUIRE(got.size() == size);
      CHECK(reinterpret_cast<std::uintptr_t>(got.data()) % 16 == 0);
      const auto loan = s.publisher.loan(size);
      REQUIRE(loan);
    }
  }
}

// The kernel puts the first byte of each sample here at the start of a page, because nothing else waits.
TEST_CASE("large samples: over tcp the kernel's copy from a caller's memory is fast", "[integration]") {
  constexpr std::size_t size = 100'000;
  const pages memory(size);
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("t", {.transports = {orc::transport::tcp}, .keep_last = false}).result());
  raw_client client(address_broker.endpoint());
  const auto publication = described(client, "t").publication->publication;
  const auto at = address_of(address_broker.endpoint(), "t", wire::transport::tcp);
  for (const bool takes_padding : {true, false}) {
    auto hello = wire::encode(wire::link_message{.kind = wire::link_kind::hello,
                                                 .publication = publication,
                                                 .subscription = wire::id::random(),
                                                 .takes_padding = takes_padding});
    auto reader = joined_peer(at, as_text(hello));
    for (const std::size_t offset : {0U, 1U, 8U, 10U, 16U, 17U, 20U, 24U, 25U, 32U, 48U, 64U, 4080U}) {
      REQUIRE(sender.send_msg("t", memory.from(offset), size));
      std::string all;
      const auto body_at = [&] { return all.find(std::string(1000, 's')); };
      REQUIRE(wait_until([&] {
        std::string more(size, '\0');
        const ssize_t n = ::recv(reader.fd(), more.data(), more.size(), MSG_DONTWAIT);
        if (n > 0) all.append(more, 0, static_cast<std::size_t>(n));
        return body_at() != std::string::npos && all.size() == body_at() + size;
      }));
      INFO("memory at " << offset);
      if (takes_padding)
        CHECK_FALSE(orc::detail::copies_slowly(offset, body_at()));
      else
        CHECK(body_at() == 9 + wire::sample_header::bytes);
    }
  }
}
