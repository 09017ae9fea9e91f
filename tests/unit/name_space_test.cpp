#include "wire/name_space.h"

#include <string>

#include "orc.h"
#include "support/alloc_counter.h"
#include "support/catch.h"

namespace {

using orc::wire::name_space;

[[nodiscard]] std::string resolved(const char* in, std::string_view name) {
  return name_space::parse(in)->resolve(name);
}

[[nodiscard]] std::string refusal(const std::string& text) {
  const auto parsed = name_space::parse(text);
  return parsed ? "" : parsed.error().message();
}

[[nodiscard]] orc::participant_options in(std::string name_space) {
  return {.broker = "none", .name_space = std::move(name_space)};
}

}  // namespace

TEST_CASE("namespace: a namespace stands before relative names", "[unit][threads]") {
  CHECK(resolved("robot7", "pose") == "robot7/pose");
  CHECK(resolved("robot7", "arm/pose") == "robot7/arm/pose");
  CHECK(resolved("lab/robot7", "pose") == "lab/robot7/pose");
  CHECK(resolved("/robot7", "pose") == "robot7/pose");
  CHECK(resolved("robot7", "arm/**") == "robot7/arm/**");
  for (const char* const none : {"", "/"}) CHECK(resolved(none, "pose") == "pose");
}

TEST_CASE("namespace: a name with a slash before it is absolute", "[unit][threads]") {
  for (const char* const each : {"", "/", "robot7"}) {
    CHECK(resolved(each, "/estop") == "estop");
    CHECK(resolved(each, "/lab/estop") == "lab/estop");
    CHECK(resolved(each, "/").empty());
    CHECK(resolved(each, "//estop") == "/estop");
    CHECK(resolved(each, "").empty());
  }
}

TEST_CASE("namespace: both ways of resolving a name agree, and one allocates nothing", "[unit][threads]") {
  name_space::room room;
  for (const char* const each : {"", "/", "robot7", "a.name-space_of/some/more/parts"}) {
    const auto names = *name_space::parse(each);
    for (const std::string& name : {std::string(), std::string("pose"), std::string("/estop"), std::string("//x"),
                                    std::string(200, 'x'), std::string(254, 'x').insert(0, "/")}) {
      const std::string whole = names.resolve(name);
      const orc::test::alloc_counter counter;
      const auto view = names.resolve(name, room);
      CHECK(counter.count() == 0);
      CHECK(view == whole);
    }
  }
}

TEST_CASE("namespace: a name that is too long with its namespace is no name", "[unit][threads]") {
  name_space::room room;
  const auto names = *name_space::parse("robot7");
  const std::string longest(255 - 7, 'x');
  CHECK(names.resolve(longest, room) == "robot7/" + longest);
  CHECK(names.check(names.resolve(longest)));
  CHECK(names.resolve(longest + "x", room).empty());
  const auto checked = names.check(names.resolve(longest + "x"));
  CHECK(checked.code() == orc::errc::bad_name);
  CHECK(checked.error().message() == "the topic name has 256 bytes, the limit is 255 (in the namespace robot7)");
  const std::string longest_space(253, 'y');
  CHECK(name_space::parse(longest_space)->resolve("x", room).size() == 255);
}

TEST_CASE("namespace: bad namespaces are refused with the reason", "[unit][threads]") {
  CHECK(refusal("robot7").empty());
  CHECK(refusal("lab/robot-7_b.c").empty());
  for (const char* const empty_part : {"//", "//robot7", "robot7/", "lab//robot7", "/robot7/"})
    CHECK_THAT(refusal(empty_part), orc::test::contains("empty part"));
  for (const char* const own : {".orc", "lab/.orc", "/."})
    CHECK_THAT(refusal(own), orc::test::contains("begins with a dot"));
  for (const char* const character : {"robot 7", "röbot", "robot*", "a\n", "**"})
    CHECK_THAT(refusal(character), orc::test::contains("only A-Z a-z 0-9 _ . / - are allowed"));
  CHECK_THAT(refusal(std::string("a\0b", 3)), orc::test::contains("byte 0x00"));
  CHECK_THAT(refusal(std::string(254, 'x')), orc::test::contains("254 bytes, the limit is 253"));
  CHECK_THAT(refusal(std::string(100'000, '/')), orc::test::contains("the limit is 253"));
}

TEST_CASE("namespace: the first set-up call reports a bad namespace", "[unit][threads]") {
  orc::participant participant(in("lab//robot7"));
  const auto registered = participant.register_topic("pose", {.transports = {orc::transport::multicast}}).result();
  CHECK(registered.code() == orc::errc::bad_argument);
  CHECK_THAT(registered.error().message(), orc::test::contains("ORC_NAMESPACE") && orc::test::contains("lab//robot7"));
  CHECK_FALSE(participant.publisher("pose"));
}

TEST_CASE("namespace: a participant resolves the names of its program", "[unit][threads]") {
  orc::participant participant(in("robot7"));
  CHECK(participant.resolve("pose") == "robot7/pose");
  CHECK(participant.resolve("/estop") == "estop");
  orc::participant moved = std::move(participant);
  CHECK(moved.resolve("pose") == "robot7/pose");
  CHECK(participant.resolve("pose") == "pose");  // NOLINT(bugprone-use-after-move): it has none
  const std::string too_long(250, 'x');
  CHECK(moved.request_topic(too_long).result().code() == orc::errc::bad_name);
  CHECK(moved.send_msg(too_long, "x", 1).code() == orc::errc::not_registered);
  CHECK(moved.recv_msg(too_long, 0).status() == orc::errc::not_requested);
  CHECK(moved.register_topic("//pose").result().code() == orc::errc::bad_name);
  CHECK(moved.register_topic("/").result().code() == orc::errc::bad_name);
  moved = orc::participant(in("/"));
  CHECK(moved.resolve("pose") == "pose");
}

TEST_CASE("namespace: in a namespace, sending by name allocates as little as through the handle", "[unit][threads]") {
  if (!orc::test::alloc_counter::counts()) return orc::test::skip("a sanitizer has the operator new");
  orc::participant participant(in("a_namespace/of/some/length"));
  REQUIRE(participant.register_topic("pose", {.transports = {orc::transport::multicast}}));
  auto pose = participant.publisher("/a_namespace/of/some/length/pose");
  REQUIRE(pose);
  const auto allocations_of = [](const auto& send) {
    for (int n = 0; n < 3; ++n) REQUIRE(send());
    const orc::test::alloc_counter counter;
    const bool sent = static_cast<bool>(send());
    return sent ? counter.count() : ~std::size_t{0};
  };
  CHECK(allocations_of([&] { return participant.send_msg("pose", "x", 1); }) ==
        allocations_of([&] { return pose.send("x", 1); }));
}
