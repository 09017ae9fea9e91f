// Types that many share: each once, its schema only with the right hash, nobody's upload in the way of another's.
#include "broker/map/type_store.h"

#include <algorithm>

#include "support/catch.h"
#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

type_description flatbuffer(const std::string& schema, const std::string& name = "T") {
  return {name, "flatbuffer", "flatbuffer", schema};
}

struct fixture {
  const type_store::entry& claim(const wire::type_reference& type, type_store::user& by) {
    REQUIRE(type_store::check(type));
    auto claimed = store.claim(type, by);
    REQUIRE(claimed);
    return **claimed;
  }
  type_store::done send(std::uint64_t hash, std::size_t offset, const std::string& bytes, type_store::user& by) {
    const wire::schema_part part{hash, static_cast<std::uint32_t>(offset), bytes};
    if (auto answer = store.look_at(part, by)) return *answer;
    return store.add(part, by, now);
  }
  type_store::done upload(const type_description& type, type_store::user& by, std::size_t part = 10) {
    for (std::size_t at = 0; at < type.schema.size(); at += part) {
      if (auto answer = send(hash_of(type), at, type.schema.substr(at, part), by); !answer) return answer;
    }
    return wire::ack{};
  }
  std::string schema_of(std::uint64_t hash) {
    const auto answer = store.read({hash, 0});
    return answer ? answer->bytes : "none";
  }

  type_store store{3s};
  client first{.name = "first"};
  client second{.name = "second"};
  type_store::user a{first};
  type_store::user b{first};
  type_store::user c{second};
  type_store::time now{1h};
};

void refused(const type_store::done& answer, const std::string& why) {
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == wire::error_code::bad_request);
  CHECK_THAT(answer.error().text, contains(why));
}

}  // namespace

TEST_CASE("type store: a type is kept once, however many use it, and gone with the last of them") {
  fixture f;
  const auto type = flatbuffer(std::string(100, 's'));
  const auto reference = reference_to(type);
  const auto texts = type_store::bytes_per_type + 1 + 10 + 10;
  const auto* const kept = &f.claim(reference, f.a);
  CHECK(&f.claim(reference, f.a) == kept);
  CHECK(&f.claim(reference, f.b) == kept);
  CHECK(&f.claim(reference, f.c) == kept);
  CHECK(f.store.size() == 1);
  CHECK(f.store.bytes() == texts);
  REQUIRE(f.upload(type, f.b));
  CHECK(f.store.bytes() == texts + 100);
  CHECK(f.first.description_bytes == texts + 100);
  CHECK(f.second.description_bytes == texts + 100);
  for (auto* const by : {&f.a, &f.a, &f.b}) f.store.release(*kept, *by);
  CHECK(f.first.description_bytes == 0);
  CHECK(f.schema_of(reference.hash) == type.schema);
  f.store.release(*kept, f.c);
  CHECK(f.store.size() == 0);
  CHECK(f.store.bytes() == 0);
  CHECK(f.second.description_bytes == 0);
  CHECK(f.schema_of(reference.hash) == "none");
}

TEST_CASE("type store: claiming costs what is not kept yet") {
  fixture f;
  const auto type = flatbuffer(std::string(100, 's'));
  const auto reference = reference_to(type);
  const auto texts = type_store::bytes_per_type + 1 + 10 + 10;
  CHECK(f.store.cost_of(reference, f.a).total == texts);
  f.claim(reference, f.a);
  REQUIRE(f.upload(type, f.a));
  CHECK(f.store.cost_of(reference, f.b).of_client == 0);  // of the same client
  CHECK(f.store.cost_of(reference, f.c).total == 0);
  CHECK(f.store.cost_of(reference, f.c).of_client == texts + 100);
}

TEST_CASE("type store: parts come in order, the first one begins anew") {
  fixture f;
  const auto type = flatbuffer("0123456789");
  const auto hash = hash_of(type);
  const auto& kept = f.claim(reference_to(type), f.a);
  refused(f.send(hash, 1, "1", f.a), "begins at byte 1, the next one is at byte 0");
  REQUIRE(f.send(hash, 0, "0123", f.a));
  refused(f.send(hash, 5, "5", f.a), "begins at byte 5, the next one is at byte 4");
  refused(f.send(hash, 4, "", f.a), "empty");
  refused(f.send(hash, 4, "4567890", f.a), "ends at byte 11, the schema has 10 bytes");
  refused(f.send(hash, 0, "", f.a), "empty");
  refused(f.send(hash, 0, "0123456789a", f.a), "ends at byte 11, the schema has 10 bytes");
  REQUIRE(f.send(hash, 4, "45", f.a));
  REQUIRE(f.send(hash, 0, "01", f.a));
  CHECK(f.store.bytes() == type_store::bytes_per_type + 21 + 2);
  CHECK_FALSE(kept.complete());
  REQUIRE(f.send(hash, 2, "23456789", f.a));
  CHECK(kept.complete());
  CHECK(f.schema_of(hash) == type.schema);
  CHECK(f.store.uploads() == 0);
  CHECK(f.send(hash, 7, "whatever", f.a));  // it is there already
  CHECK(f.schema_of(hash) == type.schema);
}

