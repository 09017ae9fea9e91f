// The value of a call, or why it failed.
#include "base/expected.h"

#include <memory>
#include <string>
#include <utility>

#include "support/catch.h"

using orc::errc;
using orc::error;
using orc::detail::expected;

namespace {

// Halves even numbers.
expected<int> half(int number) {
  if (number % 2 != 0) return error(errc::bad_argument, std::to_string(number) + " is odd");
  return number / 2;
}

}  // namespace

TEST_CASE("expected: holds the value of a call that succeeded") {
  const auto found = half(6);
  REQUIRE(found);
  CHECK(*found == 3);
}

TEST_CASE("expected: holds the code and the sentence of a call that failed") {
  const auto found = half(7);
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == errc::bad_argument);
  CHECK(found.error().message() == "7 is odd");
}

TEST_CASE("expected: moves out what can only be moved") {
  expected<std::unique_ptr<int>> made = std::make_unique<int>(5);
  REQUIRE(made);
  CHECK(**made == 5);
  const std::unique_ptr<int> taken = *std::move(made);
  REQUIRE(taken);
  CHECK(*taken == 5);
}

TEST_CASE("expected: takes what converts to its value") {
  struct base {
    virtual ~base() = default;
  };
  struct derived final : base {};
  auto one = std::make_unique<derived>();
  const auto* const address = one.get();
  const expected<std::unique_ptr<base>> made = std::move(one);
  REQUIRE(made);
  CHECK(made->get() == address);
}

TEST_CASE("expected: an error of another type, and a value that is read through it") {
  struct refusal {
    int code = 0;
  };
  const expected<std::string, refusal> good = std::string("topic");
  const expected<std::string, refusal> bad = refusal{4};
  CHECK(good->size() == 5);
  CHECK(bad.error().code == 4);
}
