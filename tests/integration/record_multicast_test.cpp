// `orc record --multicast`: the channels of an LCM network.
#include <algorithm>
#include <filesystem>

#include "orc/schema.h"
#include "support/recorded.h"
#include "support/recorder_process.h"
#include "support/test_group.h"

using namespace orc;
using namespace orc::test;

namespace {

constexpr const char* definition = "package exlcm;\nstruct point_t {\n  double x;\n}\n";

std::string message_of(std::uint64_t fingerprint, const std::string& rest) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(fingerprint >> shift);
  return bytes + rest;
}

// Sends on LCM channels.
class lcm_sender {
 public:
  explicit lcm_sender(const std::vector<std::string>& channels) : node_(alone()) {
    for (const auto& each : channels) REQUIRE(node_.register_topic(each));
  }
  void send(const std::string& channel, const std::string& text) {
    REQUIRE(node_.send_msg(channel, text.data(), text.size()));
  }

 private:
  orc::participant node_;
};

}  // namespace

TEST_CASE("orc record --multicast captures every channel, with types, to MCAP and to an LCM log") {
  const broker_process broker;  // for its directory: the recorder uses none
  const tool orc(broker);
  const std::string types = broker.directory().file("point_t.lcm");
  std::ofstream(types) << definition;
  type_description point;
  point.name = "exlcm.point_t";
  point.schema_encoding = point.message_encoding = "lcm";
  point.schema = definition;
  const auto fingerprint = lcm_fingerprint(point);
  REQUIRE(fingerprint);
  const std::string mcap = broker.directory().file("run.mcap");
  const std::string log = broker.directory().file("run.log");
  recorder_process to_mcap(orc, {"--multicast", test_group(), "--lcm-types", types, "-o", mcap});
  recorder_process to_log(orc, {"--multicast", test_group(), "-o", log});
  lcm_sender sender({"POINT", "IMAGE"});
  const std::string image(300'000, 'i');
  for (int i = 0; i < 200; ++i) {
    sender.send("POINT", message_of(*fingerprint, std::to_string(i)));
    if (i % 40 == 0) sender.send("IMAGE", image);
  }
  for (const auto& file : {mcap, log}) CHECK(wait_until([&] { return samples_in(file) == 205; }));
  CHECK(to_mcap.end() == 0);
  CHECK(to_log.end() == 0);

  for (const auto& file : {mcap, log}) {
    INFO(file);
    const recorded found = read_recording(file);
    CHECK(found.summary.format == (file == mcap ? "mcap" : "lcm"));
    const auto points = found.of("POINT");
    REQUIRE(points.size() == 200);
    for (std::size_t i = 0; i < points.size(); ++i) {
      REQUIRE(points[i].data.substr(8) == std::to_string(i));
      if (i > 0) REQUIRE(points[i].received_ns >= points[i - 1].received_ns);
    }
    const auto images = found.of("IMAGE");
    REQUIRE(images.size() == 5);
    for (const auto& each : images) CHECK(each.data == image);
  }
  const recorded found = read_recording(mcap);
  CHECK(found.channels.at(found.of("POINT").front().channel).type.name == "exlcm.point_t");
  CHECK(found.channels.at(found.of("IMAGE").front().channel).type.empty());
}

TEST_CASE("orc record --multicast records only the channels that are named, and refuses a bad URL") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  recorder_process recorder(orc, {"A*", "--multicast", test_group(), "-o", file});
  lcm_sender sender({"ARM", "LEG"});
  sender.send("LEG", "no");
  sender.send("ARM", "yes");
  CHECK(recorder.end() == 0);
  const recorded found = read_recording(file);
  REQUIRE(found.samples.size() == 1);
  CHECK(found.samples.front().topic == "ARM");

  const auto wrong = orc.run("$orc record --multicast tcp://1.2.3.4 -o " + broker.directory().file("x.mcap"));
  CHECK(wrong.exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(broker.directory().path() / "x.mcap"));
}
