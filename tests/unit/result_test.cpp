#include "orc/result.h"

#include <set>
#include <string>

#include "support/catch.h"

TEST_CASE("result: success is true and has no error", "[unit][threads]") {
  const orc::result good;
  CHECK(good);
  CHECK(good.code() == orc::errc::ok);
  CHECK(good.error().code() == orc::errc::ok);
}

TEST_CASE("result: a failure is false, keeps its code and its sentence, and copies share it", "[unit][threads]") {
  const orc::result plain = orc::errc::closed;
  CHECK(!plain);
  CHECK(plain.code() == orc::errc::closed);
  CHECK(plain.error().message() == orc::describe(orc::errc::closed));

  const orc::result told(orc::errc::no_broker, "no broker answers at ipc:///x");
  const orc::result copy = told;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(!copy);
  CHECK(copy.error().message() == "no broker answers at ipc:///x");
}

TEST_CASE("result: every code has a sentence of its own", "[unit][threads]") {
  std::set<std::string_view> sentences;
  for (int code = 0; code <= static_cast<int>(orc::errc::forked); ++code) {
    const auto sentence = orc::describe(static_cast<orc::errc>(code));
    INFO(code);
    CHECK(!sentence.empty());
    CHECK(sentences.insert(sentence).second);
  }
  CHECK(!orc::describe(static_cast<orc::errc>(200)).empty());  // from a newer library
}