TEST_CASE("type store: a schema with another hash is refused, and the right one may follow") {
  fixture f;
  const auto type = flatbuffer("honest");
  const auto hash = hash_of(type);
  f.claim(reference_to(type), f.a);
  const auto answer = f.send(hash, 0, "poison", f.a);
  refused(answer, wire::id{hash_of(flatbuffer("poison")), 0}.hex().substr(0, 16));
  CHECK_THAT(answer.error().text, contains(wire::id{hash, 0}.hex().substr(0, 16)));
  CHECK(f.schema_of(hash) == "none");
  CHECK(f.first.description_bytes == type_store::bytes_per_type + 21);
  CHECK(f.upload(type, f.a));
  CHECK(f.schema_of(hash) == "honest");
}

TEST_CASE("type store: only a participant with the type may send its schema") {
  fixture f;
  const auto type = flatbuffer("honest");
  f.claim(reference_to(type), f.a);
  refused(f.upload(type, f.b), "no topic of this participant has this type");
  CHECK(f.upload(type, f.a));
}

TEST_CASE("type store: uploads of several participants do not disturb each other") {
  fixture f;
  const auto type = flatbuffer("honest!");
  const auto hash = hash_of(type);
  for (auto* const by : {&f.a, &f.c}) f.claim(reference_to(type), *by);
  REQUIRE(f.send(hash, 0, "hon", f.a));
  REQUIRE(f.send(hash, 0, "poi", f.c));
  REQUIRE(f.send(hash, 3, "est", f.a));
  refused(f.send(hash, 3, "son!", f.c), "the hash of type \"T\" is");
  REQUIRE(f.send(hash, 0, "poi", f.c));
  REQUIRE(f.send(hash, 6, "!", f.a));
  CHECK(f.schema_of(hash) == "honest!");
  REQUIRE(f.send(hash, 3, "son!", f.c));  // too late: it is there
  CHECK(f.schema_of(hash) == "honest!");
  CHECK(f.store.uploads() == 0);
}

TEST_CASE("type store: another type under the hash of an honest one reaches nobody") {
  fixture f;
  const auto honest = reference_to(flatbuffer("honest"));
  auto claimed = honest;
  SECTION("by name") { claimed.name = "Other"; }
  SECTION("by encoding") { claimed.message_encoding = "json"; }
  SECTION("by size") { claimed.schema_size = 5; }
  const auto& poisoned = f.claim(claimed, f.c);  // before the honest one
  const auto& kept = f.claim(honest, f.a);
  refused(f.send(honest.hash, 0, std::string("honest").substr(0, claimed.schema_size), f.c), "the hash of type");
  CHECK_FALSE(poisoned.complete());
  CHECK(f.schema_of(honest.hash) == "none");
  REQUIRE(f.upload(flatbuffer("honest"), f.a));
  CHECK(kept.complete());
  CHECK_FALSE(poisoned.complete());
  CHECK(f.schema_of(honest.hash) == "honest");
  const auto both = f.store.claim(honest, f.c);  // its own other one has this hash
  REQUIRE_FALSE(both);
  CHECK_THAT(both.error().text, contains("another type with the hash"));
  f.store.release(poisoned, f.c);
  CHECK(f.schema_of(honest.hash) == "honest");
}

