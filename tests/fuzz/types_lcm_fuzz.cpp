// The decoder and samples of encoding lcm.
#include "types_fuzz.h"

namespace {

orc::type_description fixed_type() {
  return {
      "p.t", "lcm", "lcm",
      R"(package p; struct j { string n; } struct t { int32_t n; double x[n]; j js[n][2]; t kids[n]; string s; byte b[3]; })"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "kids[0].x[0]", data, size);
}
