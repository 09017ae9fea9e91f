// Services whose clients want more than their share.
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "orc/directory.h"
#include "support/call_liar.h"
#include "support/call_peer.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"
#include "support/value_of.h"
#include "support/wait_until.h"
#include "transport/sample_backlog.h"
#include "transport/stream/stream_transport.h"

using namespace orc::test;
using orc::detail::call_kind;

namespace {

// The numbers of the requests in the order in which they ran.
struct ran {
  [[nodiscard]] auto handler(call_counts& counts) {
    return [this, &counts](std::span<const std::byte> bytes, orc::call_context& context) {
      {
        const std::lock_guard lock(mutex);
        numbers.push_back(from_bytes<call_request>(bytes).number);
      }
      return obey(bytes, context, counts);
    };
  }
  std::mutex mutex;
  std::vector<std::uint64_t> numbers;
};

// So many clients of one program say hello, and stay in `all`. Returns how many were accepted.
std::size_t greet_as(std::list<liar>& all, const broker_process& broker, std::uint64_t count) {
  std::size_t accepted = 0;
  for (std::uint64_t id = 1; id <= count; ++id) {
    liar& each =
        all.emplace_back(broker, orc::detail::call_topic(service_name, id), orc::detail::reply_topic(service_name, id));
    (void)each.next(call_kind::welcome);
    each.send({.kind = call_kind::hello, .id = 1}, orc::detail::encode(orc::detail::call_types{}));
    call_kind answer = call_kind::welcome;
    while (answer == call_kind::welcome) answer = each.next_of_any();
    accepted += answer == call_kind::accepted ? 1U : 0U;
  }
  return accepted;
}

// Sessions of this process, each of which claims to be another one, with clients that say hello and nothing more.
class inventive_sessions {
 public:
  inventive_sessions(const broker_process& broker, std::uint32_t sessions, std::uint64_t clients_of_each) {
    const std::string home = broker.directory().file(std::to_string(::geteuid()));
    ::mkdir(home.c_str(), 0700);
    const auto hello =
        orc::detail::encode({.kind = call_kind::hello, .id = 1}, orc::detail::encode(orc::detail::call_types{}));
    hello_.buffer = orc::detail::allocate_frame(hello.size());
    std::ranges::copy(hello, hello_.buffer.payload());
    hello_.sequence = 1;
    for (std::uint32_t n = 1; n <= sessions; ++n) {
      orc::wire::hello who = hello_of_this_process("session");
      who.host = "elsewhere:" + std::to_string(n);
      who.pid = n;
      raw_client& each = sessions_.emplace_back(broker.endpoint());
      each.ask(who);
      for (std::uint64_t k = 0; k < clients_of_each; ++k) {
        orc::detail::publication_spec spec;
        spec.id = orc::wire::id::random();
        spec.directory = home;
        spec.lacking = std::make_shared<orc::detail::sample_backlog>();
        links_.push_back(value_of(orc::detail::ipc_transport().advertise(spec)));
        each.ask(orc::wire::register_topic{
            orc::detail::call_topic(service_name, std::uint64_t{n} << 32 | k), spec.id, {links_.back()->where()}, {}});
      }
    }
    thread_ = std::thread([this] { run(); });
  }
  ~inventive_sessions() {
    stop_ = true;
    thread_.join();
  }
  inventive_sessions(const inventive_sessions&) = delete;
  inventive_sessions& operator=(const inventive_sessions&) = delete;

 private:
  void run() {
    for (unsigned turn = 0; !stop_; ++turn) {
      for (const auto& each : links_) (void)each->service(&hello_);
      (void)::poll(nullptr, 0, 1);
      if (turn % 256 != 0) continue;
      for (raw_client& each : sessions_) each.send(0, orc::wire::heartbeat{});
    }
  }

