// Samples as C++ types, and which values a typed publisher takes.
#include "orc/typed/typed_message.h"

#include <cstring>
#include <utility>

#include "orc/typed.h"
#include "support/catch.h"

namespace typed_message_test {

// A sample whose bytes are in the message itself, so that they move with it.
struct tiny {
  static void move(orc::detail::sample_buffer& to, orc::detail::sample_buffer& from) noexcept {
    std::memcpy(to.storage(), from.storage(), 64);
  }
  static void drop(orc::detail::sample_buffer&) noexcept {}
  static std::byte* payload(orc::detail::sample_buffer& buffer) noexcept {
    return static_cast<std::byte*>(buffer.storage());
  }
  static constexpr orc::detail::sample_buffer::operations kind{move, drop, payload};
};

template <class T>
orc::message message_of(const T& value) {
  orc::detail::sample_buffer buffer;
  std::memcpy(buffer.storage(), &value, sizeof value);
  buffer.adopt(&tiny::kind, sizeof value);
  return {std::move(buffer), 1, 0, 0};
}

struct counted {
  int value = 0;
  static inline int decoded = 0;
};

struct command {
  double v = 0;
  command() = default;
  constexpr command(double speed) noexcept : v(speed) {}  // NOLINT(google-explicit-constructor)
};
ORC_DESCRIBE(command, v)

template <class T, class U>
concept can_send = requires(orc::typed_publisher<T>& to, const U& value) {
  to.send(value);
};
// A command made of the number would be gone before its bytes are sent.
static_assert(!can_send<command, double>);
static_assert(can_send<command, command>);

}  // namespace typed_message_test

template <>
struct orc::type_traits<typed_message_test::counted> {
  static const type_description& describe() {
    static const type_description type{.name = "counted", .message_encoding = "counted"};
    return type;
  }
  static bool decode(std::span<const std::byte> from, typed_message_test::counted& to) {
    ++typed_message_test::counted::decoded;
    if (from.size() != sizeof to.value) return false;
    std::memcpy(&to.value, from.data(), sizeof to.value);
    return true;
  }
};

using namespace typed_message_test;

TEST_CASE("typed message: a decoded sample is decoded once, however often its message moves", "[unit]") {
  counted::decoded = 0;
  orc::typed_message<counted> first(message_of(7));
  REQUIRE(first);
  const orc::typed_message<counted> second(std::move(first));
  REQUIRE(second);
  CHECK(second->value == 7);
  CHECK(counted::decoded == 1);
}

TEST_CASE("typed message: a struct that is read in the message is found after a move", "[unit]") {
  orc::typed_message<command> first(message_of(command(2.5)));
  REQUIRE(first);
  const orc::typed_message<command> second(std::move(first));
  REQUIRE(second);
  CHECK(second->v == 2.5);
  const void* const bytes = second.raw().data();
  CHECK(static_cast<const void*>(&*second) == bytes);
}

TEST_CASE("typed message: send takes a temporary of the type itself", "[unit]") {
  orc::typed_publisher<command> none;
  CHECK(none.send(command{}).code() == orc::errc::not_registered);
  CHECK(none.send({0.5}).code() == orc::errc::not_registered);
}
