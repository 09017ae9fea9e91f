// SHA-256 with the vectors of FIPS 180-4 (NIST, "Example Values"), and the hash of type descriptions.
#include <algorithm>

#include "base/hash/sha256.h"
#include "orc/type_description.h"
#include "support/catch.h"
#include "wire/control.h"

using namespace orc;

namespace {

std::string hex_of(const orc::detail::sha256::digest& digest) {
  std::string text;
  for (const auto byte : digest) text += wire::id{std::uint64_t{byte} << 56, 0}.hex().substr(0, 2);
  return text;
}

std::string sha256_of(const std::string& bytes) {
  orc::detail::sha256 hash;
  hash.add(bytes);
  return hex_of(hash.finish());
}

}  // namespace

TEST_CASE("sha256: the standard's examples") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256: in parts of any size it is the same") {
  const std::string text(300, 'x');
  for (std::size_t size = 0; size <= text.size(); ++size) {
    orc::detail::sha256 whole;
    whole.add(text.substr(0, size));
    orc::detail::sha256 parts;
    for (std::size_t at = 0; at < size; at += 7) parts.add(text.substr(at, std::min<std::size_t>(7, size - at)));
    CHECK(hex_of(whole.finish()) == hex_of(parts.finish()));
  }
}

TEST_CASE("type hash: the four parts count, and where each ends; an empty description has none") {
  const type_description type{"T", "flatbuffer", "flatbuffer", "schema"};
  // python3: sha256(struct.pack("<Q", 1) + b"T" + struct.pack("<Q", 10) + b"flatbuffer" + ...).digest()[:8]
  CHECK(hash_of(type) == 0x8bab1b2f6531020a);
  CHECK(hash_of({"Tf", "latbuffer", "flatbuffer", "schema"}) != hash_of(type));
  CHECK(hash_of({"T", "flatbuffer", "flatbuffer", "schema2"}) != hash_of(type));
  CHECK(hash_of({"T", "flatbuffer", "", "schema"}) != hash_of({"T", "", "flatbuffer", "schema"}));
  CHECK(hash_of({}) == 0);
}
