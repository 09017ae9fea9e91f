// What the background thread does for the topics of a participant.
#include "core/housekeeping/housekeeping.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files/run_dir.h"
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

TEST_CASE("housekeeping: a new topic is declared without anybody's help", "[unit][threads]") {
  fixture f{std::string(without_broker)};
  const auto p = f.publish();
  const auto s = f.subscribe();
  CHECK(p->announcement().wait(deadline(patience_ms)));
  CHECK(s->announcement().wait(deadline(patience_ms)));
  CHECK(s->wait_connected(patience));
}

TEST_CASE("housekeeping: it empties the link of a user who stays away", "[unit][threads]") {
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
  for (const std::uint64_t sequence : {1U, 2U, 3U}) CHECK(s->recv(0ms, pick::next).sequence() == sequence);
}

TEST_CASE("housekeeping: it empties a link that has the number of the one before it", "[unit][threads]") {
  fixture f{std::string(without_broker)};
  std::vector<std::shared_ptr<fake_publisher>> made;
  std::atomic<std::size_t> links{0};
  f.multicast->next = [&, number = -1]() mutable {
    auto publisher = std::make_shared<fake_publisher>();
    // As when the kernel gives the number of the old link to the new one. Both own it from now on.
    if (number >= 0 && ::dup3(publisher->descriptor.get(), number, O_CLOEXEC) == number)
      publisher->descriptor.reset(number);
    number = publisher->descriptor.get();
    made.push_back(publisher);
    ++links;
    return publisher;
  };
  const auto s = f.subscribe();
  REQUIRE(s->wait_connected(patience));
  const auto first = made.back();
  first->send(1);
  REQUIRE(wait_until([&] { return s->counters().received == 1; }));
  first->lose();
  REQUIRE(wait_until([&] { return links == 2; }));
  REQUIRE(s->wait_connected(patience));
  const auto second = made.back();
  REQUIRE(second != first);
  // The tick alone would take a second for each.
  const deadline until(patience_ms);
  constexpr std::uint64_t many = 2 * patience_ms / 1000;
  for (std::uint64_t n = 1; n <= many && !until.passed(); ++n) {
    second->send(1 + n);
    (void)wait_until([&] { return s->counters().received == 1 + n || until.passed(); });
  }
  CHECK(s->counters().received == 1 + many);
  f.tested.reset();
  (void)first->descriptor.release();
}

TEST_CASE("housekeeping: an event of one topic is no work for another one", "[unit][threads]") {
  fixture f{std::string(without_broker)};
  f.multicast->has_events = true;
  const auto a = f.publish();
  REQUIRE(a->announcement().wait(deadline(patience_ms)));
  const auto b = f.publish();
  REQUIRE(b->announcement().wait(deadline(patience_ms)));
  auto& busy = *f.multicast->links[0];
  auto& idle = *f.multicast->links[1];
  const int before = idle.services;
  const auto began = monotonic::now();
  constexpr int events = 100;
  for (int n = 0; n < events; ++n) {
    const int served = busy.services;
    ::eventfd_write(busy.events.get(), 1);
    REQUIRE(wait_until([&] { return busy.services > served; }));
  }
  const auto ticks = (monotonic::now() - began) / housekeeping::tick + 1;
  CHECK(idle.services - before <= 2 * ticks + 4);  // and when the addresses of the host change
}

TEST_CASE("housekeeping: all topics that are added at once are declared, and all that are removed are let go",
          "[unit][threads]") {
  fake_broker broker;
  fixture f(broker.endpoint());
  constexpr std::size_t many = 500;
  std::vector<std::shared_ptr<subscription>> all;
  for (std::size_t n = 0; n < many; ++n) {
    all.push_back(std::make_shared<subscription>("t" + std::to_string(n), orc::request_options(), orc::transport_set(),
                                                 f.transports.list(), f.tested->bell(), "", false, false));
    f.tested->add(all.back());
  }
  for (const auto& each : all) {
    CHECK(wait_until([&] {
      broker.serve();
      return static_cast<bool>(each->announcement().wait(deadline(0)));
    }));
  }
  for (const auto& each : all) f.tested->remove(each);
  CHECK(wait_until([&] {
    broker.serve();
    return broker.all<wire::release_topic>().size() >= many;
  }));
  CHECK(wait_until([&] {
    broker.serve();
    return std::all_of(all.begin(), all.end(), [](const auto& each) { return each.use_count() == 1; });
  }));
}

TEST_CASE("housekeeping: the end of one topic leaves the open declarations of all others", "[unit][threads]") {
  fake_broker broker;
  fixture f(broker.endpoint());
  const auto subscription_to = [&](const std::string& topic) {
    auto made = std::make_shared<subscription>(topic, orc::request_options(), orc::transport_set(), f.transports.list(),
                                               f.tested->bell(), "", false, false);
    f.tested->add(made);
    return made;
  };
  const auto is_declared = [&](subscription& which) {
    return wait_until([&] {
      broker.serve();
      return static_cast<bool>(which.announcement().wait(deadline(0)));
    });
  };
  for (int round = 0; round < 5; ++round) {
    const auto ended = subscription_to("ended");
    REQUIRE(is_declared(*ended));
    f.tested->remove(ended);
    CHECK(is_declared(*subscription_to("again")));
  }
}

TEST_CASE("housekeeping: a publication that cannot open is refused with the reason, which is logged",
          "[unit][threads]") {
  fixture f{std::string(without_broker)};
  f.multicast->advertises = false;
  const auto p = f.publish();
  const auto outcome = p->announcement().wait(deadline(patience_ms));
  CHECK(outcome.code() == errc::refused);
  CHECK_THAT(f.logged(), contains("topic t cannot be offered"));
}

TEST_CASE("housekeeping: it lets go of a topic that is removed, and reports the end", "[unit][threads]") {
  fixture f{std::string(without_broker)};
  auto p = f.publish();
  auto s = f.subscribe();
  REQUIRE(s->wait_connected(patience));
  const auto told = f.tested->remove(p);
  f.tested->remove(s);
  CHECK(told->wait(deadline(patience_ms)));
  const std::weak_ptr<publication> sending = std::exchange(p, nullptr);
  const std::weak_ptr<subscription> receiving = std::exchange(s, nullptr);
  CHECK(wait_until([&] { return sending.expired() && receiving.expired(); }));
}

TEST_CASE("housekeeping: it talks to the broker, and says goodbye at its end", "[unit][threads]") {
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

TEST_CASE("housekeeping: without descriptors it does not start, and says so", "[unit][threads]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  zmq::context_t context;
  const orc::participant_options options{.broker = std::string(without_broker)};
  const no_descriptors limit;
  const housekeeping tested(context, options);
  CHECK(tested.started().code() == errc::no_descriptors);
}
