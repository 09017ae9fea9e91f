// The decoder and samples of encoding cdr, with ros2msg.
#include "types_fuzz.h"

namespace {

orc::type_description fixed_type() {
  const std::string separator = std::string(80, '=') + "\n";
  return {"a/msg/T", "ros2msg", "cdr",
          "bool b\nint8 i\nfloat64[] d\nstring s\nwstring w\nP[<=2] p\nE e\n" + separator +
              "MSG: a/P\nint64 x\nuint8 y\n" + separator + "MSG: a/E\n"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "p[1].x", data, size);
}
