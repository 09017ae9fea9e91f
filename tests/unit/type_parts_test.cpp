// A type description as multicast carries it.
#include "transport/multicast/types/type_parts.h"

#include "support/catch.h"

using namespace orc::detail::multicast;

TEST_CASE("type parts of multicast: four parts with their lengths, big-endian", "[unit]") {
  using namespace std::string_literals;
  const orc::type_description type{"P", "lcm", "lcm", "xyz!"};
  const std::string bytes = write_type(type);
  CHECK(bytes == "\0\0\0\1P\0\0\0\3lcm\0\0\0\3lcm\0\0\0\4xyz!"s);
  const auto back = read_type(bytes);
  REQUIRE(back);
  CHECK(*back == type);
  CHECK(read_type(write_type({})).value_or(type).empty());
}

TEST_CASE("type parts of multicast: bytes that end early or go on are refused", "[unit]") {
  const std::string bytes = write_type({"P", "lcm", "lcm", "xyz!"});
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(!read_type(std::string_view(bytes).substr(0, n)));
  CHECK(!read_type(bytes + "x"));
  std::string long_name = bytes;
  long_name[0] = '\xff';
  CHECK(!read_type(long_name));
}
