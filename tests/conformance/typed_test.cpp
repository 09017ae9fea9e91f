// Typed topics of structs, over every transport.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "conformance/link.h"
#include "orc/typed.h"
#include "support/catch.h"
#include "support/payload.h"

namespace typed_test {

enum class mode : std::uint8_t { idle, moving };
ORC_DESCRIBE_ENUM(mode, idle, moving)

struct small {
  double q[7];
  std::int64_t count = 0;
  bool valid = true;
  mode now = mode::moving;
};
ORC_DESCRIBE(small, q, count, valid, now)

struct large {
  std::array<float, 250'000> cloud;
  std::uint32_t number;
};
ORC_DESCRIBE(large, cloud, number)

struct alignas(64) cache_line {
  std::uint64_t number = 9;
};
ORC_DESCRIBE(cache_line, number)

// What another program takes for a small: the same name, other fields.
struct changed_small {
  float q[7];
  std::int64_t count;
  bool valid;
  mode now;
};
ORC_DESCRIBE(changed_small, q, count, valid, now)

struct tiny {
  std::uint16_t number;
};
ORC_DESCRIBE(tiny, number)

}  // namespace typed_test

template <>
struct orc::type_traits<typed_test::changed_small> {
  static const orc::type_description& describe() {
    static const orc::type_description type{
        .name = "typed_test.small",
        .schema_encoding = "struct",
        .message_encoding = "struct",
        .schema = detail::struct_schema(detail::struct_of<typed_test::changed_small>())};
    return type;
  }
  static bool decode(std::span<const std::byte>, typed_test::changed_small&) { return true; }
};

using namespace orc::test;
using namespace typed_test;

namespace {

template <class Transport, class T>
struct typed_link {
  explicit typed_link(const orc::request_options& options = wanted<Transport>())
      : publisher(sender.register_topic<T>("typed/topic", offered<Transport>())),
        subscriber(receiver.request_topic<T>("typed/topic", options)) {
    require(publisher.result(), "register_topic");
    require(subscriber.result(), "request_topic");
  }

  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  orc::typed_publisher<T> publisher;
  orc::typed_subscriber<T> subscriber;
};

// Whether the T of a message is in the bytes that arrived.
template <class T>
bool in_place(const orc::typed_message<T>& message) {
  return static_cast<const void*>(&*message) == message.raw().data();
}

}  // namespace

TEMPLATE_TEST_CASE("typed: a struct arrives with its values", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  typed_link<TestType, small> l;
  REQUIRE(l.publisher.send({.q = {1, 2, 3, 4, 5, 6, 7}, .count = -5, .valid = false, .now = mode::idle}));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got.status() == orc::errc::ok);
  CHECK(got->q[0] == 1);
  CHECK(got->q[6] == 7);
  CHECK(got->count == -5);
  CHECK((*got).valid == false);
  CHECK(got->now == mode::idle);
  CHECK(got.raw().size() == sizeof(small));
  CHECK(got.missed() == 0);
  CHECK(got.stamp_ns() == got.raw().stamp_ns());
  CHECK(l.subscriber.connected());
  CHECK(l.subscriber.fd() >= 0);
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
}

TEMPLATE_TEST_CASE("typed: a loan begins as T{} and is sent without a copy of its own", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  typed_link<TestType, small> l;
  for (std::int64_t i = 1; i <= 20; ++i) {  // more than there are slots: their memory had other content
    auto loan = l.publisher.loan();
    REQUIRE(loan);
    CHECK(loan->q[3] == 0);
    CHECK(loan->count == 0);
    CHECK(loan->valid);
    CHECK(loan->now == mode::moving);
    loan->q[3] = 0.5;
    loan->count = i;
    REQUIRE(l.publisher.send(std::move(loan)));
    CHECK(!loan);  // NOLINT(bugprone-use-after-move): the contract says what it is now
    const auto got = l.subscriber.recv_next(patience_ms);
    REQUIRE(got);
    CHECK(got->q[3] == 0.5);
    CHECK(got->count == i);
  }
  CHECK(l.publisher.send(orc::typed_loan<small>()).code() == orc::errc::bad_argument);
}

TEST_CASE("typed: over shm a 1 MB struct is made and read in the slot", "[conformance][threads]") {
  typed_link<shm, large> l;
  STATIC_REQUIRE(std::tuple_size_v<decltype(large::cloud)> * sizeof(float) == 1'000'000);
  auto loan = l.publisher.loan(orc::initial::undefined);
  REQUIRE(loan);
  loan->cloud.fill(0.25F);
  loan->number = 77;
  REQUIRE(l.publisher.send(std::move(loan)));
  auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(in_place(got));
  CHECK(got->cloud[249'999] == 0.25F);
  CHECK(got->number == 77);
  const auto moved = std::move(got);
  CHECK(!got);  // NOLINT(bugprone-use-after-move): the contract says what it is now
  CHECK(got.status() == orc::errc::nothing_new);
  REQUIRE(moved);
  CHECK(in_place(moved));
  CHECK(moved->number == 77);
}

TEST_CASE("typed: over inproc a struct made in place is read at the same address", "[conformance][threads]") {
  typed_link<inproc, large> l;
  auto loan = l.publisher.loan(orc::initial::undefined);
  REQUIRE(loan);
  const void* const at = &*loan;
  loan->number = 5;
  REQUIRE(l.publisher.send(std::move(loan)));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got->number == 5);
  CHECK(static_cast<const void*>(&*got) == at);
}

TEMPLATE_TEST_CASE("typed: a struct is always at an address for its alignment", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  typed_link<TestType, cache_line> l;
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto loan = l.publisher.loan();
    REQUIRE(loan);
    CHECK(reinterpret_cast<std::uintptr_t>(&*loan) % 64 == 0);
    CHECK(loan->number == 9);
    loan->number = i;
    auto other = std::move(loan);
    REQUIRE(l.publisher.send(std::move(other)));
    auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    const auto moved = std::move(got);
    CHECK(reinterpret_cast<std::uintptr_t>(&*moved) % 64 == 0);
    CHECK(moved->number == i);
  }
}

