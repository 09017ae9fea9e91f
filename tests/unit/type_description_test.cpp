// The hash of type descriptions.
#include "orc/type_description.h"

#include "support/catch.h"

using namespace orc;

TEST_CASE("type description: the hash covers each part and where it ends") {
  // python3: sha256(b"".join(len(p).to_bytes(8, "little") + p for p in parts)).digest()[:8], little-endian
  const type_description type{"T", "flatbuffer", "flatbuffer", "schema"};
  CHECK(hash_of(type) == 0x8bab1b2f6531020a);
  CHECK(hash_of({"Tf", "latbuffer", "flatbuffer", "schema"}) != hash_of(type));
  CHECK(hash_of({"T", "flatbufferf", "latbuffer", "schema"}) != hash_of(type));
  CHECK(hash_of({"T", "flatbuffer", "flatbuffer", "schema2"}) != hash_of(type));
  CHECK(hash_of({"T", "flatbuffer", "", "schema"}) != hash_of({"T", "", "flatbuffer", "schema"}));
}

TEST_CASE("type description: without any part it is empty, and its hash is 0") {
  CHECK(type_description{}.empty());
  CHECK(hash_of({}) == 0);
  CHECK_FALSE(type_description{"", "", "json", ""}.empty());
  CHECK(hash_of({"", "", "json", ""}) != 0);
}
