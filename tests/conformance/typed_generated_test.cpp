// Typed topics of classes that lcm-gen, flatc and protoc generate (tests/types), and of a class with traits of its own.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "conformance/link.h"
#include "orc/typed.h"
#include "orc/typed/flatbuffers.h"
#include "orc/typed/lcm.h"
#include "orc/typed/protobuf.h"
#include "scan.pb.h"
#include "scan_bfbs_generated.h"
#include "scan_generated.h"
#include "scan_lcm_text.h"
#include "support/catch.h"
#include "support/payload.h"
#include "typed_lcm/laser/scan_t.hpp"

ORC_LCM_SCHEMA(typed_lcm::laser::scan_t, scan_lcm_text)
ORC_FLATBUFFERS_SCHEMA(typed_fb::laser::Scan)

namespace typed_test {

// A class with a vtable and text: what a struct of bytes cannot be.
class heading {
 public:
  virtual ~heading() = default;
  double degrees = 0;
};

// A class whose definition is another one.
struct changed_vector_t : typed_lcm::laser::vector_t {};

}  // namespace typed_test

// A table that is not the root_type of its schema.
template <>
struct orc::flatbuffers_schema<typed_fb::laser::Point> {
  using type = typed_fb::laser::ScanBinarySchema;
};

ORC_LCM_SCHEMA(typed_test::changed_vector_t, "package typed_test; struct changed_vector_t { double x, y; }")

template <>
struct orc::type_traits<typed_test::heading> {
  static const orc::type_description& describe() {
    static const orc::type_description type{.name = "test.heading", .message_encoding = "text"};
    return type;
  }
  static std::size_t encoded_size(const typed_test::heading& value) noexcept {
    return std::to_string(value.degrees).size();
  }
  static bool encode(const typed_test::heading& value, std::span<std::byte> to) noexcept {
    if (value.degrees < 0) return false;
    std::memcpy(to.data(), std::to_string(value.degrees).data(), to.size());
    return true;
  }
  static bool decode(std::span<const std::byte> from, typed_test::heading& value) {
    const auto* const text = reinterpret_cast<const char*>(from.data());
    return std::from_chars(text, text + from.size(), value.degrees).ec == std::errc();
  }
};

using namespace orc::test;

namespace {

template <class Transport, class T>
struct typed_link {
  typed_link()
      : publisher(sender.register_topic<T>("typed/topic", offered<Transport>())),
        subscriber(receiver.request_topic<T>("typed/topic", wanted<Transport>())) {
    require(publisher.result(), "register_topic");
    require(subscriber.result(), "request_topic");
  }
  // Sends bytes that need be no T.
  orc::errc status_of(const bytes& sent) {
    orc::publisher untyped = publisher.untyped();
    require(untyped.send(sent.data(), sent.size()), "send");
    return subscriber.recv(patience_ms).status();
  }

  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  orc::typed_publisher<T> publisher;
  orc::typed_subscriber<T> subscriber;
};

bytes bytes_of(const orc::message& message) {
  const auto* const data = static_cast<const unsigned char*>(message.data());
  return {data, data + message.size()};
}

using lcm_scan = typed_lcm::laser::scan_t;
using fb_scan = typed_fb::laser::Scan;
using pb_scan = typed_pb::laser::Scan;

lcm_scan filled_lcm_scan() {
  lcm_scan scan;
  scan.utime = 1234567890123;
  scan.nranges = 180;
  for (int i = 0; i < 180; ++i) scan.ranges.push_back(0.25F * static_cast<float>(i));
  scan.name = "front";
  scan.origin = {1, 2, 3};
  scan.npoints = 2;
  scan.points = {{4, 5, 6}, {7, 8, 9}};
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) scan.grid[i][k] = static_cast<std::int16_t>(10 * i + k);
  scan.valid = 1;
  for (int i = 0; i < 4; ++i) scan.raw[i] = static_cast<std::uint8_t>(i);
  return scan;
}

flatbuffers::FlatBufferBuilder filled_fb_scan() {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<float> ranges(180, 0.5F);
  const typed_fb::laser::Vector at(1, 2, 3);
  const std::vector points{typed_fb::laser::CreatePointDirect(builder, &at, "corner")};
  builder.Finish(typed_fb::laser::CreateScanDirect(builder, 42, &ranges, "front", &at, &points));
  return builder;
}

}  // namespace

