// Link messages: the bytes of schemas/PROTOCOL.md, and what is refused.
#include "wire/link_message.h"
#include "support/catch.h"

namespace {

using orc::wire::decode_link_message;
using orc::wire::encode;
using orc::wire::link_kind;
using orc::wire::link_message;

link_message some_hello() {
  return {.kind = link_kind::hello,
          .publication = {1, 2},
          .subscription = {3, 4},
          .secret = 7,
          .depth = 5,
          .takes_padding = true,
          .last_sequence = 6};
}

}  // namespace

TEST_CASE("link message: has the bytes of PROTOCOL.md") {
  const auto frame = encode(some_hello());
  REQUIRE(frame.size() == 72);
  const auto at = [&](std::size_t offset) { return std::to_integer<int>(frame[offset]); };
  for (std::size_t offset = 0; offset < 8; ++offset) CHECK(at(offset) == 0);
  CHECK(at(8) == 7);  // secret
  for (std::size_t offset = 9; offset < 16; ++offset) CHECK(at(offset) == 0);
  CHECK(at(16) == 'O');
  CHECK(at(19) == 'L');
  CHECK(at(20) == 1);  // hello
  CHECK(at(21) == 1);  // version
  CHECK(at(22) == 1);  // flags
  CHECK(at(24) == 1);  // publication hi
  CHECK(at(32) == 2);  // lo
  CHECK(at(40) == 3);  // subscription hi
  CHECK(at(48) == 4);
  CHECK(at(56) == 5);  // depth
  CHECK(at(64) == 6);  // last sequence
}

TEST_CASE("link message: decodes to what was encoded") {
  const auto decoded = decode_link_message(encode(some_hello()));
  REQUIRE(decoded);
  CHECK(decoded->kind == link_kind::hello);
  CHECK(decoded->publication == orc::wire::id{1, 2});
  CHECK(decoded->subscription == orc::wire::id{3, 4});
  CHECK(decoded->secret == 7);
  CHECK(decoded->depth == 5);
  CHECK(decoded->takes_padding);
  CHECK(decoded->last_sequence == 6);
}

TEST_CASE("link message: anything else is refused") {
  const auto good = encode(some_hello());
  const auto with = [&](std::size_t offset, int value) {
    auto frame = good;
    frame[offset] = static_cast<std::byte>(value);
    return decode_link_message(frame).has_value();
  };
  CHECK(with(0, 0));
  CHECK_FALSE(with(0, 1));     // a sample
  CHECK_FALSE(with(16, 'X'));  // magic
  CHECK_FALSE(with(20, 0));    // kind
  CHECK_FALSE(with(20, 5));
  CHECK_FALSE(with(21, 2));  // version
  for (std::size_t size = 0; size < good.size(); ++size) CHECK_FALSE(decode_link_message(std::span(good).first(size)));
  auto nobody = some_hello();
  nobody.subscription = {};
  CHECK_FALSE(decode_link_message(encode(nobody)));
  nobody = some_hello();
  nobody.publication = {};
  CHECK_FALSE(decode_link_message(encode(nobody)));
}
