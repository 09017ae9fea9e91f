// When the ways to a publication are tried.
#include "core/link_selector.h"

#include <chrono>
#include <memory>
#include <vector>

#include "support/catch.h"

using namespace orc::detail;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

// Finds every queue full, and counts how often it looked.
class crowded_kind final : public transport_kind {
 public:
  crowded_kind(wire::transport name, int& attempts) : name_(name), attempts_(attempts) {}
  [[nodiscard]] wire::transport name() const noexcept override { return name_; }
  [[nodiscard]] capabilities can() const noexcept override { return {}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec&) const override {
    return orc::error(errc::refused);
  }
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec&,
                                                         const wire::endpoint&) const override {
    ++attempts_;
    return orc::error(errc::timed_out, "too many others wait to connect");
  }

 private:
  wire::transport name_;
  int& attempts_;
};

}  // namespace

TEST_CASE("link selector: a full queue is asked again and again before the next way is tried", "[unit]") {
  int over_ipc = 0;
  int over_tcp = 0;
  auto kinds = std::make_shared<transport_list>();
  kinds->push_back(std::make_unique<crowded_kind>(wire::transport::ipc, over_ipc));
  kinds->push_back(std::make_unique<crowded_kind>(wire::transport::tcp, over_tcp));
  link_selector selector({}, {}, kinds);
  selector.aim(wire::id::random(), {{wire::transport::ipc, "ipc:///a"}, {wire::transport::tcp, "tcp://127.0.0.1:1"}},
               0);
  const auto start = monotonic::now();
  auto now = start;
  for (int attempt = 1; attempt <= link_selector::most_crowded; ++attempt) {
    CHECK_FALSE(selector.step(now));
    CHECK(over_ipc == attempt);
    CHECK(over_tcp == 0);
    REQUIRE(selector.next_step());
    CHECK(*selector.next_step() == now + link_selector::crowd_pause);
    CHECK_FALSE(selector.step(now + link_selector::crowd_pause - 1ms));  // too early
    CHECK(over_ipc == attempt);
    now += link_selector::crowd_pause;
  }
  CHECK(now - start <= link_selector::patience);
  CHECK_FALSE(selector.step(now));
  CHECK(over_tcp == 1);
  CHECK(selector.notes(now).find("too many others wait") != std::string::npos);
}

TEST_CASE("link selector: its own user reads of every address, others of every transport", "[unit]") {
  int attempts = 0;
  auto kinds = std::make_shared<transport_list>();
  for (const auto name : {wire::transport::shm, wire::transport::ipc, wire::transport::tcp})
    kinds->push_back(std::make_unique<crowded_kind>(name, attempts));
  link_selector selector({}, orc::transport_set{orc::transport::shm, orc::transport::tcp}, kinds);
  selector.aim(wire::id::random(),
               {{wire::transport::tcp, "tcp://127.0.0.1:1"},
                {wire::transport::tcp, "tcp://127.0.0.1:2"},
                {wire::transport::tcp, "tcp://127.0.0.1:2"}},
               0);
  const std::string told_to_others = "shm: not offered; ipc: not asked for; tcp: not reachable";
  CHECK(selector.notes(monotonic::now()) ==
        "shm: not offered; ipc: not asked for; tcp 127.0.0.1:1: not tried yet; tcp 127.0.0.1:2: not tried yet");
  CHECK(selector.public_notes() == told_to_others);
  CHECK_FALSE(selector.step(monotonic::now()));
  CHECK(attempts == 1);
  CHECK(selector.notes(monotonic::now())
            .find("tcp 127.0.0.1:1: too many others wait to connect; tcp 127.0.0.1:2: "
                  "not tried yet") != std::string::npos);
  CHECK(selector.public_notes() == told_to_others);
}
