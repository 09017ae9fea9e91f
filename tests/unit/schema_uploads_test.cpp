// How a participant sends schemas to a broker that has no room, forgets, or refuses.
#include "core/types/schema_uploads.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/struct_types.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
namespace wire = orc::wire;
using wire::error_code;

namespace {

struct fixture {
  std::shared_ptr<const described_type> add(const orc::type_description& type) {
    auto added = describe(type);
    used.insert(added->reference.hash);
    uploads.add(added, now);
    return added;
  }
  void step(monotonic::duration later = 0ms) {
    now += later;
    uploads.step(
        now, [this](std::uint64_t hash) { return used.contains(hash); },
        [this](wire::body what) -> std::optional<std::uint64_t> {
          if (is_full) return std::nullopt;
          sent.push_back(std::get<wire::schema_part>(what));
          return ++request;
        });
  }
  void ack() { uploads.on_ack(request, now); }
  std::string refuse(error_code code) { return uploads.on_error(request, {code, "no"}, now); }
  [[nodiscard]] bool is_idle() const { return uploads.next() == monotonic::time_point::max(); }

  monotonic::time_point now = monotonic::time_point() + 1h;
  schema_uploads uploads;
  std::set<std::uint64_t> used;
  bool is_full = false;
  std::uint64_t request = 0;
  std::vector<wire::schema_part> sent;
};

const auto type = struct_type("float64");
const auto large = large_struct_type("float64", wire::max_schema_part * 2 + 1);

}  // namespace

TEST_CASE("schema uploads: a schema goes in parts, each after the one before is confirmed", "[unit]") {
  fixture f;
  CHECK(f.is_idle());
  const auto added = f.add(large);
  f.uploads.add(added, f.now);  // once
  std::string whole;
  for (std::size_t parts = 1; parts <= 3; ++parts) {
    CHECK(f.uploads.next() <= f.now);
    f.step();
    f.step();
    REQUIRE(f.sent.size() == parts);
    CHECK(f.sent.back().hash == hash_of(large));
    CHECK(f.sent.back().offset == whole.size());
    whole += f.sent.back().bytes;
    f.ack();
  }
  CHECK(whole == large.schema);
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: one schema after the other", "[unit]") {
  fixture f;
  f.add(large);
  f.add(type);
  for (const std::size_t size : {wire::max_schema_part, wire::max_schema_part, std::size_t{1}, type.schema.size()}) {
    f.step();
    CHECK(f.sent.back().bytes.size() == size);
    f.ack();
  }
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: a part without an answer is repeated, at growing intervals", "[unit]") {
  fixture f;
  f.add(large);
  f.step();
  CHECK(f.uploads.next() == f.now + 300ms);
  f.step(300ms);
  CHECK(f.sent.size() == 2);
  CHECK(f.sent[0] == f.sent[1]);
  CHECK(f.uploads.next() == f.now + 600ms);
  for (int n = 0; n < 5; ++n) f.step(f.uploads.next() - f.now);
  CHECK(f.uploads.next() == f.now + 2400ms);
  f.ack();
  f.step();
  CHECK(f.sent.back().offset == wire::max_schema_part);
}

