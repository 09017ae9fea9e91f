// A type of lcm-gen goes through ORC untouched, its fingerprint in front, both ways.
#include <string>

#include "base/temporary_directory.h"
#include "interop/crc32.h"
#include "interop/peers.h"
#include "support/own_network.h"

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
