// What the control-plane decoder refuses, one reason at a time, and what the encoder does with too much.
#include <flatbuffers/flatbuffers.h>

#include <cstring>

#include "schemas/golden/messages.h"
#include "support/catch.h"
#include "support/golden_files.h"

using namespace orc;
using orc::test::contains;
using test::as_span;
namespace golden = wire::golden;

namespace {

wire::malformed refusal(const std::string& bytes) {
  const auto decoded = wire::decode(as_span(bytes));
  REQUIRE_FALSE(decoded);
  return decoded.error();
}

// The encoder does not judge what is not free text, which makes bad messages easy to come by.
void refused(wire::body content, const std::string& reason) {
  const auto wrong = refusal(wire::encode({77, std::move(content)}));
  CHECK(wrong.code == wire::error_code::bad_request);
  CHECK(wrong.request == 77);
  CHECK_THAT(wrong.text, contains(reason));
}

wire::envelope round_trip(wire::body content) {
  const auto bytes = wire::encode({1, std::move(content)});
  CHECK(bytes.size() <= wire::max_control_bytes);
  const auto decoded = wire::decode(as_span(bytes));
  if (!decoded) FAIL(decoded.error().text);
  return *decoded;
}

template <class T>
T at(const std::string& bytes, std::size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

// Position of field `index` of the root table, and of its entry in the virtual table.
struct field_place {
  std::size_t entry;
  std::size_t value;
};
field_place envelope_field(const std::string& bytes, std::size_t index) {
  const std::size_t root = at<std::uint32_t>(bytes, 0);
  const auto vtable = static_cast<std::size_t>(static_cast<std::int64_t>(root) - at<std::int32_t>(bytes, root));
  const auto entry = vtable + 4 + 2 * index;
  return {entry, root + at<std::uint16_t>(bytes, entry)};
}

constexpr std::size_t version_field = 0;
constexpr std::size_t kind_field = 2;
constexpr std::size_t body_field = 3;

}  // namespace

TEST_CASE("wire: sizes outside the limits are refused") {
  CHECK_THAT(refusal("").text, contains("too short"));
  CHECK_THAT(refusal("1234567").text, contains("too short"));
  auto big = wire::encode({1, wire::ack{}});
  big.resize(wire::max_control_bytes + 1);
  CHECK_THAT(refusal(big).text, contains("65537 bytes, the limit is 65536"));
}

TEST_CASE("wire: another file identifier is refused") {
  auto bytes = wire::encode({1, wire::ack{}});
  bytes[7] = '2';
  CHECK_THAT(refusal(bytes).text, contains("ORC1"));
}

TEST_CASE("wire: another version is told apart from a bad message") {
  auto bytes = wire::encode({42, wire::ack{}});
  bytes[envelope_field(bytes, version_field).value] = 2;
  const auto wrong = refusal(bytes);
  CHECK(wrong.code == wire::error_code::version);
  CHECK(wrong.request == 42);
  CHECK_THAT(wrong.text, contains("version 2"));
}

TEST_CASE("wire: an unknown kind of message is refused") {
  auto bytes = wire::encode({42, wire::ack{}});
  bytes[envelope_field(bytes, kind_field).value] = 99;
  const auto wrong = refusal(bytes);
  CHECK(wrong.request == 42);
  CHECK_THAT(wrong.text, contains("kind 99"));
}

TEST_CASE("wire: a missing body or required field is refused") {
  auto bytes = wire::encode({42, wire::ack{}});
  const auto entry = envelope_field(bytes, body_field).entry;
  bytes[entry] = bytes[entry + 1] = 0;
  CHECK_THAT(refusal(bytes).text, contains("verification failed"));

  bytes = wire::encode({42, wire::ack{}});
  bytes[envelope_field(bytes, kind_field).value] = 1;  // an Ack read as a Hello: no participant, no host
  CHECK(refusal(bytes).request == 42);
}

TEST_CASE("wire: an offset out of the message is refused") {
  auto bytes = wire::encode({42, wire::ack{}});
  bytes[0] = '\x7f';
  CHECK_THAT(refusal(bytes).text, contains("outside"));
  bytes = wire::encode({42, wire::ack{}});
  bytes[envelope_field(bytes, body_field).value + 1] = '\x7f';
  CHECK(refusal(bytes).request == 42);
}

TEST_CASE("wire: bad topic names are refused in every message that has one") {
  const auto nul = std::string("a\0b", 3);
  for (const auto& name :
       {std::string(), std::string(256, 'a'), nul, std::string("gr\xc3\xbc\xc3\x9f"), std::string("a b")}) {
    const auto checked = wire::check_topic_name(name);
    REQUIRE(checked.code() == orc::errc::bad_name);
    const auto reason = checked.error().message();
    refused(wire::register_topic{name, golden::identity(1), {}, {}}, reason);
    refused(wire::unregister_topic{name, golden::identity(1)}, reason);
    refused(wire::request_topic{name, golden::identity(1)}, reason);
    refused(wire::release_topic{name, golden::identity(1)}, reason);
    refused(wire::describe_topic{name}, reason);
    refused(wire::topic_state{name, {}, {}, 0}, reason);
  }
}

TEST_CASE("wire: good topic names") {
  for (const auto& name : {std::string("a"), std::string(255, 'z'), std::string("Robot_1/arm.left/q-0"),
                           std::string(".."), std::string("/")}) {
    CHECK(wire::check_topic_name(name));
    CHECK(round_trip(wire::describe_topic{name}).content == wire::body(wire::describe_topic{name}));
  }
}

TEST_CASE("wire: zero ids are refused") {
  refused(wire::hello{{}, "n", "h", 1, 1, ""}, "participant is the zero id");
  refused(wire::register_topic{"t", {}, {}, {}}, "publication is the zero id");
  refused(wire::request_topic{"t", {}}, "subscription is the zero id");
  refused(wire::heartbeat{{{}}, {}}, "publication is the zero id");
  refused(wire::heartbeat{{}, {{}}}, "subscription is the zero id");
}

TEST_CASE("wire: an empty host identity is refused") {
  refused(wire::hello{golden::identity(1), "n", "", 1, 1, ""}, "host is empty");
}

TEST_CASE("wire: endpoints are checked") {
  wire::register_topic request{"t", golden::identity(1), {}, {}};
  request.endpoints.assign(17, {wire::transport::ipc, "ipc:///x"});
  refused(request, "endpoints has 17 entries, the limit is 16");
  request.endpoints = {{wire::transport::none, "x"}};
  refused(request, "no transport");
  request.endpoints = {{static_cast<wire::transport>(6), "x"}};
  refused(request, "transport is 6");
  request.endpoints = {{wire::transport::tcp, ""}};
  refused(request, "empty address");
  request.endpoints = {{wire::transport::tcp, std::string(256, 'x')}};
  refused(request, "address has 256 bytes, the limit is 255");
  request.endpoints = {{wire::transport::tcp, std::string("a\0b", 3)}};
  refused(request, "address has a NUL inside");
}

TEST_CASE("wire: enumerations out of range are refused") {
  refused(wire::error{static_cast<wire::error_code>(9), "x"}, "code is 9");
  wire::subscription_counters counters;
  counters.subscription = golden::identity(1);
  counters.transport = static_cast<wire::transport>(200);
  refused(wire::heartbeat{{}, {counters}}, "transport is 200");
}

TEST_CASE("wire: too many counters and too long schemas are refused") {
  wire::heartbeat beat;
  beat.publications.assign(257, golden::published());
  refused(beat, "publications has 257 entries, the limit is 256");
  wire::register_topic request{"t", golden::identity(1), {}, wire::type_reference{"T", "e", "e", 1, 1'048'577}};
  refused(request, "a schema has 1048577 bytes, the limit is 1048576");
  refused(wire::request_topic{"t", golden::identity(1), 0, request.type}, "a schema has 1048577 bytes");
  refused(wire::schema_part{1, 0, std::string(32'769, 's')}, "part of a schema has 32769 bytes, the limit is 32768");
}

TEST_CASE("wire: the largest part of a schema fits, whatever its bytes") {
  std::string bytes(wire::max_schema_part, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  const wire::body part = wire::schema_part{~std::uint64_t{0}, ~std::uint32_t{0}, bytes};
  CHECK(round_trip(part).content == part);
  const wire::body nothing = wire::schema_part{1, 2, ""};
  CHECK(round_trip(nothing).content == nothing);
}

namespace {

// A TopicList by hand, as no honest encoder writes it: `tables` tables share one name and `entries` lead to them.
std::string shared_topic_list(std::size_t tables, std::size_t entries, const std::string& name) {
  flatbuffers::FlatBufferBuilder out;
  const auto shared_name = out.CreateString(name);
  std::vector<flatbuffers::Offset<flatbuffers::Table>> states;
  for (std::size_t i = 0; i < tables; ++i) {
    const auto start = out.StartTable();
    out.AddOffset(4, shared_name);
    states.emplace_back(out.EndTable(start));
  }
  while (states.size() < entries) states.push_back(states[0]);
  const auto topics = out.CreateVector(states);
  auto start = out.StartTable();
  out.AddOffset(4, topics);
  const flatbuffers::Offset<void> list(out.EndTable(start));
  start = out.StartTable();
  out.AddElement<std::uint64_t>(6, 77, 0);
  out.AddOffset(10, list);
  out.AddElement<std::uint16_t>(4, 1, 0);
  out.AddElement<std::uint8_t>(8, 15, 0);
  out.Finish(flatbuffers::Offset<void>(out.EndTable(start)), "ORC1");
  return {reinterpret_cast<const char*>(out.GetBufferPointer()), out.GetSize()};
}

}  // namespace

TEST_CASE("wire: shared tables and strings do not multiply") {
  const auto honest = shared_topic_list(10, 10, "name");
  CHECK(wire::decode(as_span(honest)));
  CHECK_THAT(refusal(shared_topic_list(1, 15'000, "name")).text, contains("verification failed"));
  CHECK_THAT(refusal(shared_topic_list(600, 600, std::string(255, 'n'))).text, contains("together exceed"));
}

TEST_CASE("wire: free text is cut by the encoder, not refused") {
  const auto cut = round_trip(
      wire::hello{golden::identity(1), std::string(300, 'n'), std::string(300, 'h'), 1, 1, std::string(300, 'l')});
  CHECK(std::get<wire::hello>(cut.content).name == std::string(255, 'n'));
  const auto nul = round_trip(wire::error{wire::error_code::limit, std::string("ab\0c", 4)});
  CHECK(std::get<wire::error>(nul.content).text == "ab");
  const auto text = round_trip(wire::error{wire::error_code::limit, std::string(2'000, 't')});
  CHECK(std::get<wire::error>(text.content).text.size() == wire::max_error_text);
  // 254 bytes and a character of two bytes: it goes as a whole
  const auto utf8 = round_trip(wire::hello{golden::identity(1), std::string(254, 'n') + "\xc3\xbc", "h", 1, 1, ""});
  CHECK(std::get<wire::hello>(utf8.content).name == std::string(254, 'n'));
}

TEST_CASE("wire: the largest heartbeat fits, at the price of reasons") {
  wire::heartbeat beat;
  beat.publications.assign(256, golden::published());
  beat.subscriptions.assign(256, golden::subscribed());
  for (auto& one : beat.subscriptions) one.reason.assign(255, 'r');
  const auto check = [&] {
    auto back = std::get<wire::heartbeat>(round_trip(beat).content);
    CHECK(back.publications == beat.publications);
    REQUIRE(back.subscriptions.size() == 256);
    CHECK(back.subscriptions[255].received == beat.subscriptions[255].received);
    CHECK(back.subscriptions[255].prediction == beat.subscriptions[255].prediction);
    return back.subscriptions[0].reason.size();
  };
  CHECK(check() < 255);
  for (auto& one : beat.subscriptions) one.prediction.reset();
  CHECK(check() >= 64);
}

TEST_CASE("wire: the largest registration fits") {
  wire::register_topic request{std::string(255, 't'), golden::identity(1), {}, {}};
  request.endpoints.assign(16, {wire::transport::ipc, std::string(255, 'a')});
  request.type = {std::string(255, 'n'), std::string(255, 'e'), std::string(255, 'e'), 1, 1};
  CHECK(std::get<wire::register_topic>(round_trip(request).content) == request);
}

TEST_CASE("wire: displaced publications of a topic are bounded, and ids") {
  auto state = golden::state();
  const auto empty = wire::largest_size(state);
  state.displaced.assign(wire::max_displaced, golden::identity(7));
  CHECK(std::get<wire::topic_state>(round_trip(state).content) == state);
  CHECK(wire::largest_size(state) >= empty + 16 * wire::max_displaced);
  state.displaced.emplace_back();
  refused(state, "displaced publications has 65 entries, the limit is 64");
  state.displaced = {wire::id{}};
  refused(state, "displaced is the zero id");
}

TEST_CASE("wire: a list that is too long becomes a page, and says that there is more") {
  wire::topic_list list;
  for (int i = 0; i < 500; ++i) {
    auto state = golden::state();
    state.topic = "topic/" + std::to_string(i);
    list.topics.push_back(state);
  }
  const auto page = std::get<wire::topic_list>(round_trip(list).content);
  CHECK(page.more);
  REQUIRE(page.topics.size() > 20);
  for (std::size_t i = 0; i < page.topics.size(); ++i) CHECK(page.topics[i] == list.topics[i]);
}

TEST_CASE("wire: a topic with too many subscriptions still tells how many") {
  auto state = golden::state();
  state.subscriptions.assign(1'000, state.subscriptions[0]);
  state.subscription_count = 1'000;
  const auto back = std::get<wire::topic_state>(round_trip(state).content);
  CHECK(back.subscription_count == 1'000);
  CHECK(back.subscriptions.size() > 50);
  const auto listed = std::get<wire::topic_list>(round_trip(wire::topic_list{{state}, false, 0, 0, 0, 0}).content);
  REQUIRE(listed.topics.size() == 1);
  CHECK(listed.topics[0].subscription_count == 1'000);
}

TEST_CASE("wire: ids and transports as text") {
  CHECK(wire::id{0x0123456789abcdef, 0x1}.hex() == "0123456789abcdef0000000000000001");
  CHECK(wire::id::random() != wire::id::random());
  CHECK(wire::name_of(wire::transport::multicast) == "multicast");
  CHECK(wire::name_of(static_cast<wire::transport>(99)) == "unknown");
  CHECK(wire::transport_named("shm") == wire::transport::shm);
  CHECK_FALSE(wire::transport_named("carrier pigeon"));
}
