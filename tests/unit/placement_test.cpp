// Which transports a publication opens, by what they are.
#include "core/publication/placement.h"

#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/value_of.h"

using namespace orc::detail;
using orc::errc;
using orc::transport_set;
namespace wire = orc::wire;

namespace {

class fake_kind final : public transport_kind {
 public:
  fake_kind(int number, capabilities can) : number_(number), can_(can) {}
  [[nodiscard]] wire::transport name() const noexcept override { return static_cast<wire::transport>(number_); }
  [[nodiscard]] capabilities can() const noexcept override { return can_; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec&) const override {
    return orc::error(errc::refused);
  }
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec&,
                                                         const wire::endpoint&) const override {
    return orc::error(errc::refused);
  }

 private:
  int number_;
  capabilities can_;
};

// Numbers that no transport of ORC has: the policy knows none of them.
enum : int { local = 11, with_directory, network, on_request, brokerless };

orc::transport as_named(int number) { return static_cast<orc::transport>(number); }

transport_list every() {
  transport_list all;
  all.push_back(std::make_unique<fake_kind>(local, capabilities{.by_default = true}));
  all.push_back(std::make_unique<fake_kind>(with_directory, capabilities{.by_default = true, .needs_directory = true}));
  all.push_back(std::make_unique<fake_kind>(network, capabilities{.leaves_host = true, .by_default = true}));
  all.push_back(std::make_unique<fake_kind>(on_request, capabilities{.may_be_missing = true}));
  all.push_back(std::make_unique<fake_kind>(brokerless, capabilities{.needs_broker = false, .leaves_host = true}));
  return all;
}

network_scope beside_broker() {
  network_scope scope;
  scope.directory = "/run/orc/1000";
  return scope;
}

network_scope without_broker() {
  network_scope scope;
  scope.alone = true;
  return scope;
}

using numbers = std::vector<int>;

numbers opened(const network_scope& scope, transport_set named = {}, transport_set open = {}) {
  const auto all = every();
  numbers found;
  for (const auto* kind : orc::test::value_of(transports_to_open(all, named, open, scope, "t")))
    found.push_back(static_cast<int>(kind->name()));
  return found;
}

orc::error failure(const network_scope& scope, transport_set named = {}, transport_set open = {}) {
  const auto all = every();
  const auto chosen = transports_to_open(all, named, open, scope, "t");
  return chosen ? orc::error(errc::ok) : chosen.error();
}

}  // namespace

TEST_CASE("placement: a topic that names no transports gets the default ones", "[unit]") {
  CHECK(opened(beside_broker()) == numbers{local, with_directory});
  auto reachable = beside_broker();
  reachable.across_hosts = true;
  CHECK(opened(reachable) == numbers{local, with_directory, network});
  // That others may subscribe is not enough: the place decides.
  auto remote = beside_broker();
  remote.remote = true;
  CHECK(opened(remote) == numbers{local, with_directory});
}

TEST_CASE("placement: a topic that names transports gets these, and no others", "[unit]") {
  CHECK(opened(beside_broker(), {as_named(network)}) == numbers{network});
  CHECK(opened(beside_broker(), {as_named(brokerless), as_named(on_request)}) == numbers{on_request, brokerless});
  auto reachable = beside_broker();
  reachable.across_hosts = true;
  CHECK(opened(reachable, {as_named(local)}) == numbers{local});
}

TEST_CASE("placement: without a broker only transports that need none are opened", "[unit]") {
  CHECK(opened(without_broker()) == numbers{brokerless});
  CHECK(opened(without_broker(), {as_named(local), as_named(brokerless)}) == numbers{brokerless});
  const auto none = failure(without_broker(), {as_named(local), as_named(on_request)});
  CHECK(none.code() == errc::bad_argument);
  CHECK(none.message().find("topic t") != std::string::npos);
}

TEST_CASE("placement: what is open already is not opened again", "[unit]") {
  CHECK(opened(beside_broker(), {}, {as_named(local)}) == numbers{with_directory});
  CHECK(opened(beside_broker(), {}, {as_named(local), as_named(with_directory)}).empty());
  CHECK(opened(without_broker(), {}, {as_named(brokerless)}).empty());
}

TEST_CASE("placement: a place without a directory fails the transports that need one", "[unit]") {
  network_scope scope;
  scope.directory_problem = orc::error(errc::no_permission, "not yours");
  CHECK(failure(scope).code() == errc::no_permission);
  CHECK(failure(scope).message() == "not yours");
  CHECK(opened(scope, {as_named(local), as_named(network)}) == numbers{local, network});
  CHECK(opened(scope, {}, {as_named(with_directory)}) == numbers{local});
}

TEST_CASE("placement: a topic does without a transport that this system lacks, when it has others", "[unit]") {
  const fake_kind missing(on_request, {.may_be_missing = true});
  const fake_kind usual(local, {.by_default = true});
  const transport_set both{as_named(local), as_named(on_request)};
  CHECK(can_do_without(missing, both, orc::error(errc::system_error)));
  CHECK_FALSE(can_do_without(missing, {as_named(on_request)}, orc::error(errc::system_error)));
  CHECK_FALSE(can_do_without(missing, both, orc::error(errc::no_permission)));
  CHECK_FALSE(can_do_without(usual, both, orc::error(errc::system_error)));
}
