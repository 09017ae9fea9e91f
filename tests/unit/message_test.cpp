#include "orc/message.h"

#include <cstring>
#include <limits>
#include <utility>

#include "support/catch.h"

namespace {

// A buffer of our own kind: the bytes live in the buffer itself.
struct tiny {
  static inline int alive = 0;

  static void move(orc::detail::sample_buffer& to, orc::detail::sample_buffer& from) noexcept {
    std::memcpy(to.storage(), from.storage(), 64);
  }
  static void drop(orc::detail::sample_buffer&) noexcept { --alive; }
  static std::byte* payload(orc::detail::sample_buffer& buffer) noexcept {
    return static_cast<std::byte*>(buffer.storage());
  }
  static constexpr orc::detail::sample_buffer::operations kind{move, drop, payload};

  static orc::detail::sample_buffer make(const char* text) {
    orc::detail::sample_buffer buffer;
    std::memcpy(buffer.storage(), text, std::strlen(text));
    buffer.adopt(&kind, std::strlen(text));
    ++alive;
    return buffer;
  }
};

bool holds(const orc::message& m, const char* text) {
  return m.size() == std::strlen(text) && std::memcmp(m.data(), text, m.size()) == 0;
}

}  // namespace

TEST_CASE("message: an empty one is false and says why", "[unit]") {
  const orc::message none;
  CHECK(!none);
  CHECK(none.status() == orc::errc::nothing_new);
  CHECK(none.size() == 0);
  CHECK(none.data() == nullptr);
  CHECK(none.bytes().empty());
  CHECK(none.sequence() == 0);
  char byte = 'x';
  CHECK(none.copy_to(&byte, 1) == 0);
  CHECK(byte == 'x');
  CHECK(orc::message(orc::errc::timed_out).status() == orc::errc::timed_out);
}

TEST_CASE("message: moving moves the handle and leaves nothing, and the bytes are dropped once", "[unit]") {
  REQUIRE(tiny::alive == 0);
  {
    orc::message first(tiny::make("hello"), 7, 123, 2);
    CHECK(tiny::alive == 1);
    CHECK(first);
    CHECK(holds(first, "hello"));
    CHECK(first.sequence() == 7);
    CHECK(first.stamp_ns() == 123);
    CHECK(first.missed() == 2);

    orc::message second(std::move(first));
    CHECK(holds(second, "hello"));
    CHECK(first.size() == 0);  // NOLINT(bugprone-use-after-move): the contract says what it is now
    CHECK(first.data() == nullptr);

    orc::message third(tiny::make("other"), 8, 124, 0);
    CHECK(tiny::alive == 2);
    third = std::move(second);
    CHECK(tiny::alive == 1);
    CHECK(holds(third, "hello"));
    CHECK(third.sequence() == 7);
    auto& same = third;
    third = std::move(same);
    CHECK(holds(third, "hello"));
  }
  CHECK(tiny::alive == 0);
}

TEST_CASE("message: ages of stamps from any time are defined", "[unit]") {
  for (const std::int64_t stamp : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
                                   std::numeric_limits<std::int64_t>::max()}) {
    const orc::message sample(tiny::make("x"), 1, stamp, 0);
    const std::int64_t age = sample.age_ns();
    if (stamp <= 0) CHECK(age > 0);
    if (stamp > 0) CHECK(age < 0);
  }
}

TEST_CASE("loan: dropping it drops its memory", "[unit]") {
  {
    orc::loan borrowed(tiny::make("12345678"));
    CHECK(borrowed);
    CHECK(borrowed.size() == 8);
    CHECK(borrowed.bytes().size() == 8);
    const orc::loan moved(std::move(borrowed));
    CHECK(moved);
    CHECK(!borrowed);  // NOLINT(bugprone-use-after-move)
  }
  CHECK(tiny::alive == 0);
  const orc::loan none;
  CHECK(!none);
}
