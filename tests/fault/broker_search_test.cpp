// Where a broker is searched, another user may have put one of their own.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/orc_tool.h"

using namespace orc::test;

namespace {

// The user's run directory, in which "orc" is the directory of a running broker.
class search_place {
 public:
  search_place() {
    REQUIRE(::symlink(address_broker.directory().path().c_str(), base_.file("orc").c_str()) == 0);
    if (const char* const before = ::getenv("XDG_RUNTIME_DIR")) before_ = before;
    ::setenv("XDG_RUNTIME_DIR", base_.path().c_str(), 1);
  }
  ~search_place() { before_.empty() ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1); }
  [[nodiscard]] std::string base() const { return base_.path().string(); }
  [[nodiscard]] std::string directory() const { return base_.file("orc"); }
  [[nodiscard]] std::string endpoint() const { return "ipc://" + directory() + "/broker"; }

  broker_process address_broker;

 private:
  orc::detail::temporary_directory base_;
  std::string before_;
};

std::string outcome_of_search() {
  orc::participant searcher({.broker_timeout = std::chrono::milliseconds(1000)});
  const auto done = searcher.register_topic("t").result();
  return done ? "found " + searcher.broker_endpoint() : done.error().message();
}

}  // namespace

TEST_CASE("A6: a broker in this user's directory is found, one that others could have made is not", "[fault]") {
  const search_place place;
  CHECK(outcome_of_search() == "found " + place.endpoint());

  const std::string path = place.address_broker.directory().path();
  REQUIRE(::chmod(path.c_str(), 0777) == 0);
  const std::string writable = outcome_of_search();
  CHECK(writable != "found " + place.endpoint());
  if (!writable.starts_with("found"))
    CHECK_THAT(writable, contains(place.directory() + " can be written by everybody"));
  REQUIRE(::chmod(path.c_str(), 0700) == 0);

  if (::geteuid() != 0) return skip("needs root, to make another user's directory");
  REQUIRE(::chown(path.c_str(), 4242, 4242) == 0);
  const std::string foreign = outcome_of_search();
  CHECK(foreign != "found " + place.endpoint());
  if (!foreign.starts_with("found")) CHECK_THAT(foreign, contains(place.directory() + " belongs to uid 4242: ignored"));
  const tool orc(place.address_broker);
  const auto seen = orc.run("ORC_BROKER= XDG_RUNTIME_DIR=" + place.base() + " $orc doctor --json - 2>/dev/null");
  CHECK_THAT(seen.out, contains("belongs to uid 4242: ignored"));
  // Named, it is used all the same.
  orc::participant named({.broker = place.endpoint()});
  CHECK(named.register_topic("t").result());
  REQUIRE(::chown(path.c_str(), 0, 0) == 0);
}

TEST_CASE("A6: sockets are not put into another user's directory", "[fault]") {
  if (::geteuid() != 0) return skip("needs root, to make another user's directory");
  search_place place;
  broker_process by_tcp(broker_process::at::tcp);
  REQUIRE(::chown(place.address_broker.directory().path().c_str(), 4242, 4242) == 0);
  orc::participant participant(by_tcp.options());
  const auto refused = participant.register_topic("t", {.transports = {orc::transport::ipc}}).result();
  CHECK(refused.code() == orc::errc::no_permission);
  CHECK_THAT(refused.error().message(), contains("belongs to uid 4242"));
  CHECK(participant.register_topic("u", {.transports = {orc::transport::tcp}}).result());
  REQUIRE(::chown(place.address_broker.directory().path().c_str(), 0, 0) == 0);
}
