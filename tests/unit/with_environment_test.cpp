// What a participant takes from its environment, and what it refuses there.
#include "core/participant/with_environment.h"

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/value_of.h"

using orc::errc;
using orc::detail::with_environment;

namespace {

struct variable {
  const char* name;
  const char* value;
};

// Sets variables, and unsets all the others that count, until it ends.
class environment {
 public:
  environment(std::initializer_list<variable> values) {
    for (const char* name : {"ORC_TRANSPORTS", "ORC_NAMESPACE", "ORC_PORTS", "ORC_BROKER", "ORC_MULTICAST",
                             "LCM_DEFAULT_URL", "ORC_ADVERTISE"}) {
      const char* const value = std::getenv(name);
      before_.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
    for (const auto& each : values) ::setenv(each.name, each.value, 1);
  }
  ~environment() {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

orc::participant_options completed(orc::participant_options options = {}) {
  return orc::test::value_of(with_environment(std::move(options)));
}

std::string problem(orc::participant_options options = {}) {
  const auto done = with_environment(std::move(options));
  REQUIRE_FALSE(done);
  CHECK(done.error().code() == errc::bad_argument);
  return done.error().message();
}

}  // namespace

TEST_CASE("with_environment: without variables it leaves the defaults", "[unit][threads]") {
  const environment none{};
  const auto options = completed();
  CHECK(options.transports.empty());
  CHECK(options.ports.empty());
  CHECK(options.broker.empty());
  CHECK(options.advertise.empty());
  CHECK_THAT(options.multicast, orc::test::contains("239.255.76.67:7667"));
}

TEST_CASE("with_environment: variables fill in what the program leaves open, and nothing else", "[unit][threads]") {
  const environment some{{"ORC_TRANSPORTS", "shm,tcp"},
                         {"ORC_PORTS", "40000-40100"},
                         {"ORC_BROKER", "none"},
                         {"ORC_MULTICAST", "udpm://239.255.76.68:7668?ttl=1"},
                         {"ORC_ADVERTISE", "192.0.2.1"}};
  const auto filled = completed();
  CHECK(filled.transports == orc::transport_set{orc::transport::shm, orc::transport::tcp});
  CHECK(filled.ports == "40000-40100");
  CHECK(filled.broker == "none");
  CHECK_THAT(filled.multicast, orc::test::contains("239.255.76.68:7668"));
  CHECK(filled.advertise == "192.0.2.1");
  orc::participant_options own;
  own.transports = {orc::transport::ipc};
  own.ports = "50000";
  own.broker = "ipc:///run/orc/broker";
  own.multicast = "udpm://239.255.76.69:7669?ttl=0";
  own.advertise = "192.0.2.2";
  const auto kept = completed(own);
  CHECK(kept.transports == own.transports);
  CHECK(kept.ports == own.ports);
  CHECK(kept.broker == own.broker);
  CHECK_THAT(kept.multicast, orc::test::contains("239.255.76.69:7669"));
  CHECK(kept.advertise == own.advertise);
}

TEST_CASE("with_environment: a wrong value is refused with its name", "[unit][threads]") {
  {
    const environment wrong{{"ORC_TRANSPORTS", "shm,pigeon"}};
    CHECK_THAT(problem(), orc::test::contains("ORC_TRANSPORTS: there is no transport pigeon"));
  }
  {
    const environment wrong{{"ORC_PORTS", "many"}};
    CHECK_THAT(problem(), orc::test::contains("ORC_PORTS"));
  }
  {
    const environment wrong{{"ORC_ADVERTISE", "tcp://192.0.2.1"}};
    CHECK_THAT(problem(), orc::test::contains("ORC_ADVERTISE"));
  }
  {
    const environment wrong{{"ORC_MULTICAST", "nonsense"}};
    CHECK_FALSE(problem().empty());
  }
  const environment none{};
  CHECK_THAT(problem({.broker = "tcp://host-without-port"}), orc::test::contains("the broker's endpoint"));
}

TEST_CASE("with_environment: LCM's variable counts, and one that only LCM understands is passed over",
          "[unit][threads]") {
  {
    const environment lcm{{"LCM_DEFAULT_URL", "udpm://239.255.76.70:7670?ttl=0"}};
    CHECK_THAT(completed().multicast, orc::test::contains("239.255.76.70:7670"));
  }
  const environment other{{"LCM_DEFAULT_URL", "udpm://239.255.76.70:7670?colour=red"}};
  std::string log;
  orc::participant_options options;
  options.log = [&](orc::log_level, std::string_view text) { log += text; };
  CHECK_THAT(completed(options).multicast, orc::test::contains("239.255.76.67:7667"));
  CHECK_THAT(log, orc::test::contains("LCM_DEFAULT_URL"));
}

TEST_CASE("with_environment: the namespace of the environment counts where the program has none", "[unit][threads]") {
  {
    const environment some{{"ORC_NAMESPACE", "lab/robot7"}};
    CHECK(completed().name_space == "lab/robot7");
    CHECK(completed({.name_space = "robot8"}).name_space == "robot8");
    CHECK(completed({.name_space = "/"}).name_space == "/");
  }
  const environment wrong{{"ORC_NAMESPACE", "lab//robot7"}};
  CHECK_THAT(problem(), orc::test::contains("name_space (ORC_NAMESPACE): the namespace 'lab//robot7' has an empty"));
}