TEMPLATE_TEST_CASE("typed: a class of lcm-gen arrives with its values", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  typed_link<TestType, lcm_scan> l;
  REQUIRE(l.publisher.send(filled_lcm_scan()));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got->utime == 1234567890123);
  REQUIRE(got->ranges.size() == 180);
  CHECK(got->ranges[179] == 0.25F * 179);
  CHECK(got->name == "front");
  CHECK(got->origin.z == 3);
  REQUIRE(got->points.size() == 2);
  CHECK(got->points[1].y == 8);
  CHECK(got->grid[1][2] == 12);
  CHECK(got->valid == 1);
  CHECK(got->raw[3] == 3);
  // The bytes are LCM's own.
  const lcm_scan scan = filled_lcm_scan();
  bytes own(static_cast<std::size_t>(scan.getEncodedSize()));
  REQUIRE(scan.encode(own.data(), 0, static_cast<int>(own.size())) == static_cast<int>(own.size()));
  CHECK(holds(got.raw(), own));
}

TEST_CASE("typed: bytes that are no class of lcm-gen are not read", "[conformance][threads]") {
  typed_link<shm, lcm_scan> l;
  REQUIRE(l.publisher.send(filled_lcm_scan()));
  bytes image = bytes_of(l.subscriber.recv(patience_ms).raw());
  CHECK(l.status_of(image) == orc::errc::ok);
  CHECK(l.status_of({}) == orc::errc::type_mismatch);
  for (std::size_t size = 0; size < image.size(); size += 37) {
    CHECK(l.status_of(bytes(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size))) ==
          orc::errc::type_mismatch);
  }
  bytes wrong = image;
  wrong[0] ^= 1;  // the fingerprint
  CHECK(l.status_of(wrong) == orc::errc::type_mismatch);
  wrong = image;
  wrong[16] = 0xFF;  // nranges: negative
  CHECK(l.status_of(wrong) != orc::errc::ok);
  CHECK(l.status_of(image) == orc::errc::ok);
}

TEST_CASE("typed: a class of lcm-gen is described by its definition, or by its fingerprint", "[conformance][threads]") {
  const auto& scan = orc::type_traits<lcm_scan>::describe();
  CHECK(scan.name == "typed_lcm.laser.scan_t");
  CHECK(scan.schema_encoding == "lcm");
  CHECK(scan.message_encoding == "lcm");
  CHECK(scan.schema == scan_lcm_text);
  CHECK(orc::lcm_fingerprint(scan) == static_cast<std::uint64_t>(lcm_scan::getHash()));

  using vector = typed_lcm::laser::vector_t;
  const auto& plain = orc::type_traits<vector>::describe();
  char line[40] = {};
  std::snprintf(line, sizeof line, "fingerprint 0x%016llx\n", static_cast<unsigned long long>(vector::getHash()));
  CHECK(plain.schema == line);
  CHECK(plain.name == "typed_lcm.laser.vector_t");
  CHECK(orc::lcm_fingerprint(plain) == static_cast<std::uint64_t>(vector::getHash()));
}

TEST_CASE("typed: an LCM definition that is not the class's is refused", "[conformance][threads]") {
  orc::participant participant{{.broker = "none"}};
  const auto changed = participant.register_topic<typed_test::changed_vector_t>("topic");
  CHECK(!changed);
  CHECK(changed.error().code() == orc::errc::bad_argument);
  CHECK(changed.error().message().find("run lcm-gen again") != std::string::npos);
}

TEMPLATE_TEST_CASE("typed: a FlatBuffers table arrives with its values", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  typed_link<TestType, fb_scan> l;
  const auto check = [&] {
    auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    const auto moved = std::move(got);
    CHECK(moved->utime() == 42);
    CHECK(moved->ranges()->size() == 180);
    CHECK(moved->ranges()->Get(179) == 0.5F);
    CHECK(moved->name()->str() == "front");
    CHECK(moved->origin()->y() == 2);
    CHECK(moved->points()->Get(0)->label()->str() == "corner");
    CHECK(moved->mode() == typed_fb::laser::Mode_moving);
    CHECK(reinterpret_cast<std::uintptr_t>(moved->origin()) % alignof(double) == 0);
    if constexpr (TestType::kind == orc::transport::shm) {
      const std::span<const std::byte> slot = moved.raw().bytes();
      const auto* const table = reinterpret_cast<const std::byte*>(&*moved);
      CHECK(table >= slot.data());
      CHECK(table < slot.data() + slot.size());
    }
  };
  auto builder = filled_fb_scan();
  REQUIRE(l.publisher.send(builder));
  check();
  REQUIRE(l.publisher.send(std::span<const std::uint8_t>(builder.GetBufferPointer(), builder.GetSize())));
  check();
  REQUIRE(l.publisher.send(builder.Release()));
  check();
}

TEST_CASE("typed: bytes that are no FlatBuffers table are not read", "[conformance][threads]") {
  typed_link<shm, fb_scan> l;
  const auto builder = filled_fb_scan();
  const bytes image(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  CHECK(l.status_of(image) == orc::errc::ok);
  CHECK(l.status_of({}) == orc::errc::type_mismatch);
  for (std::size_t size = 1; size < 200; size += 13) {
    CHECK(l.status_of(bytes(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size))) ==
          orc::errc::type_mismatch);
  }
  bytes wrong = image;
  wrong[3] = 0x7F;  // the root is far beyond the end
  CHECK(l.status_of(wrong) == orc::errc::type_mismatch);
}