TEMPLATE_TEST_CASE("typed: small samples survive moves of their messages and loans", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  typed_link<TestType, tiny> l;
  auto loan = l.publisher.loan();
  REQUIRE(loan);
  loan->number = 4711;
  orc::typed_loan<tiny> other;
  other = std::move(loan);
  REQUIRE(other);
  CHECK(other->number == 4711);
  REQUIRE(l.publisher.send(std::move(other)));
  auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  orc::typed_message<tiny> moved;
  CHECK(!moved);
  moved = std::move(got);
  REQUIRE(moved);
  CHECK(moved->number == 4711);
  CHECK(in_place(moved));
  auto raw = moved.release();
  CHECK(!moved);
  CHECK(raw.size() == sizeof(tiny));
}

TEST_CASE("typed: bytes that are no T are not read, and the raw sample is there", "[conformance][threads]") {
  typed_link<shm, small> l;
  const auto arrives = [&](const bytes& sent) {
    orc::publisher publisher = l.publisher.untyped();
    REQUIRE(publisher.send(sent.data(), sent.size()));
    auto got = l.subscriber.recv(patience_ms);
    CHECK(holds(got.raw(), sent));
    CHECK(static_cast<bool>(got) == (got.status() == orc::errc::ok));
    return got.status();
  };
  small value{.q = {}, .count = 1, .valid = true, .now = mode::idle};
  bytes image(sizeof value);
  std::memcpy(image.data(), &value, sizeof value);
  CHECK(arrives(image) == orc::errc::ok);
  bytes longer = image;
  longer.resize(sizeof value + 1);
  CHECK(arrives(longer) == orc::errc::type_mismatch);
  CHECK(arrives({}) == orc::errc::type_mismatch);
  // A bool of 2 is undefined to read.
  bytes wrong = image;
  wrong[offsetof(small, valid)] = decltype(wrong)::value_type{2};
  CHECK(arrives(wrong) == orc::errc::type_mismatch);
  CHECK(arrives(image) == orc::errc::ok);
}

TEST_CASE("typed: false handles return why", "[conformance][threads]") {
  orc::typed_publisher<small> publisher;
  CHECK(!publisher);
  CHECK(publisher.send(small{}).code() == orc::errc::not_registered);
  CHECK(!publisher.loan());
  orc::typed_subscriber<small> subscriber;
  CHECK(!subscriber);
  CHECK(subscriber.recv(0).status() == orc::errc::not_requested);
  CHECK(subscriber.fd() == -1);

  broker_process address_broker;
  orc::participant participant(address_broker.options("participant"));
  auto bad = participant.register_topic<small>("not a name");
  CHECK(!bad);
  CHECK(bad.error().code() == orc::errc::bad_name);
  CHECK(!participant.request_topic<small>("not a name"));

  orc::topic_options other;
  other.type.name = "robot.Other";
  bad = participant.register_topic<small>("topic", other);
  CHECK(!bad);
  CHECK(bad.error().code() == orc::errc::bad_argument);
  CHECK(bad.error().message().find("robot.Other") != std::string::npos);
}

TEST_CASE("typed: a subscriber of another struct gets no link, and the reason", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("arm"));
  orc::participant receiver(address_broker.options("receiver"));
  auto publisher = sender.register_topic<small>("arm/state", offered<ipc>());
  REQUIRE(publisher);
  REQUIRE(publisher.send(small{.q = {}, .count = 1, .valid = true, .now = mode::idle}));

  const auto other = receiver.request_topic<large>("arm/state", wanted<ipc>());
  CHECK(other.error().code() == orc::errc::type_mismatch);
  CHECK(other.error().message().find("typed_test.small") != std::string::npos);
  CHECK(other.error().message().find("typed_test.large") != std::string::npos);
  CHECK(!other.connected());

  orc::participant third(address_broker.options("third"));
  const auto changed = third.request_topic<changed_small>("arm/state", wanted<ipc>());
  CHECK(changed.error().code() == orc::errc::type_mismatch);
  INFO(changed.error().message());
  CHECK(changed.error().message().find("field `q` is float64[7] at publisher `arm") != std::string::npos);
  CHECK(changed.error().message().find("float32[7] here") != std::string::npos);

  // Without the check the link is made, and the size tells.
  orc::participant fourth(address_broker.options("fourth"));
  orc::request_options unchecked = wanted<ipc>();
  unchecked.type_check = orc::type_check::off;
  auto taken = fourth.request_topic<tiny>("arm/state", unchecked);
  REQUIRE(taken.result());
  const auto got = taken.recv(patience_ms);
  CHECK(!got);
  CHECK(got.status() == orc::errc::type_mismatch);
  CHECK(got.raw().size() == sizeof(small));

  // An untyped end matches any.
  orc::participant fifth(address_broker.options("fifth"));
  CHECK(fifth.request_topic("arm/state", wanted<ipc>()).result());
}
