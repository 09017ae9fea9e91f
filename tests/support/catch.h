// Catch2 for every test: version 2 (Debian 12) and 3 (Debian 13, Ubuntu 24.04) differ in header names only, for what we
// use.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <cstdio>
#include <string>
#include <string_view>

namespace orc::test {

// CHECK_THAT(text, contains("part")): version 2's Contains(string) is ContainsSubstring in 3, whose Contains is for
// ranges.
inline auto contains(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

// What this machine does not allow (namespaces, two cores) is no failure, but must be seen: ctest reports the test as
// skipped. Call as `return orc::test::skip("no network namespaces here");` from the TEST_CASE itself.
inline void skip(std::string_view reason) {
  SUCCEED();
  std::fprintf(stderr, "[orc: skipped] %.*s\n", static_cast<int>(reason.size()), reason.data());
}

}  // namespace orc::test
