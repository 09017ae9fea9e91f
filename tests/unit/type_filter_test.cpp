// The fingerprint at the head of each LCM message.
#include "transport/multicast/types/type_filter.h"

#include <cstring>
#include <vector>

#include "orc/schema.h"
#include "support/catch.h"
#include "transport/multicast/datagram/big_endian.h"

using namespace orc::detail;
using namespace orc::detail::multicast;

namespace {

constexpr std::uint64_t fingerprint = 0x0102030405060708;
const source where = *source::parse("127.0.0.1:1234");

[[nodiscard]] std::shared_ptr<const described_type> lcm_type() {
  return describe({"exlcm.example_t", "lcm", "lcm", "fingerprint 0x0102030405060708\n"});
}

[[nodiscard]] std::vector<std::byte> message_of(std::uint64_t which, std::size_t size) {
  std::vector<std::byte> bytes(std::max<std::size_t>(size, 8));
  put_big_endian(bytes.data(), which);
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("type filter of multicast: a subscription without an lcm type takes everything", "[unit]") {
  const type_filter untyped(nullptr);
  CHECK(!untyped);
  CHECK(untyped.passes({}));
  const type_filter of_struct(
      describe({"P", "struct", "struct", R"({"byte_order":"little","size":1,"fields":[]})"}).get());
  CHECK(!of_struct);
  CHECK(of_struct.passes(message_of(1, 8)));
  const type_filter unreadable(describe({"x.y", "lcm", "lcm", "struct {"}).get());
  CHECK(!unreadable);
}

TEST_CASE("type filter of multicast: an lcm message passes when it begins with the fingerprint, big-endian", "[unit]") {
  const type_filter filter(lcm_type().get());
  CHECK(filter);
  CHECK(filter.passes(message_of(fingerprint, 8)));
  CHECK(filter.passes(message_of(fingerprint, 100)));
  CHECK(!filter.passes(message_of(fingerprint + 1, 100)));
  CHECK(!filter.passes(message_of(0x0807060504030201, 8)));
  CHECK(!filter.passes(message_of(fingerprint, 7)));
  CHECK(!filter.passes({}));
}

TEST_CASE("type filter of multicast: what was dropped is said, and forgotten after a while", "[unit]") {
  type_filter filter(lcm_type().get());
  CHECK(!filter.problem());
  monotonic::time_point now{};
  filter.dropped(message_of(0xa, 8), where, now);
  REQUIRE(filter.problem());
  CHECK(filter.problem()->code() == orc::errc::type_mismatch);
  CHECK(filter.problem()->message() ==
        "the fingerprint is 0x000000000000000a in a message of 127.0.0.1:1234, "
        "0x0102030405060708 here (exlcm.example_t)");
  filter.dropped(message_of(fingerprint, 3), where, now);
  CHECK(filter.problem()->message() ==
        "there is no fingerprint in a message of 127.0.0.1:1234 with 3 bytes, "
        "0x0102030405060708 here (exlcm.example_t)");
  filter.expire(now + type_filter::remembered);
  CHECK(filter.problem());
  filter.expire(now + type_filter::remembered + std::chrono::milliseconds(1));
  CHECK(!filter.problem());
}
