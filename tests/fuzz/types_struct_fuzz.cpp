// The decoder and samples of encoding struct.
#include "types_fuzz.h"

namespace {

orc::type_description fixed_type() {
  return {"t", "struct", "struct",
          R"({"byte_order":"little","size":32,"fields":[{"name":"q","type":"float32","offset":0,"shape")"
          R"(:[2,2],"unit":"rad"},{"name":"name","type":"char","offset":16,"shape":[6]},{"name":"mode",)"
          R"("type":"uint8","offset":22,"values":{"idle":0,"on":1}},{"name":"s","type":{"size":4,"field)"
          R"(s":[{"name":"v","type":"int16","offset":0}]},"offset":24,"shape":[2]}]})"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "q[1][0]", data, size);
}
