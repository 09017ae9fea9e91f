// The golden vectors decode to what they were made from, encode to the same bytes, and no damage to them is dangerous.
#include <algorithm>
#include <random>

#include "schemas/golden/messages.h"
#include "support/catch.h"
#include "support/golden_files.h"

using namespace orc;
using test::as_span;

TEST_CASE("wire golden: every vector decodes to its message and encodes to its bytes") {
  for (const auto& [name, message] : wire::golden::messages()) {
    INFO(name);
    const auto bytes = test::golden_bytes(name);
    const auto decoded = wire::decode(as_span(bytes));
    REQUIRE(decoded);
    CHECK(*decoded == message);
    CHECK(wire::encode(message) == bytes);
  }
}

TEST_CASE("wire golden: every kind of message has a vector") {
  std::vector<bool> seen(std::variant_size_v<wire::body>, false);
  for (const auto& [name, message] : wire::golden::messages()) seen[message.content.index()] = true;
  CHECK(std::count(seen.begin(), seen.end(), false) == 0);
}

TEST_CASE("wire golden: what programs from before typed topics say of a type is ignored") {
  // Their table of the same place has the encoding, the hash and the schema's bytes in other slots.
  const auto registration = test::golden_bytes("before_types/register_topic");
  const auto registered = wire::decode(as_span(registration));
  REQUIRE(registered);
  CHECK(registered->content == wire::body(wire::register_topic{"robot/position", wire::golden::identity(2),
                                                               wire::golden::endpoints(), std::nullopt, false}));

  const auto state = test::golden_bytes("before_types/topic_state");
  const auto shown = wire::decode(as_span(state));
  REQUIRE(shown);
  const auto& topic = std::get<wire::topic_state>(shown->content);
  REQUIRE(topic.publication);
  CHECK(topic.publication->endpoints == wire::golden::endpoints());
  CHECK_FALSE(topic.publication->keep_last);
  CHECK_FALSE(topic.publication->type);
}

TEST_CASE("wire golden: counters of programs that do not report the time of samples are complete without") {
  const auto older = wire::decode(as_span(test::golden_bytes("before_timing/heartbeat")));
  REQUIRE(older);
  auto expected = wire::golden::published();
  expected.last_sent_ns = 0;
  expected.jitter_ns = -1;
  CHECK(std::get<wire::heartbeat>(older->content).publications == std::vector{expected});
}

TEST_CASE("wire golden: counters of programs from before predictive waiting are complete without") {
  const auto older = wire::decode(as_span(test::golden_bytes("before_prediction/heartbeat")));
  REQUIRE(older);
  auto expected = wire::golden::subscribed();
  expected.prediction.reset();
  CHECK(std::get<wire::heartbeat>(older->content).subscriptions == std::vector{expected});
}

TEST_CASE("wire golden: a request of a participant that is older than shared topics says so") {
  const auto bytes = test::golden_bytes("before_shared/request_topic");
  const auto older = wire::decode(as_span(bytes));
  REQUIRE(older);
  CHECK_FALSE(std::get<wire::request_topic>(older->content).knows_shared);
}

TEST_CASE("wire golden: any alignment is decoded") {
  for (const auto& [name, message] : wire::golden::messages()) {
    const auto bytes = wire::encode(message);
    for (std::size_t shift = 1; shift < 8; ++shift) {
      const auto shifted = std::string(shift, 'x') + bytes;
      const auto decoded = wire::decode(as_span(shifted).subspan(shift));
      REQUIRE(decoded);
      CHECK(*decoded == message);
    }
  }
}

TEST_CASE("wire golden: a truncated vector is malformed or the same message, never a crash") {
  for (const auto& [name, message] : wire::golden::messages()) {
    const auto bytes = wire::encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string cut(bytes.data(), size);  // an allocation of its own: a read past the end is seen by asan
      const auto decoded = wire::decode(as_span(cut));
      if (decoded) {
        INFO(name << " cut to " << size << " of " << bytes.size());  // only padding was cut
        CHECK(*decoded == message);
      }
    }
  }
}

TEST_CASE("wire golden: no damaged byte makes the decoder crash or accept what it cannot encode") {
  for (const auto& [name, message] : wire::golden::messages()) {
    const auto bytes = wire::encode(message);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        const auto accepted = wire::decode(as_span(damaged));
        if (!accepted) continue;
        INFO(name << " byte " << at << " xor " << flip);
        const auto again = wire::encode(*accepted);
        const auto twice = wire::decode(as_span(again));
        REQUIRE(twice);
        CHECK(*twice == *accepted);
      }
    }
  }
}

TEST_CASE("wire golden: random bytes never crash the decoder") {
  std::mt19937_64 random(20260401);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    if (bytes.size() >= 8 && i % 2 == 0) bytes.replace(4, 4, "ORC1");
    (void)wire::decode(as_span(bytes));
  }
  SUCCEED();
}