  orc::detail::sample hello_;
  std::list<raw_client> sessions_;
  std::vector<std::unique_ptr<orc::detail::publisher_link>> links_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("calls: a hello waits for the end of a handler", "[integration][threads]") {
  lied_to_server side({.threads = 0});
  liar client = side.make_liar();
  side.greet(client);
  client.send(lied_to_server::request(1), bytes_of({.order = call_order::hold}));
  REQUIRE(wait_until([&] { return side.counts.started == 1; }));
  orc::detail::call_types large;
  large.reply = {.schema_encoding = "text", .schema = std::string(10'000, 'x')};
  client.send({.kind = call_kind::hello, .id = 6}, orc::detail::encode(orc::detail::call_types{}));
  CHECK(client.next().kind == call_kind::accepted);  // its types are soon compared
  for (std::uint64_t n = 0; n < 100; ++n)
    client.send({.kind = call_kind::hello, .id = 7 + n}, orc::detail::encode(large));
  client.send({.kind = call_kind::cancel, .id = 1});  // it is still heard
  CHECK(client.next().kind == call_kind::error);
  CHECK(client.next().id == 7);
}

TEST_CASE("calls: a client that says hello without end is let go", "[integration][threads]") {
  const bool readable = GENERATE(false, true);
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  const auto types = readable ? orc::detail::encode(orc::detail::call_types{}) : std::vector<std::byte>(3);
  for (std::uint64_t n = 0; n < 300; ++n) client.send({.kind = call_kind::hello, .id = 2 + n}, types);
  CHECK(client.next(call_kind::bye).id == 0);
}

TEST_CASE("calls: clients that leave while another one's handler runs leave nothing", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts));
  orc::participant client(address_broker.options("client"));
  auto held = client.call(service_name, bytes_of({.order = call_order::hold_anyway}), ample);
  REQUIRE(wait_until([&] {
    (void)held.ready();
    return counts.started == 1;
  }));
  const auto threads = stats_of().threads;
  for (std::size_t n = 1; n <= 4; ++n) {
    orc::participant leaves(address_broker.options("leaves"));
    auto waits = leaves.call(service_name, bytes_of({}), ample);
    REQUIRE(wait_until([&] {
      (void)waits.ready();
      return service.figures().waiting == 1;
    }));
  }
  CHECK(wait_until([&] { return stats_of().threads <= threads; }));
  CHECK(service.figures().waiting == 0);
  counts.released = true;
  CHECK(held.get());
}

TEST_CASE("calls: a client that has all places makes room, and the clients are served in turn",
          "[integration][threads]") {
  const std::size_t threads = GENERATE(0U, 1U);
  const bool is_pool = threads != 0;  // without, each client's thread waits for the turn with one request
  const broker_process address_broker;
  call_counts counts;
  ran order;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, order.handler(counts), {.threads = threads, .queue = 8});
  const auto reach = [&](orc::call_future<std::vector<std::byte>>& call, auto reached) {
    REQUIRE(wait_until([&] {
      (void)call.ready();  // the calling thread makes the connection go on
      return reached();
    }));
  };
  orc::participant holder(address_broker.options("holder"));
  auto held = holder.call(service_name, bytes_of({.order = call_order::hold_anyway}), ample);
  reach(held, [&] { return counts.started == 1; });
  orc::participant greedy(address_broker.options("greedy"));
  std::vector<orc::call_future<std::vector<std::byte>>> many;
  for (std::uint64_t n = 0; n < 20; ++n)
    many.push_back(greedy.call(service_name, bytes_of({.number = 100 + n}), ample));
  reach(many.front(), [&] { return service.figures().refused == (is_pool ? 12 : 0); });
  reach(many.front(), [&] { return service.figures().waiting == (is_pool ? 8 : 1); });
  orc::participant modest(address_broker.options("modest"));
  auto one = modest.call(service_name, bytes_of({.number = 7}), ample);
  if (is_pool)
    reach(one, [&] { return service.figures().refused == 13; });  // the greedy one's newest
  else
    reach(one, [&] { return service.figures().waiting == 2; });
  counts.released = true;
  CHECK(one.get());
  std::size_t served = 0;
  for (auto& each : many) served += each.get() ? 1U : 0U;
  if (is_pool) CHECK(served == 7);
  const auto place = std::ranges::find(order.numbers, 7U) - order.numbers.begin();
  CHECK(place <= 2);  // behind the held one and one of the greedy client
}

TEST_CASE("calls: many clients of one program have one share of what may wait", "[integration][threads]") {
  lied_to_server side({.threads = 1, .queue = 4});
  std::list<liar> crowd;
  REQUIRE(greet_as(crowd, side.address_broker, 5) == 5);
  crowd.front().send(lied_to_server::request(1), bytes_of({.order = call_order::hold_anyway}));
  REQUIRE(wait_until([&] { return side.counts.started == 1; }));
  for (auto each = std::next(crowd.begin()); each != crowd.end(); ++each)
    each->send(lied_to_server::request(1), bytes_of({}));
  REQUIRE(wait_until([&] { return side.service.figures().waiting == 4; }));
  const auto honest = start_call_peer("hold", side.address_broker, service_name, "ipc");
  CHECK(wait_until([&] {
    return std::ranges::any_of(crowd, [](liar& each) {
      const orc::message got = each.participant.recv_msg(each.from, 0);
      const auto read = got ? orc::detail::read_message(got.bytes()) : std::nullopt;
      return read && read->header.kind == call_kind::error;
    });
  }));
  side.counts.released = true;
}

TEST_CASE("calls: the bytes that wait are bounded, and late requests make room", "[integration][threads]") {
  lied_to_server side({.threads = 1, .queue_bytes = 1000});
  liar client = side.make_liar();
  side.greet(client);
  client.send(lied_to_server::request(1), bytes_of({.order = call_order::hold_anyway}));
  REQUIRE(wait_until([&] { return side.counts.started == 1; }));
  auto soon_late = lied_to_server::request(2);
  soon_late.remaining_ns = 1;
  client.send(soon_late, std::vector<std::byte>(5000));  // alone, it may be of any size
  REQUIRE(wait_until([&] { return side.service.figures().waiting == 1; }));
  client.send(lied_to_server::request(3), std::vector<std::byte>(600));  // takes the place of the late one
  const auto late = client.next();
  CHECK(late.kind == call_kind::error);
  CHECK(late.id == 2);
  const auto next_is_busy = [&](std::uint64_t id) {
    CHECK(client.next().id == id);
    const auto read = orc::detail::read_message(client.last.bytes());
    CHECK(orc::detail::read_error(read->payload)->code == orc::call_errc::busy);
  };
  client.send(lied_to_server::request(4), std::vector<std::byte>(600));
  next_is_busy(4);
  liar modest(side.address_broker, orc::detail::call_topic(service_name, 7), orc::detail::reply_topic(service_name, 7));
  side.greet(modest);
  modest.send(lied_to_server::request(1), std::vector<std::byte>(500));
  next_is_busy(3);  // makes room for the one that has less
  side.counts.released = true;
  CHECK(client.next(call_kind::result).id == 1);
  CHECK(modest.next(call_kind::result).id == 1);
}

TEST_CASE("calls: a program cannot take all places of a service", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts), {.max_clients = 4});
  REQUIRE(service.result());
  std::list<liar> greedy;  // one program's
  CHECK(greet_as(greedy, address_broker, 8) == 2);
  const auto modest = start_call_peer("call", address_broker, service_name, "ipc");  // has been served
  CHECK(counts.started > 0);
}

