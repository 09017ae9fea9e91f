// A recording that is played and recorded again: the second file holds what the first one does.
#include <string>
#include <vector>

#include "base/clock.h"
#include "support/payload.h"
#include "support/recorded.h"
#include "support/recorder_process.h"
#include "support/struct_types.h"
#include "support/test_group.h"

using namespace orc;
using namespace orc::test;

namespace {

topic_options over(transport way, const type_description& type) {
  topic_options options;
  options.transports = {way};
  options.type = type;
  if (way == transport::multicast) options.multicast = test_group();
  return options;
}

void send(orc::participant& by, const std::string& topic, const bytes& data) {
  REQUIRE(by.send_msg(topic, data.data(), data.size()));
}

}  // namespace

TEST_CASE("orc play --keep-stamps: a recording of it has the same stamps, over each transport") {
  const broker_process broker;
  const tool orc(broker);
  const std::string first = broker.directory().file("first.mcap");
  const std::string second = broker.directory().file("second.mcap");
  const auto way = GENERATE(transport::shm, transport::ipc, transport::tcp);
  INFO(to_string(way));
  {
    orc::participant arm(broker.options("arm"));
    REQUIRE(arm.register_topic("arm/state", over(way, {})));
    recorder_process recorder(orc, {"-o", first});
    REQUIRE(wait_until([&] { return arm.publisher("arm/state").readers() == 1; }));
    for (std::uint64_t i = 0; i < 6; ++i) send(arm, "arm/state", patterned(i % 2 == 0 ? 10 : 100'000, i));
    REQUIRE(wait_until([&] { return samples_in(first) == 6; }));
    CHECK(recorder.end() == 0);
  }
  recorder_process again(orc, {"arm/**", "-o", second});
  const std::string over_it(to_string(way));
  child_process player = orc.start({"play", first, "--wait-for-subscribers", "--transports", over_it, "--keep-stamps"});
  CHECK(player.wait_for_end() == 0);
  REQUIRE(wait_until([&] { return samples_in(second) == 6; }));
  CHECK(again.end() == 0);
  const auto stamps = [](const recorded& all) {
    std::vector<std::int64_t> found;
    for (const auto& each : all.samples) found.push_back(each.stamp_ns);
    return found;
  };
  CHECK(stamps(read_recording(second)) == stamps(read_recording(first)));
}

TEST_CASE("orc record, orc play and orc record again: equal samples, order and types over each transport") {
  const broker_process broker;
  const tool orc(broker);
  const std::string first = broker.directory().file("first.mcap");
  const std::string second = broker.directory().file("second.mcap");
  const auto way = GENERATE(transport::shm, transport::ipc, transport::tcp, transport::multicast);
  INFO(to_string(way));
  const std::vector<std::size_t> sizes = way == transport::multicast
                                             ? std::vector<std::size_t>{10, 1000, 100'000}
                                             : std::vector<std::size_t>{10, 1000, 100'000, 1'000'000, 10'000'000};
  {
    orc::participant arm(broker.options("arm"));
    REQUIRE(arm.register_topic("arm/state", over(way, struct_type("float64"))));
    REQUIRE(arm.register_topic("arm/text", over(way, {})));
    recorder_process recorder(orc, {"-o", first});
    for (const std::string topic : {"arm/state", "arm/text"})
      REQUIRE(wait_until([&] { return arm.publisher(topic).readers() == 1; }));
    std::uint64_t sent = 0;
    for (const std::size_t size : sizes) {
      for (int i = 0; i < 3; ++i) {
        send(arm, "arm/state", patterned(size, sent));
        send(arm, "arm/text", patterned(10, sent));
        sent += 2;
      }
    }
    REQUIRE(wait_until([&] { return samples_in(first) == sent; }));
    CHECK(recorder.end() == 0);
  }
  const recorded original = read_recording(first);
  REQUIRE(original.samples.size() == 6 * sizes.size());

  recorder_process again(orc, {"arm/**", "-o", second});
  std::vector<std::string> play{"play", first, "--wait-for-subscribers", "--transports", std::string(to_string(way))};
  const std::int64_t began = orc::detail::realtime_ns();
  child_process player = orc.start(play);
  CHECK(player.wait_for_end() == 0);
  REQUIRE(wait_until([&] { return samples_in(second) == original.samples.size(); }));
  CHECK(again.end() == 0);

  const recorded copy = read_recording(second);
  CHECK(copy.problems.empty());
  for (const std::string topic : {"arm/state", "arm/text"}) {
    INFO(topic);
    const auto before = original.of(topic);
    const auto after = copy.of(topic);
    REQUIRE(after.size() == before.size());
    CHECK(copy.channels.at(after.front().channel).type == original.channels.at(before.front().channel).type);
    for (std::size_t i = 0; i < before.size(); ++i) {
      INFO("sample " << i);
      CHECK((after[i].data == before[i].data));  // not in CHECK: 10 MB are no message
      CHECK(after[i].sequence == before[i].sequence);
      // The player sends at the distances at which the recorder received, and never early. A busy machine makes it
      // late.
      CHECK(after[i].stamp_ns - began >= before[i].received_ns - before[0].received_ns);
    }
  }
}
