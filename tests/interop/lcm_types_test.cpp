// A type of lcm-gen goes through ORC untouched, its fingerprint in front, both ways.
#include <fstream>
#include <iterator>
#include <string>

#include "base/files/temporary_directory.h"
#include "interop/crc32.h"
#include "interop/peers.h"
#include "orc.h"
#include "orc/schema.h"
#include "support/budget.h"
#include "support/own_network.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// The bytes of a line: `label`, then two digits each.
std::string told_bytes(peer& from, const std::string& label) {
  const auto line = from.line();
  REQUIRE(line);
  REQUIRE(line->starts_with(label));
  std::string bytes;
  for (std::size_t at = label.size(); at + 1 < line->size(); at += 2) {
    bytes += static_cast<char>(std::stoi(line->substr(at, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

TEST_CASE("lcm types: a sample goes to an ORC program and comes back, its fingerprint is that of the type",
          "[interop]") {
  if (const auto why = missing(kind::python)) return skip(*why);
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  const orc::detail::temporary_directory modules;
  INFO(why);
  REQUIRE(run_command({of_venv("lcm-gen"), "-p", "--ppath", modules.path().string(), ORC_LCM_POSE}, why));
  const std::string url = "udpm://239.255.76.67:7667?ttl=0";
  peer echo(kind::orc, "echo", {url, "POSE", "POSE_BACK"});
  peer receiver(kind::orc, "receive", {url, "POSE"});
  peer typed(kind::python, "typed", {url, "POSE", "POSE_BACK", modules.path().string()});
  const auto fingerprint = told_bytes(typed, "fingerprint ");
  const auto sent = told_bytes(typed, "sent ");
  CHECK(fingerprint.size() == 8);
  CHECK(sent.starts_with(fingerprint));
  const auto got = receiver.next();
  REQUIRE(got);
  CHECK(got->size == sent.size());
  CHECK(got->crc == crc32(sent.data(), sent.size()));
  CHECK(typed.line().value_or("nothing") == "equal");
}

TEST_CASE("lcm types: a subscription takes a real LCM program's type by its fingerprint, and no other", "[interop]") {
  if (const auto why = missing(kind::python)) return skip(*why);
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  const orc::detail::temporary_directory modules;
  INFO(why);
  REQUIRE(run_command({of_venv("lcm-gen"), "-p", "--ppath", modules.path().string(), ORC_LCM_POSE}, why));
  std::ifstream file(ORC_LCM_POSE);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const orc::type_description pose{"interop.pose_t", "lcm", "lcm", text};
  auto other = pose;
  const auto at = other.schema.find("double position[3]");
  REQUIRE(at != std::string::npos);
  other.schema.replace(at, 6, "float");
  orc::participant_options options;
  options.broker = "none";
  options.multicast = "udpm://239.255.76.67:7667?ttl=0";
  orc::participant matching(options);
  orc::participant differing(options);
  REQUIRE(matching.request_topic("POSE", {.type = pose}).result());
  REQUIRE(differing.request_topic("POSE", {.type = other}).result());
  peer typed(kind::python, "typed", {options.multicast, "POSE", "POSE_BACK", modules.path().string()});
  const auto fingerprint = told_bytes(typed, "fingerprint ");
  const auto sent = told_bytes(typed, "sent ");
  const auto got = matching.recv_msg("POSE", patience_ms);
  REQUIRE(got);
  CHECK(std::string(static_cast<const char*>(got.data()), got.size()) == sent);
  auto subscriber = differing.subscriber("POSE");
  REQUIRE(wait_until([&] { return subscriber.wait_connected(0).code() == orc::errc::type_mismatch; }));
  const auto outcome = subscriber.wait_connected(0);
  INFO(outcome.error().message());
  CHECK(outcome.error().message().starts_with("topic POSE: the fingerprint is 0x"));
  CHECK(outcome.error().message().find("here (interop.pose_t)") != std::string::npos);
  CHECK(!subscriber.recv(0));
  peer echo(kind::orc, "echo", {options.multicast, "POSE", "POSE_BACK"});  // ends the LCM program
  CHECK(typed.line().value_or("nothing") == "equal");
}