TEST_CASE("calls: sessions that invent processes have one program's share", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts), {.max_clients = 16});
  REQUIRE(service.result());
  inventive_sessions attack(address_broker, 12, 4);
  REQUIRE(wait_until([&] { return service.figures().clients >= 8; }));
  const auto modest = start_call_peer("call", address_broker, service_name, "ipc");  // has been served
  CHECK(counts.started > 0);
  CHECK(service.figures().clients <= 9);
}

TEST_CASE("calls: a client that found no place comes when there is one", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts), {.max_clients = 4});
  REQUIRE(service.result());
  std::list<liar> greedy;
  CHECK(greet_as(greedy, address_broker, 18) == 2);  // the others have the places of those that learn so
  liar late(address_broker, orc::detail::call_topic(service_name, 60), orc::detail::reply_topic(service_name, 60), {});
  orc::directory directory({.broker = address_broker.endpoint()});
  std::vector<orc::topic_state> served;
  REQUIRE(directory.topics(late.from, served));
  CHECK(std::ranges::none_of(served, [](const orc::topic_state& each) { return each.publication.has_value(); }));
  greedy.clear();
  CHECK(late.next().kind == call_kind::welcome);
}

TEST_CASE("calls: a client that says nothing loses its place to others", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts), {.max_clients = 1});
  REQUIRE(service.result());
  liar silent(address_broker, orc::detail::call_topic(service_name, liar_id),
              orc::detail::reply_topic(service_name, liar_id));
  (void)silent.next(call_kind::welcome);
  orc::participant client(address_broker.options("client"));
  CHECK(wait_until([&] { return static_cast<bool>(client.call(service_name, bytes_of({}), 1s).get()); }));
}

TEST_CASE("calls: a participant calls more services than it has connections to at a time", "[integration][threads]") {
  const broker_process address_broker;
  orc::participant client(address_broker.options("client"));
  for (std::size_t n = 0; n <= orc::max_called_services; ++n) {
    const auto ended = client.call("none/" + std::to_string(n), bytes_of({}), 1ms).get();
    REQUIRE(ended.code() != orc::call_errc::too_many_calls);
  }
}