TEST_CASE("schema uploads: the answer to any copy of a part confirms it, and errors about others say nothing",
          "[unit]") {
  fixture f;
  f.add(large);
  f.step();
  f.ack();
  f.step();
  const auto first = f.request;
  f.step(300ms);
  CHECK(f.sent.back().offset == wire::max_schema_part);
  const auto second = f.request;
  REQUIRE(second != first);
  f.uploads.on_ack(first, f.now);
  f.step();
  CHECK(f.sent.back().offset == 2 * wire::max_schema_part);
  CHECK(f.uploads.on_error(second, {error_code::bad_request, "wrong offset"}, f.now).empty());
  f.uploads.on_ack(second, f.now);  // of a part that is confirmed
  CHECK_FALSE(f.is_idle());
  f.ack();
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: a slow broker gets a schema, and soon each part once", "[unit]") {
  fixture f;
  const auto many = large_struct_type("float64", wire::max_schema_part * 8);
  f.add(many);
  for (std::size_t part = 0; part < 8; ++part) {
    f.step();
    CHECK(f.sent.back().offset == part * wire::max_schema_part);
    const auto first = f.request;
    f.step(300ms);
    f.step(100ms);
    f.uploads.on_ack(first, f.now);
    if (f.request != first)
      CHECK(f.uploads.on_error(f.request, {error_code::bad_request, "wrong offset"}, f.now).empty());
  }
  CHECK(f.sent.size() == 9);  // the first part twice
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: refusals count only while the broker takes no more of the schema", "[unit]") {
  fixture f;
  f.add(large_struct_type("float64", wire::max_schema_part * 8));
  for (std::size_t reached = 1; reached < 7; ++reached) {
    for (std::size_t part = 0; part < reached; ++part) {
      f.step(part == 0 ? 30s : 0s);
      CHECK(f.sent.back().offset == part * wire::max_schema_part);
      f.ack();
    }
    f.step();
    CHECK(f.refuse(error_code::bad_request).empty());
  }
  CHECK_FALSE(f.is_idle());
}

TEST_CASE("schema uploads: a broker without room is tried again as long as a topic has the type", "[unit]") {
  fixture f;
  f.add(large);
  f.step();
  f.ack();
  f.step();
  CHECK_THAT(f.refuse(error_code::limit), contains("robot.State: no; it is sent again later"));
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    CHECK(f.uploads.next() == f.now + pause);
    f.step(pause);
    CHECK(f.sent.back().offset == 0);
    CHECK(f.refuse(error_code::limit).empty());
  }
  f.used.clear();
  const auto before = f.sent.size();
  f.step(30s);
  CHECK(f.sent.size() == before);
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: while one finds no room, another goes on", "[unit]") {
  fixture f;
  f.add(large);
  f.add(type);
  f.step();
  static_cast<void>(f.refuse(error_code::limit));
  f.step();
  CHECK(f.sent.back().hash == hash_of(type));
  f.ack();
  CHECK(f.uploads.next() == f.now + 1s);
}

TEST_CASE("schema uploads: a refused schema is dropped, and reported once", "[unit]") {
  fixture f;
  f.add(type);
  f.step();
  CHECK(f.uploads.on_error(f.request + 1, {error_code::bad_request, "another"}, f.now).empty());
  CHECK_THAT(f.refuse(error_code::bad_request), contains("does not take the schema of type robot.State: no"));
  CHECK(f.is_idle());
  CHECK(f.refuse(error_code::bad_request).empty());
}

TEST_CASE("schema uploads: one that may have lost its place begins again, a few times", "[unit]") {
  fixture f;
  f.add(large);
  for (int refusals = 1; refusals < schema_uploads::max_refusals; ++refusals) {
    f.step(2s);
    CHECK(f.sent.back().offset == 0);
    f.ack();
    f.step();
    CHECK(f.refuse(error_code::bad_request).empty());
  }
  f.step(2s);
  f.step(300ms);  // sent twice, perhaps heard twice
  CHECK_FALSE(f.refuse(error_code::bad_request).empty());
  CHECK(f.is_idle());
}

TEST_CASE("schema uploads: another broker says anew what it lacks", "[unit]") {
  fixture f;
  const auto added = f.add(large);
  f.step();
  f.ack();
  f.step();
  f.uploads.forget_all();
  f.ack();
  CHECK(f.is_idle());
  f.uploads.add(added, f.now);
  f.step();
  CHECK(f.sent.back().offset == 0);
}

TEST_CASE("schema uploads: a broker that takes nothing gets it later", "[unit]") {
  fixture f;
  f.is_full = true;
  f.add(type);
  f.step();
  CHECK(f.uploads.next() <= f.now);
  f.is_full = false;
  f.step();
  CHECK(f.sent.size() == 1);
}