TEST_CASE("typed: a FlatBuffers sample of 2 GiB is refused, not read", "[conformance][threads]") {
  auto builder = filled_fb_scan();
  const std::span<const std::uint8_t> whole(builder.GetBufferPointer(), builder.GetSize());
  orc::flatbuffers_view<fb_scan> view;
  CHECK(view.open(std::as_bytes(whole)) == orc::errc::ok);
  // The sizes are a lie: whoever read so far would leave the buffer.
  const std::span<const std::byte> huge(std::as_bytes(whole).data(), FLATBUFFERS_MAX_BUFFER_SIZE);
  CHECK(view.open(huge) == orc::errc::type_mismatch);
  CHECK(view.open(std::span(huge.data() + 1, huge.size())) == orc::errc::type_mismatch);
  CHECK(view.open_copy(huge) == orc::errc::type_mismatch);
}

TEST_CASE("typed: a FlatBuffers table that is read in a copy stays as it was", "[conformance][threads]") {
  auto builder = filled_fb_scan();
  bytes image(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  orc::flatbuffers_view<fb_scan> view;
  REQUIRE(view.open_copy(std::as_bytes(std::span(image))) == orc::errc::ok);
  std::fill(image.begin(), image.end(), static_cast<bytes::value_type>(0xFF));
  CHECK(view.get()->ranges()->size() == 180);
  CHECK(view.get()->name()->str() == "front");
}

TEST_CASE("typed: a FlatBuffers table is described by its binary schema", "[conformance][threads]") {
  const auto& type = orc::type_traits<fb_scan>::describe();
  CHECK(type.name == "typed_fb.laser.Scan");
  CHECK(type.schema_encoding == "flatbuffer");
  CHECK(type.message_encoding == "flatbuffer");
  CHECK(type.schema.substr(4, 4) == "BFBS");
  CHECK(orc::type_traits<fb_scan>::check());
  const auto other = orc::type_traits<typed_fb::laser::Point>::check();
  CHECK(other.code() == orc::errc::bad_argument);
  CHECK(other.error().message().find("the root_type typed_fb.laser.Scan") != std::string::npos);
}

TEMPLATE_TEST_CASE("typed: a Protobuf message arrives with its values", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  typed_link<TestType, pb_scan> l;
  pb_scan scan;
  scan.set_utime(42);
  for (int i = 0; i < 180; ++i) scan.add_ranges(static_cast<float>(i));
  scan.set_name("front");
  scan.mutable_origin()->set_y(2);
  scan.add_points()->set_x(4);
  REQUIRE(l.publisher.send(scan));
  auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  const auto moved = std::move(got);
  CHECK(moved->utime() == 42);
  REQUIRE(moved->ranges_size() == 180);
  CHECK(moved->ranges(179) == 179);
  CHECK(moved->name() == "front");
  CHECK(moved->origin().y() == 2);
  CHECK(moved->points(0).x() == 4);
  CHECK(moved->mode() == typed_pb::laser::moving);
}

TEST_CASE("typed: a Protobuf message without a required field is neither sent nor read", "[conformance][threads]") {
  typed_link<shm, pb_scan> l;
  CHECK(l.publisher.send(pb_scan()).code() == orc::errc::bad_argument);
  CHECK(l.status_of({}) == orc::errc::type_mismatch);
  CHECK(l.status_of({0x08, 0x2A}) == orc::errc::ok);
  CHECK(l.status_of({0x08}) == orc::errc::type_mismatch);
}

TEST_CASE("typed: a Protobuf message is described with the files that it imports", "[conformance][threads]") {
  const auto& type = orc::type_traits<pb_scan>::describe();
  CHECK(type.name == "typed_pb.laser.Scan");
  CHECK(type.schema_encoding == "protobuf");
  CHECK(type.message_encoding == "protobuf");
  google::protobuf::FileDescriptorSet files;
  REQUIRE(files.ParseFromString(type.schema));
  REQUIRE(files.file_size() == 2);
  CHECK(files.file(0).name() == "vector.proto");
  CHECK(files.file(1).name() == "scan.proto");
}

TEMPLATE_TEST_CASE("typed: a class with traits of its own arrives with its values", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  typed_link<TestType, typed_test::heading> l;
  typed_test::heading value;
  value.degrees = 12.5;
  REQUIRE(l.publisher.send(value));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got->degrees == 12.5);
  value.degrees = -1;
  CHECK(l.publisher.send(value).code() == orc::errc::bad_argument);
  CHECK(l.status_of({'x'}) == orc::errc::type_mismatch);
}
