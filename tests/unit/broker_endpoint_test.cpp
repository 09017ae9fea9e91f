// What people write for a broker's endpoint, and what they are told to write.
#include "wire/broker_endpoint.h"

#include <string>
#include <utility>

#include "support/catch.h"

using orc::wire::problem_of_broker_endpoint;

TEST_CASE("broker endpoint: what has no scheme or port says what to write", "[unit]") {
  const std::pair<const char*, const char*> meant[] = {{"10.0.0.2:5570", "tcp://10.0.0.2:5570"},
                                                       {"10.0.0.2", "tcp://10.0.0.2:5570"},
                                                       {"robot", "tcp://robot:5570"},
                                                       {"robot:", "tcp://robot:5570"},
                                                       {"fe80::1", "tcp://[fe80::1]:5570"},
                                                       {"[::1]:5571", "tcp://[::1]:5571"},
                                                       {"tcp://robot", "tcp://robot:5570"},
                                                       {"tcp://[::1]", "tcp://[::1]:5570"},
                                                       {"tcp://::1", "tcp://[::1]:5570"},
                                                       {"/run/orc/broker", "ipc:///run/orc/broker"},
                                                       {"tcp:/localhost", "tcp://localhost:5570"},
                                                       {"tcp:localhost:5571", "tcp://localhost:5571"},
                                                       {"tcp:///localhost:5571", "tcp://localhost:5571"},
                                                       {"tcp:/[::1]", "tcp://[::1]:5570"},
                                                       {"ipc:/run/orc/broker", "ipc:///run/orc/broker"},
                                                       {"ipc:run/orc/broker", "ipc:///run/orc/broker"}};
  for (const auto& [wrong, right] : meant) {
    INFO(wrong);
    const auto problem = problem_of_broker_endpoint(wrong);
    REQUIRE(problem);
    CHECK(problem->instead == right);
    CHECK(problem->text.starts_with(wrong));
    CHECK(problem->text.ends_with("write " + std::string(right)));
    CHECK_FALSE(problem_of_broker_endpoint(right));
  }
}

TEST_CASE("broker endpoint: what cannot be guessed names both forms", "[unit]") {
  for (const std::string wrong : {"tcp://", "tcp:///", "tcp://:5570", "ipc://", "udp://127.0.0.1:5570", "none"}) {
    INFO(wrong);
    const auto problem = problem_of_broker_endpoint(wrong);
    REQUIRE(problem);
    CHECK(problem->instead.empty());
    CHECK(problem->text.find("tcp://HOST:PORT or ipc:///PATH") != std::string::npos);
  }
}

TEST_CASE("broker endpoint: the text is short and printable", "[unit]") {
  const auto problem = problem_of_broker_endpoint("\x1b[2J" + std::string(100'000, 'x'));
  REQUIRE(problem);
  CHECK(problem->text.size() < 300);
  CHECK(problem->text.find('\x1b') == std::string::npos);
}
