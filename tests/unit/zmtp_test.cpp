// ZMTP 3 as links speak it: the bytes of rfc.zeromq.org/spec/23.
#include "wire/zmtp.h"

#include <string>

#include "support/catch.h"

namespace zmtp = orc::wire::zmtp;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("zmtp: the greeting is version 3, mechanism NULL", "[unit]") {
  const auto greeting = zmtp::greeting();
  const std::string text(reinterpret_cast<const char*>(greeting.data()), greeting.size());
  CHECK(text == std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x00NULL", 16) + std::string(48, '\0'));
}

TEST_CASE("zmtp: a greeting is judged as it comes, byte for byte", "[unit]") {
  const auto greeting = zmtp::greeting();
  for (std::size_t size = 0; size <= greeting.size(); ++size) {
    CHECK(zmtp::acceptable_greeting(std::span(greeting).first(size)));
  }
  const auto with = [&](std::size_t at, int value) {
    auto other = greeting;
    other[at] = static_cast<std::byte>(value);
    return zmtp::acceptable_greeting(other);
  };
  CHECK(with(11, 1));          // 3.1
  CHECK(with(10, 4));          // a later version talks version 3 to us
  CHECK(with(8, 77));          // padding of the signature
  CHECK_FALSE(with(0, 0));     // signature
  CHECK_FALSE(with(9, 0));     // signature
  CHECK_FALSE(with(10, 1));    // ZMTP 2
  CHECK_FALSE(with(12, 'C'));  // CURVE or the like
  CHECK_FALSE(with(16, 'X'));
}

TEST_CASE("zmtp: frame headers, short and long", "[unit]") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{65536},
                                 std::size_t{1} << 40, SIZE_MAX}) {
    const auto header = zmtp::encode_frame_header(size, zmtp::command);
    CHECK(header.size == (size < 256 ? 2 : 9));
    const auto bytes = std::span(header.bytes).first(header.size);
    for (std::size_t part = 0; part < header.size; ++part) CHECK_FALSE(zmtp::decode_frame_header(bytes.first(part)));
    const auto decoded = zmtp::decode_frame_header(bytes);
    REQUIRE(decoded);
    CHECK(decoded->size == size);
    CHECK(decoded->header_size == header.size);
    CHECK((decoded->flags & ~zmtp::long_size) == zmtp::command);
  }
}

TEST_CASE("zmtp: READY tells the socket type, PONG gives the context of the PING back", "[unit]") {
  CHECK(zmtp::ready_frame("DEALER") == std::string("\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
                                                   "DEALER",
                                                   30));
  CHECK(zmtp::pong_frame(bytes_of(std::string("\4PING\0\x0a"
                                              "abc",
                                              10))) == std::string("\4\10\4PONGabc", 10));
  CHECK(zmtp::pong_frame(bytes_of("\4PING")) == std::string("\4\5\4PONG", 7));
}

TEST_CASE("zmtp: names of commands, also cut short", "[unit]") {
  CHECK(zmtp::command_name(bytes_of("\5READY...")) == "READY");
  CHECK(zmtp::command_name(bytes_of("\5READ")).empty());
  CHECK(zmtp::command_name({}).empty());
}
