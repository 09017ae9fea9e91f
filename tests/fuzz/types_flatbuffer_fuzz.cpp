// The decoder and samples of encoding flatbuffer.
#include "types_fuzz.h"

#include <flatbuffers/idl.h>

namespace {

const char* const definition =
    "namespace r; enum M : byte { A, B } struct P { x:float; i:[int16:2]; } table L { v:int; kids:[L]; }"
    "table S { s:string; } union U { L, S } table T { m:M; p:P; n:[double]; w:[string]; ps:[P]; l:L; u:U; us:[U]; }"
    "root_type T;";

orc::type_description fixed_type() {
  flatbuffers::Parser parser;
  if (!parser.Parse(definition)) std::abort();
  parser.Serialize();
  const auto* bytes = reinterpret_cast<const char*>(parser.builder_.GetBufferPointer());
  return {"r.T", "flatbuffer", "flatbuffer", std::string(bytes, parser.builder_.GetSize())};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "l.kids[0].v", data, size);
}
