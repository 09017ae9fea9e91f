// How a participant gets schemas from a broker that may lack them, or lie.
#include "core/types/schema_fetches.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/struct_types.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::type_description;
namespace wire = orc::wire;

namespace {

struct fixture {
  void step(monotonic::duration later = 0ms) {
    now += later;
    fetches.step(now, [this](wire::body what) -> std::optional<std::uint64_t> {
      if (is_full) return std::nullopt;
      asked.push_back(std::get<wire::get_schema>(what));
      return ++request;
    });
  }
  // What a broker that knows the type answers to the last question.
  void answer(const type_description& type) {
    const auto& question = asked.back();
    fetches.on_part(request,
                    {question.hash, question.offset, type.schema.substr(question.offset, wire::max_schema_part)}, now);
  }
  void answer(wire::schema_part part) { fetches.on_part(request, std::move(part), now); }
  [[nodiscard]] const type_description* want(const type_description& type) {
    return fetches.want(describe(type)->reference, now);
  }

  monotonic::time_point now = monotonic::time_point() + 1h;
  schema_fetches fetches;
  bool is_full = false;
  std::uint64_t request = 0;
  std::vector<wire::get_schema> asked;
};

const auto type = struct_type("float64");
const auto large = large_struct_type("float64", wire::max_schema_part * 2 + 1);

}  // namespace

TEST_CASE("schema fetches: a schema comes in parts, one after the other", "[unit]") {
  fixture f;
  CHECK(f.fetches.next() == monotonic::time_point::max());
  CHECK(f.want(large) == nullptr);
  CHECK(f.fetches.next() <= f.now);
  for (const std::uint32_t offset : {0U, 32768U, 65536U}) {
    f.step();
    f.step();
    REQUIRE(f.asked.back().offset == offset);
    CHECK(f.asked.back().hash == hash_of(large));
    f.answer(large);
  }
  CHECK(f.asked.size() == 3);
  const auto* const found = f.want(large);
  REQUIRE(found != nullptr);
  CHECK(*found == large);
  f.fetches.forget_unwanted();
  CHECK(f.fetches.next() == monotonic::time_point::max());
}

TEST_CASE("schema fetches: types are fetched one at a time, and each once", "[unit]") {
  fixture f;
  const auto other = struct_type("float32");
  for (int n = 0; n < 3; ++n) {
    CHECK(f.want(type) == nullptr);
    CHECK(f.want(other) == nullptr);
  }
  f.step();
  f.step();
  REQUIRE(f.asked.size() == 1);
  const auto& first = f.asked.back().hash == hash_of(type) ? type : other;
  f.answer(first);
  f.step();
  CHECK(f.asked.size() == 1);  // the first one was not used yet
  CHECK(f.fetches.next() == monotonic::time_point::max());
  f.fetches.release(describe(first)->reference);
  f.fetches.forget_unwanted();
  CHECK(f.fetches.next() <= f.now);
  f.step();
  REQUIRE(f.asked.size() == 2);
  CHECK(f.asked[0].hash != f.asked[1].hash);
}

TEST_CASE("schema fetches: a lost answer is asked for again, at growing intervals", "[unit]") {
  fixture f;
  static_cast<void>(f.want(type));
  f.step();
  CHECK(f.fetches.next() == f.now + 300ms);
  f.step(299ms);
  CHECK(f.asked.size() == 1);
  f.step(1ms);
  CHECK(f.asked.size() == 2);
  CHECK(f.fetches.next() == f.now + 600ms);
  for (int n = 0; n < 5; ++n) f.step(f.fetches.next() - f.now);
  CHECK(f.fetches.next() == f.now + 2400ms);
  f.fetches.on_part(1, {hash_of(type), 0, type.schema}, f.now);  // the answer to an earlier question
  CHECK(f.want(type) == nullptr);
  f.answer(type);
  CHECK(f.want(type) != nullptr);
}

TEST_CASE("schema fetches: a schema that the broker lacks is asked for again after 100 ms to 1 s", "[unit]") {
  fixture f;
  static_cast<void>(f.want(type));
  for (const auto pause : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    f.step();
    f.fetches.on_error(f.request, f.now);
    CHECK(f.fetches.next() == f.now + pause);
    const auto before = f.asked.size();
    f.step(pause - 1ms);
    CHECK(f.asked.size() == before);
    f.now += 1ms;
  }
  f.step();
  f.answer(type);
  CHECK(f.want(type) != nullptr);
}