TEST_CASE("type store: an upload ends with another one, with the type, and when it stalls") {
  fixture f;
  const auto one = flatbuffer("first schema");
  const auto two = flatbuffer("second schema");
  const auto& kept = f.claim(reference_to(one), f.a);
  f.claim(reference_to(two), f.a);
  const auto texts = f.store.bytes();
  REQUIRE(f.send(hash_of(one), 0, "first", f.a));
  SECTION("another one") {
    refused(f.send(hash_of(two), 5, "d", f.a), "the next one is at byte 0");
    REQUIRE(f.send(hash_of(one), 5, " ", f.a));
    REQUIRE(f.send(hash_of(two), 0, "second", f.a));
    CHECK(f.store.uploads() == 1);
    refused(f.send(hash_of(one), 6, "schema", f.a), "the next one is at byte 0");
    CHECK(f.store.bytes() == texts + 6);
    REQUIRE(f.send(hash_of(two), 6, " schema", f.a));
    CHECK(f.schema_of(hash_of(two)) == "second schema");
  }
  SECTION("the type") {
    f.store.release(kept, f.a);
    CHECK(f.store.uploads() == 0);
    CHECK(f.store.bytes() < texts);
  }
  SECTION("a stall") {
    f.now += 2s;
    REQUIRE(f.send(hash_of(one), 5, " ", f.a));
    f.now += 3s - 1ms;
    f.store.drop_stalled(f.now, 10);
    CHECK(f.store.uploads() == 1);
    f.now += 1ms;
    f.store.drop_stalled(f.now, 10);
    CHECK(f.store.uploads() == 0);
    CHECK(f.store.bytes() == texts);
    refused(f.send(hash_of(one), 6, "schema", f.a), "the next one is at byte 0");
  }
}

TEST_CASE("type store: a type without a schema is complete at once, if its hash is right") {
  fixture f;
  auto reference = reference_to({"Pose", "", "json", ""});
  CHECK(f.claim(reference, f.a).complete());
  const auto part = f.store.read({reference.hash, 0});
  REQUIRE(part);
  CHECK(part->bytes.empty());
  CHECK(f.send(reference.hash, 0, "anything", f.a));
  const auto right = wire::id{reference.hash, 0}.hex().substr(0, 16);
  reference.hash = 0;
  refused(type_store::check(reference), right);
  reference.hash = 17;
  refused(type_store::check(reference), "not 0x0000000000000011");
}

TEST_CASE("type store: a type without a schema under the hash of another one changes nothing") {
  fixture f;
  const auto kept = reference_to({"Pose", "", "json", ""});
  f.claim(kept, f.a);
  const auto bytes = f.store.bytes();
  auto other = kept;
  other.name = "Other";  // check() would refuse it, unless the two hashes collided
  const auto claimed = f.store.claim(other, f.c);
  REQUIRE_FALSE(claimed);
  CHECK(claimed.error().code == wire::error_code::bad_request);
  CHECK_THAT(claimed.error().text, contains("another type has the hash"));
  CHECK(f.store.size() == 1);
  CHECK(f.store.bytes() == bytes);
  CHECK(f.second.description_bytes == 0);
  CHECK(f.store.read({kept.hash, 0}));
  CHECK(f.claim(kept, f.c).complete());
}

TEST_CASE("type store: texts that cannot be printed are refused") {
  auto bad = reference_to(flatbuffer("s"));
  auto& text = GENERATE(0, 1, 2) == 0 ? bad.name : bad.message_encoding;
  text = GENERATE(as<std::string>(), "a\nb",
                  "\x9b"
                  "2J",
                  "\xe2\x80\xae", "\xff");
  const auto answer = type_store::check(bad);
  refused(answer, "cannot be printed");
  CHECK_THAT(answer.error().text, !contains(text));
  bad.name = bad.message_encoding = "Größe";
  CHECK(type_store::check(bad));
}

TEST_CASE("type store: a schema is read in parts") {
  fixture f;
  std::string schema(2 * wire::max_schema_part + 5, ' ');
  for (std::size_t i = 0; i < schema.size(); ++i) schema[i] = static_cast<char>('a' + i % 23);
  const auto type = flatbuffer(schema);
  f.claim(reference_to(type), f.a);
  REQUIRE(f.upload(type, f.a, wire::max_schema_part));
  std::string read;
  for (;;) {
    const auto part = f.store.read({hash_of(type), static_cast<std::uint32_t>(read.size())});
    REQUIRE(part);
    CHECK(part->offset == read.size());
    CHECK(part->bytes.size() <= wire::max_schema_part);
    if (part->bytes.empty()) break;
    read += part->bytes;
  }
  CHECK(read == schema);
  const auto past = f.store.read({hash_of(type), static_cast<std::uint32_t>(schema.size() + 1)});
  REQUIRE_FALSE(past);
  CHECK(past.error().code == wire::error_code::bad_request);
  const auto unknown = f.store.read({1, 0});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == wire::error_code::unknown_schema);
}
