// The decoder and samples of encoding protobuf.
#include "types_fuzz.h"

#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace {

const std::string definition =
    "syntax = \"proto3\"; enum M { A = 0; B = 1; } message P { double x = 1; } message T { int32 i = 1; sint64 s = 2;"
    "M m = 3; string t = 4; bytes b = 5; repeated double d = 6; repeated M ms = 7; map<string, P> n = 8; T kid = 9;"
    "repeated P ps = 10; oneof o { bool f = 11; float g = 12; } map<int32, M> em = 13; }";

orc::type_description fixed_type() {
  namespace pb = google::protobuf;
  pb::io::ArrayInputStream stream(definition.data(), static_cast<int>(definition.size()));
  pb::io::Tokenizer tokenizer(&stream, nullptr);
  pb::compiler::Parser parser;
  pb::FileDescriptorSet files;
  if (!parser.Parse(&tokenizer, files.add_file())) std::abort();
  files.mutable_file(0)->set_name("t.proto");
  return {"T", "protobuf", "protobuf", files.SerializeAsString()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orc::type_description type = fixed_type();
  return orc::test::fuzz_type(type, "kid.ps[0].x", data, size);
}