TEST_CASE("schema fetches: what a lying broker sends never counts, and is bounded", "[unit]") {
  fixture f;
  static_cast<void>(f.want(large));
  const auto hash = hash_of(large);
  const std::string full(wire::max_schema_part, ' ');
  const std::vector<wire::schema_part> lies{
      {hash + 1, 0, full},  // of another type
      {hash, 1, full},      // elsewhere
      {hash, 0, ""},        // nothing
  };
  for (const auto& lie : lies) {
    f.step(1s);
    f.answer(lie);
    CHECK(f.fetches.next() > f.now);
    CHECK(f.want(large) == nullptr);
  }
  f.step(1s);  // as many bytes as it has, but others
  f.answer({hash, 0, full});
  f.step();
  f.answer({hash, 32768, full});
  f.step();
  CHECK(f.asked.back().offset == 65536);
  f.answer({hash, 65536, "  "});  // more than it has
  CHECK(f.fetches.next() > f.now);
  f.step(1s);
  CHECK(f.asked.back().offset == 0);
  f.answer({hash, 0, full});
  f.step();
  f.answer({hash, 32768, full});
  f.step();
  f.answer({hash, 65536, " "});
  CHECK(f.want(large) == nullptr);
  CHECK(f.fetches.next() > f.now);
  f.answer({hash, 0, full});  // not asked
  f.step(1s);
  CHECK(f.asked.back().offset == 0);
}

TEST_CASE("schema fetches: two types that claim one hash do not keep each other out for ever", "[unit]") {
  fixture f;
  auto lie = describe(type)->reference;
  lie.name = "another";
  auto larger = describe(type)->reference;
  larger.schema_size = wire::max_schema_part * 2;
  bool has_type = false;
  for (int turn = 0; turn < 6 && !has_type; ++turn) {
    CHECK(f.fetches.want(lie, f.now) == nullptr);  // the hash is not that of its parts
    CHECK(f.fetches.want(larger, f.now) == nullptr);
    has_type = f.want(type) != nullptr;
    f.fetches.forget_unwanted();
    f.step(1s);
    f.answer(type);
  }
  CHECK(has_type);
}

TEST_CASE("schema fetches: a part that is shorter than it could be is not taken", "[unit]") {
  fixture f;
  static_cast<void>(f.want(large));
  f.step();
  f.answer({hash_of(large), 0, large.schema.substr(0, wire::max_schema_part - 1)});
  CHECK(f.fetches.next() == f.now + schema_fetches::min_pause);
  f.step(schema_fetches::min_pause);
  CHECK(f.asked.back().offset == 0);
}

TEST_CASE("schema fetches: a type without a schema takes one question", "[unit]") {
  fixture f;
  const type_description empty{"a.Text", "", "json", ""};
  static_cast<void>(f.want(empty));
  f.step();
  f.answer(empty);
  REQUIRE(f.want(empty) != nullptr);
  CHECK(*f.want(empty) == empty);
}

TEST_CASE("schema fetches: what is not wanted any more is not asked for", "[unit]") {
  fixture f;
  static_cast<void>(f.want(large));
  f.step();
  f.answer(large);
  f.fetches.forget_unwanted();
  f.fetches.forget_unwanted();
  CHECK(f.fetches.next() == monotonic::time_point::max());
  f.step(10s);
  CHECK(f.asked.size() == 1);
}

TEST_CASE("schema fetches: another broker is asked from the beginning", "[unit]") {
  fixture f;
  static_cast<void>(f.want(large));
  f.step();
  f.answer(large);
  f.step();
  const auto old = f.request;
  f.fetches.begin_again(f.now);
  f.fetches.on_part(old, {hash_of(large), 32768, std::string(wire::max_schema_part, ' ')}, f.now);
  f.step();
  CHECK(f.asked.back().offset == 0);
}

TEST_CASE("schema fetches: a broker that takes nothing is asked later", "[unit]") {
  fixture f;
  f.is_full = true;
  static_cast<void>(f.want(type));
  f.step();
  CHECK(f.fetches.next() <= f.now);
  f.is_full = false;
  f.step();
  CHECK(f.asked.size() == 1);
}
