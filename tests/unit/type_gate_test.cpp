// Which publications a subscription may link to, by their types.
#include "core/types/type_gate.h"

#include <memory>
#include <new>
#include <string>

#include "support/alloc_counter.h"
#include "support/catch.h"
#include "support/struct_types.h"

using namespace orc::detail;
using namespace orc::test;
using orc::errc;
using orc::type_check;
using orc::type_description;
namespace wire = orc::wire;

namespace {

const std::string sentence = "topic arm/state: " + mismatch_of_structs("arm (4711)");

struct fixture {
  explicit fixture(const type_description& expected = struct_type("float64"), type_check how = type_check::on)
      : gate("arm/state", describe(expected), how) {}

  static wire::publication_info publication(const type_description& type, std::uint32_t pid = 4711) {
    wire::publication_info one;
    one.publication = wire::id::random();
    one.participant_name = "arm";
    one.pid = pid;
    if (const auto described = describe(type)) one.type = described->reference;
    return one;
  }
  // A publication whose schema the gate needs, and gets.
  wire::publication_info check(const type_description& type, std::uint32_t pid = 4711) {
    auto shown = publication(type, pid);
    gate.look_at(shown, checks);
    REQUIRE(gate.awaited() != nullptr);
    gate.compare(type, checks);
    return shown;
  }
  [[nodiscard]] std::string news() {
    const auto one = gate.take_news();
    return one ? one->text : "";
  }

  type_checks checks;
  type_gate gate;
};

}  // namespace

TEST_CASE("type gate: the publisher should learn of a mismatch, once for each verdict, and not when it ended",
          "[unit]") {
  fixture f;
  auto shown = f.check(struct_type("float32"));
  REQUIRE(f.gate.report());
  CHECK("topic arm/state: " + *f.gate.report() == sentence);
  f.gate.forget_report();
  f.gate.look_at(shown, f.checks);  // the broker repeats itself
  CHECK_FALSE(f.gate.report());
  shown.publication = wire::id::random();  // the publisher restarted in the same process
  f.gate.look_at(shown, f.checks);
  CHECK(f.gate.report());
  f.gate.look_at(fixture::publication(struct_type("float64")), f.checks);
  CHECK_FALSE(f.gate.report());
}

TEST_CASE("type gate: an untyped end, an equal hash and type_check::off need no schema", "[unit]") {
  const auto other = struct_type("float32");
  const auto may_link = [](fixture&& f, const type_description& published) {
    f.gate.look_at(fixture::publication(published), f.checks);
    return f.gate.awaited() == nullptr && !f.gate.closed_by() && f.news().empty();
  };
  CHECK(may_link(fixture(), {}));
  CHECK(may_link(fixture(), struct_type("float64")));
  CHECK(may_link(fixture(type_description()), other));
  CHECK(may_link(fixture(struct_type("float64"), type_check::off), other));
  CHECK_FALSE(may_link(fixture(), other));
}

TEST_CASE("type gate: it is closed until the schema is there, and says what it waits for", "[unit]") {
  fixture f;
  f.gate.look_at(fixture::publication(struct_type("float32", "robot.\nState")), f.checks);
  REQUIRE(f.gate.awaited() != nullptr);
  CHECK(f.gate.awaited()->name == "robot.\nState");
  REQUIRE(f.gate.closed_by());
  CHECK(f.gate.closed_by()->reason == "waits for the schema of robot.\\nState");
  CHECK_FALSE(f.gate.closed_by()->mismatch);
  CHECK(f.news().empty());
}

TEST_CASE("type gate: types of other hashes that match open it", "[unit]") {
  fixture f;
  f.check(large_struct_type("float64", 400));
  CHECK_FALSE(f.gate.closed_by());
  CHECK(f.gate.awaited() == nullptr);
  CHECK(f.news().empty());
}

TEST_CASE("type gate: a mismatch names the topic, both ends and the difference, and is news once", "[unit]") {
  fixture f;
  const auto shown = f.check(struct_type("float32"));
  REQUIRE(f.gate.closed_by());
  CHECK(f.gate.closed_by()->reason == sentence);
  REQUIRE(f.gate.closed_by()->mismatch);
  CHECK(f.gate.closed_by()->mismatch->code() == errc::type_mismatch);
  CHECK(f.gate.closed_by()->mismatch->message() == sentence);
  const auto news = f.gate.take_news();
  REQUIRE(news);
  CHECK(news->level == orc::log_level::warning);
  CHECK(news->text == sentence);
  CHECK(f.news().empty());
  f.gate.look_at(shown, f.checks);  // the state comes again
  CHECK(f.gate.awaited() == nullptr);
  CHECK(f.gate.closed_by());
  CHECK(f.news().empty());
  f.gate.look_at(fixture::publication(struct_type("float32")), f.checks);  // the same program registers it again
  CHECK(f.gate.awaited() == nullptr);
  CHECK(f.gate.closed_by());
  CHECK(f.news().empty());
}

