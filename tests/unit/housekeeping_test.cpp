// What the background thread does for the topics of a participant.
#include "core/housekeeping.h"

#include <memory>
#include <mutex>
#include <string>

#include "base/run_dir.h"
#include "support/catch.h"
#include "support/fake_broker.h"
#include "support/fake_transport.h"
#include "support/no_descriptors.h"
#include "support/wait_until.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

const std::string group = "udpm://239.255.76.67:7667?ttl=0";

struct fixture {
  explicit fixture(const std::string& broker) : tested(std::make_unique<housekeeping>(context, options(broker))) {
    multicast->advertises = true;
    REQUIRE(tested->started());
  }
  orc::participant_options options(const std::string& broker) {
    orc::participant_options chosen;
    chosen.broker = broker;
    chosen.log = [this](orc::log_level, std::string_view text) {
      const std::lock_guard lock(mutex);
      log += std::string(text) + "\n";
    };
    return chosen;
  }
  // Over multicast, which needs no broker.
  std::shared_ptr<publication> publish() const {
    auto made = std::make_shared<publication>("t", orc::topic_options(), transports.list());
    tested->add(made);
    return made;
  }
  // Hears any sender over multicast.
  std::shared_ptr<subscription> subscribe(const orc::request_options& wanted = {}) const {
    auto made = std::make_shared<subscription>("t", wanted, orc::transport_set(), transports.list(), tested->bell(),
                                               group, true, true);
    tested->add(made);
    return made;
  }
  [[nodiscard]] std::string logged() {
    const std::lock_guard lock(mutex);
    return log;
  }

  std::mutex mutex;
  std::string log;
  fake_transports transports;
  std::shared_ptr<fake_transport::record> multicast = transports.add(wire::transport::multicast);
  zmq::context_t context;
  std::unique_ptr<housekeeping> tested;
};

}  // namespace

TEST_CASE("housekeeping: a new topic is declared without anybody's help", "[unit]") {
  fixture f{std::string(without_broker)};
  const auto p = f.publish();
  const auto s = f.subscribe();
  CHECK(p->announcement().wait(deadline(patience_ms)));
  CHECK(s->announcement().wait(deadline(patience_ms)));
  CHECK(s->wait_connected(patience_ms));
}

TEST_CASE("housekeeping: it empties the link of a user who stays away", "[unit]") {
  fixture f{std::string(without_broker)};
  f.multicast->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->in_order = true;
    for (const std::uint64_t sequence : {1U, 2U, 3U}) publisher->send(sequence);
    return publisher;
  };
  orc::request_options wanted;
  wanted.conflate = 0;
  const auto s = f.subscribe(wanted);
  CHECK(wait_until([&] { return s->counters().received == 3; }));
  for (const std::uint64_t sequence : {1U, 2U, 3U}) CHECK(s->recv(0, pick::next).sequence() == sequence);
}

TEST_CASE("housekeeping: a publication that cannot open is refused with the reason, which is logged", "[unit]") {
  fixture f{std::string(without_broker)};
  f.multicast->advertises = false;
  const auto p = f.publish();
  const auto outcome = p->announcement().wait(deadline(patience_ms));
  CHECK(outcome.code() == errc::refused);
  CHECK_THAT(f.logged(), contains("topic t cannot be offered"));
}

TEST_CASE("housekeeping: it lets go of a topic that is removed, and reports the end", "[unit]") {
  fixture f{std::string(without_broker)};
  auto p = f.publish();
  auto s = f.subscribe();
  REQUIRE(s->wait_connected(patience_ms));
  const auto told = f.tested->remove(p);
  f.tested->remove(s);
  CHECK(told->wait(deadline(patience_ms)));
  const std::weak_ptr<publication> sending = std::exchange(p, nullptr);
  const std::weak_ptr<subscription> receiving = std::exchange(s, nullptr);
  CHECK(wait_until([&] { return sending.expired() && receiving.expired(); }));
}

TEST_CASE("housekeeping: it talks to the broker, and says goodbye at its end", "[unit]") {
  fake_broker broker;
  fixture f(broker.endpoint());
  CHECK(f.tested->broker_availability().code() == errc::no_broker);
  const auto p = f.publish();
  const auto is_declared = [&] {
    broker.serve();
    return static_cast<bool>(p->announcement().wait(deadline(0)));
  };
  CHECK(wait_until(is_declared));
  CHECK(f.tested->broker_availability());
  CHECK(f.tested->broker_endpoint() == broker.endpoint());
  const auto told = f.tested->remove(p);
  CHECK(wait_until([&] {
    broker.serve();
    return static_cast<bool>(told->wait(deadline(0)));
  }));
  CHECK_FALSE(broker.all<wire::unregister_topic>().empty());
  f.tested.reset();
  CHECK(wait_until([&] {
    broker.serve();
    return broker.all<wire::goodbye>().size() == 1;
  }));
}

TEST_CASE("housekeeping: without descriptors it does not start, and says so", "[unit]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  zmq::context_t context;
  const orc::participant_options options{.broker = std::string(without_broker)};
  const no_descriptors limit;
  const housekeeping tested(context, options);
  CHECK(tested.started().code() == errc::no_descriptors);
}
