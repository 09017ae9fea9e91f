// The tools in a namespace: ORC_NAMESPACE and --namespace stand before the names that are typed.
#include "orc/calls.h"
#include "orc/parameters.h"
#include "support/orc_tool.h"
#include "support/recorded.h"
#include "support/recorder_process.h"

using namespace orc::test;

namespace {

struct robot {
  explicit robot(const broker_process& address_broker)
      : participant([&] {
          auto options = address_broker.options("robot");
          options.name_space = "robot7";
          return options;
        }()) {
    REQUIRE(participant.register_topic("pose"));
    REQUIRE(service.result());
    REQUIRE(gain.result());
  }
  orc::participant participant;
  orc::service service = participant.serve("who", [](std::span<const std::byte> request, orc::call_context&) {
    return std::vector<std::byte>(request.begin(), request.end());
  });
  orc::parameter<double> gain = participant.parameter<double>("gain", 1.0, {});
};

[[nodiscard]] std::string out_of(const tool& orc, const std::string& command, int exit_code = 0) {
  const auto done = orc.run(command);
  INFO(command << "\n" << done.err);
  CHECK(done.exit_code == exit_code);
  return done.out;
}

}  // namespace

TEST_CASE("orc: a namespace stands before the names that are typed", "[integration]") {
  const broker_process address_broker;
  const tool orc(address_broker);
  robot seven(address_broker);
  REQUIRE(seven.participant.send_msg("pose", "here", 4));
  const std::string in = "ORC_NAMESPACE=robot7 $orc ";
  CHECK_THAT(out_of(orc, in + "topic echo pose --once --raw"), contains("here"));
  CHECK_THAT(out_of(orc, "$orc topic echo pose --once --raw --namespace robot7"), contains("here"));
  CHECK_THAT(out_of(orc, "$orc topic echo --namespace robot7 pose --once --raw"), contains("here"));
  CHECK_THAT(out_of(orc, "ORC_NAMESPACE=robot8 $orc topic echo /robot7/pose --once --raw"), contains("here"));
  CHECK_THAT(out_of(orc, "ORC_NAMESPACE=robot8 $orc topic echo robot7/pose --once --raw --namespace /"),
             contains("here"));
  CHECK_THAT(out_of(orc, in + "topic info pose"), contains("robot"));
  CHECK_THAT(out_of(orc, in + "topic hz pose -n 1 --json"), contains(R"("topic":"robot7/pose")"));
  CHECK(out_of(orc, in + "topic list") == "robot7/gain\nrobot7/pose\nrobot7/who\n");
  CHECK(out_of(orc, in + "param list 'g*'") == "robot7/gain\n");
  CHECK(out_of(orc, "ORC_NAMESPACE=robot8 $orc param list '**'").empty());
  CHECK(out_of(orc, "ORC_NAMESPACE=robot8 $orc param list") == "robot7/gain\n");
  CHECK(out_of(orc, in + "param set gain 2.5") == "2.5\n");
  CHECK(*seven.gain == 2.5);
  CHECK(out_of(orc, in + "param get gain") == "2.5\n");
  CHECK(out_of(orc, in + "service call who --hex 6869") == "6869\n");
  CHECK_THAT(out_of(orc, in + "service info who"), contains("robot7/who"));
  CHECK(out_of(orc, in + "service list") == "robot7/who\n");
  CHECK_THAT(out_of(orc, in + "type show gain"), contains("orc.Parameter"));

  REQUIRE(seven.participant.request_topic("goal"));
  CHECK(out_of(orc, in + "topic pub goal there --wait 10s").empty());
  const auto goal = seven.participant.recv_msg("goal", patience_ms);
  CHECK(std::string(static_cast<const char*>(goal.data()), goal.size()) == "there");
}

TEST_CASE("orc: a bad namespace is an error of the command line", "[integration]") {
  const broker_process address_broker;
  const tool orc(address_broker);
  for (const char* const command :
       {"ORC_NAMESPACE=lab//robot7 $orc topic echo pose", "$orc topic echo pose --namespace lab//robot7",
        "$orc record pose --namespace lab//robot7", "$orc param get gain --namespace lab//robot7"}) {
    const auto done = orc.run(command);
    INFO(command);
    CHECK(done.exit_code == 2);
    CHECK_THAT(done.err, contains("NAMESPACE") || contains("--namespace"));
    CHECK_THAT(done.err, contains("empty part"));
  }
  const auto typed = orc.run("$orc topic echo 'a b' --namespace robot7");
  CHECK(typed.exit_code == 2);
  CHECK_THAT(typed.err, contains("'a b' is not a topic name"));
}

TEST_CASE("orc record and play: recordings hold full names", "[integration]") {
  const broker_process address_broker;
  const tool orc(address_broker);
  const std::string file = address_broker.directory().file("robot7.mcap");
  {
    robot seven(address_broker);
    recorder_process recorder(orc, {"pose", "--namespace", "robot7", "-o", file});
    REQUIRE(wait_until([&] { return seven.participant.publisher("pose").readers() == 1; }));
    REQUIRE(seven.participant.send_msg("pose", "here", 4));
    REQUIRE(wait_until([&] { return samples_in(file) == 1; }));
    CHECK(recorder.end() == 0);
  }
  const auto recorded = read_recording(file);
  REQUIRE(recorded.samples.size() == 1);
  CHECK(recorded.samples.front().topic == "robot7/pose");
  recorder again(address_broker, "robot7/pose");
  CHECK(out_of(orc, "ORC_NAMESPACE=robot8 $orc play " + file + " --wait-for-subscribers").empty());
  CHECK(again.next() == "here");
}