TEST_CASE("type gate: the end of a mismatch is news, and so is the next one", "[unit]") {
  fixture f;
  f.check(struct_type("float32"));
  CHECK(f.news() == sentence);
  f.gate.look_at(fixture::publication(struct_type("float64"), 4712), f.checks);
  CHECK_FALSE(f.gate.closed_by());
  const auto end = f.gate.take_news();
  REQUIRE(end);
  CHECK(end->level == orc::log_level::info);
  CHECK(end->text == "topic arm/state: the type of publisher `arm (4712)` matches now");
  f.gate.look_at(fixture::publication({}, 4713), f.checks);
  CHECK(f.news().empty());
  f.check(struct_type("float32"), 4714);
  CHECK(f.news() == "topic arm/state: " + mismatch_of_structs("arm (4714)"));
}

TEST_CASE("type gate: the same publication with another type is checked again", "[unit]") {
  fixture f;
  auto shown = fixture::publication(struct_type("float64"));
  f.gate.look_at(shown, f.checks);
  CHECK_FALSE(f.gate.closed_by());
  shown.type = describe(struct_type("float32"))->reference;
  f.gate.look_at(shown, f.checks);
  REQUIRE(f.gate.closed_by());
  f.gate.compare(struct_type("float32"), f.checks);
  CHECK(f.gate.closed_by()->mismatch);
}

TEST_CASE("type gate: a publisher that has another name now is not checked again", "[unit]") {
  fixture f;
  auto renamed = f.check(struct_type("float32"));
  CHECK(f.news() == sentence);
  renamed.participant_name = "leg";
  f.gate.look_at(renamed, f.checks);
  CHECK(f.gate.awaited() == nullptr);
  REQUIRE(f.gate.closed_by());
  CHECK(f.gate.closed_by()->reason == sentence);
  CHECK(f.news().empty());
  f.gate.look_at(fixture::publication(struct_type("float64")), f.checks);
  CHECK_FALSE(f.news().empty());
  auto compatible = f.check(large_struct_type("float64", 400));
  compatible.pid = 1;
  f.gate.look_at(compatible, f.checks);
  CHECK_FALSE(f.gate.closed_by());
}

TEST_CASE("type gate: a verdict outlives reports without the publication, a question does not", "[unit]") {
  fixture f;
  const auto known = f.check(large_struct_type("float64", 400));
  f.gate.look_away();
  f.gate.look_at(known, f.checks);
  CHECK_FALSE(f.gate.closed_by());
  f.gate.look_at(fixture::publication(struct_type("float32")), f.checks);
  REQUIRE(f.gate.awaited() != nullptr);
  f.gate.look_away();
  CHECK(f.gate.awaited() == nullptr);
  CHECK_FALSE(f.gate.closed_by());
}

TEST_CASE("type gate: types without a schema are compared at once, if their hash is right", "[unit]") {
  const type_description expected{"a.Text", "", "json", ""};
  fixture f(expected);
  const type_description other{"b.Text", "", "json", ""};
  f.gate.look_at(fixture::publication(other), f.checks);
  REQUIRE(f.gate.closed_by());
  CHECK(f.gate.closed_by()->reason == "topic arm/state: type is b.Text at publisher `arm (4711)`, a.Text here");
  auto lie = fixture::publication({"c.Text", "", "json", ""});
  lie.type->hash ^= 1;
  f.gate.look_at(lie, f.checks);
  REQUIRE(f.gate.closed_by());
  CHECK_FALSE(f.gate.closed_by()->mismatch);
}

TEST_CASE("type gate: without memory there is no verdict, and with memory again there is one", "[unit]") {
  if (!alloc_counter::counts()) return skip("a sanitizer has the operator new");
  const auto other = struct_type("float32");
  bool was_enough = false;
  std::size_t good = 0;
  for (; !was_enough && good < 1000; ++good) {
    fixture f;
    f.gate.look_at(fixture::publication(other), f.checks);
    REQUIRE(f.gate.awaited() != nullptr);
    try {
      const alloc_failure starved(good);
      f.gate.compare(other, f.checks);
      was_enough = true;
    } catch (const std::bad_alloc&) {
      REQUIRE(f.gate.awaited() != nullptr);
      REQUIRE(f.gate.closed_by());
      CHECK_FALSE(f.gate.closed_by()->mismatch);
      f.gate.compare(other, f.checks);
    }
    REQUIRE(f.gate.closed_by());
    REQUIRE(f.gate.closed_by()->mismatch);
    CHECK(f.gate.closed_by()->mismatch->code() == errc::type_mismatch);
    CHECK(f.gate.closed_by()->reason == sentence);
    CHECK(f.news() == sentence);
  }
  CHECK(was_enough);
  CHECK(good > 1);
}

TEST_CASE("type gate: a schema that cannot be read is a mismatch", "[unit]") {
  fixture f;
  type_description broken = struct_type("float64");
  broken.schema += "nonsense";
  f.check(broken);
  REQUIRE(f.gate.closed_by());
  REQUIRE(f.gate.closed_by()->mismatch);
  CHECK(f.gate.closed_by()->mismatch->code() == errc::type_mismatch);
  CHECK_THAT(f.gate.closed_by()->reason, contains("topic arm/state: schema of robot.State at publisher `arm (4711)`"));
}
