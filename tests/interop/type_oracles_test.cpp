// Samples of many types that other libraries wrote: rosbags' stores, google's well-known types, Foxglove's schemas.
#include "interop/peers.h"
#include "support/budget.h"
#include "support/child_process.h"

using namespace orc;
using namespace orc::test;

namespace {

std::optional<std::string> no_oracles() {
  if (auto why = missing(kind::python)) return why;
  std::string why;
  if (run_command({of_venv("python3"), "-c", "import mcap, rosbags, foxglove_schemas_protobuf"}, why)) return {};
  return "no oracles for Python in " ORC_LCM_VENV ": tools/dev setup installs them, with access to PyPI";
}

void check_equal(const std::string& script, std::vector<std::string> arguments) {
  std::vector<std::string> words{of_venv("python3"), ORC_ORACLES "/" + script, program("orc")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  child_process oracle(std::move(words));
  const std::string out = oracle.read_all();
  INFO(out);
  CHECK(oracle.wait_for_end() == 0);
  CHECK(out.ends_with(" types are equal\n"));
}

}  // namespace

TEST_CASE("type oracles: every type of rosbags' stores is read as rosbags wrote it", "[interop]") {
  if (const auto why = no_oracles()) return skip(*why);
  check_equal("ros_oracle.py", {long_run() ? "all" : "ros2_humble"});
}

TEST_CASE("type oracles: google's and Foxglove's messages are read as Protobuf wrote them, also as editions",
          "[interop]") {
  if (const auto why = no_oracles()) return skip(*why);
  check_equal("protobuf_oracle.py", {});
}
