// The tool without a broker.
#include "support/orc_tool.h"
#include "support/test_group.h"

using namespace orc;
using namespace orc::test;

TEST_CASE("orc without a broker: pub and echo meet over multicast, and what only a broker knows is said so") {
  const broker_process broker;  // the tool's home; not asked
  const tool orc(broker);
  orc::participant node(alone());
  REQUIRE(node.register_topic("alone"));
  REQUIRE(node.send_msg("alone", "hello", 5));
  const auto unheard =
      orc.run("ORC_MULTICAST='" + test_group() + "' $orc topic pub unheard x --broker none --wait 0.1");
  CHECK(unheard.exit_code == 4);  // as asked: --wait
  CHECK(unheard.err.find("LCM programs cannot be seen") != std::string::npos);
  const auto echo = orc.run("$orc topic echo alone --once --broker none");
  INFO(echo.out << echo.err);
  CHECK(echo.exit_code == 0);
  CHECK(echo.out.find("text=hello") != std::string::npos);
  for (const char* const what : {"list", "info alone", "hz alone"}) {
    const auto asked = orc.run(std::string("$orc topic ") + what + " --broker none");
    CHECK(asked.exit_code == 1);
    CHECK(asked.err.find("only a broker knows") != std::string::npos);
  }
}
