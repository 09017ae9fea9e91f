// The decoder and samples of encoding json.
#include "types_fuzz.h"

namespace {

orc::type_description fixed_type() { return {"t", "jsonschema", "json", R"({})"}; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "a[1].b", data, size);
}
