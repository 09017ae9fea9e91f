// The order of changes, and the limit of those that are gone.
#include "broker/map/change_log.h"

#include <vector>

#include "support/catch.h"

using orc::change_log;

namespace {

std::vector<std::string> changes_after(const change_log& log, change_log::revision after) {
  std::vector<std::string> found;
  for (change_log::walk at(log, after); !at.at_end(); at.next()) {
    const auto& [revision, change] = at.here();
    found.push_back(change.gone() ? "-" + change.name : *change.topic);
  }
  return found;
}

using names = std::vector<std::string>;

const std::string a = "a";
const std::string b = "b";
const std::string c = "c";

}  // namespace

TEST_CASE("change log: each topic is there once, at its last change") {
  change_log log(10);
  auto first = log.add({.topic = &a});
  (void)log.add({.topic = &b});
  const auto before = log.newest();
  CHECK(changes_after(log, 0) == names{"a", "b"});
  log.changed(first);
  CHECK(changes_after(log, 0) == names{"b", "a"});
  CHECK(changes_after(log, before) == names{"a"});
  CHECK(changes_after(log, log.newest()).empty());
}

TEST_CASE("change log: what is gone is told in its turn") {
  change_log log(10);
  const auto first = log.add({.topic = &a});
  auto second = log.add({.topic = &b});
  (void)log.add({.topic = &c});
  log.gone(first, "a");
  log.changed(second);
  CHECK(changes_after(log, 0) == names{"c", "-a", "b"});
}

TEST_CASE("change log: of too many that are gone the oldest are forgotten, and it says since when it is complete") {
  change_log log(2);
  for (const auto* const name : {&a, &b, &c}) {
    CHECK(log.complete_after() == 0);
    log.gone(log.add({.topic = name}), std::string(*name));
  }
  CHECK(changes_after(log, 0) == names{"-b", "-c"});
  CHECK(changes_after(log, log.complete_after()) == names{"-b", "-c"});
  CHECK(log.complete_after() > 0);
}

TEST_CASE("change log: what is forgotten was never there") {
  change_log log(2);
  log.forget(log.add({.topic = &a}));
  CHECK(changes_after(log, 0).empty());
}
