// What components of ORC keep in a participant.
#include <thread>
#include <vector>

#include "core/participant/components.h"
#include "orc/participant.h"
#include "support/broker_process.h"
#include "support/catch.h"

using namespace orc::test;

namespace {

struct counted_component : orc::detail::participant_component {
  explicit counted_component(orc::participant& by) : participant(by) {}
  void end() noexcept override {
    ++ends;
    sent_at_end = static_cast<bool>(participant.send_msg("component/topic", "x", 1));
  }

  orc::participant& participant;
  int ends = 0;
  bool sent_at_end = false;
};

constexpr int key = 0;

[[nodiscard]] std::shared_ptr<counted_component> component_of(orc::participant& by) {
  return std::static_pointer_cast<counted_component>(orc::detail::components::of(
      by, &key, [](orc::participant& stays) { return std::make_shared<counted_component>(stays); }));
}

}  // namespace

TEST_CASE("component: a participant makes one per key, and ends it before its topics", "[integration][threads]") {
  broker_process address_broker;
  std::shared_ptr<counted_component> made;
  {
    orc::participant first(address_broker.options());
    REQUIRE(first.register_topic("component/topic"));
    made = component_of(first);
    REQUIRE(made);
    CHECK(component_of(first) == made);
    orc::participant moved(std::move(first));
    CHECK(component_of(first) == nullptr);  // NOLINT(bugprone-use-after-move): it says so
    CHECK(component_of(moved) == made);
    CHECK(made->participant.send_msg("component/topic", "x", 1));
    CHECK(made->ends == 0);
  }
  CHECK(made->ends == 1);
  CHECK(made->sent_at_end);
}

TEST_CASE("component: threads that ask at the same time get the same one", "[integration][threads]") {
  broker_process address_broker;
  orc::participant participant(address_broker.options());
  std::vector<std::shared_ptr<counted_component>> found(4);
  std::vector<std::thread> threads;
  for (auto& each : found) threads.emplace_back([&] { each = component_of(participant); });
  for (auto& thread : threads) thread.join();
  for (const auto& each : found) CHECK(each == found.front());
}
