// What somebody who can only open a connection to the broker tries against those who use it: their identity, their
// room, their time, their subscribers, the log.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "base/files/temporary_directory.h"
#include "orc/type_description.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;
using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr auto stall = 3s;  // what takes longer than this is no slow machine

template <class Answer>
bool is(const wire::body& answer) {
  if (const auto* wrong = std::get_if<wire::error>(&answer)) UNSCOPED_INFO(wrong->text);
  return std::holds_alternative<Answer>(answer);
}

wire::error_code code_of(const wire::body& answer) {
  const auto* wrong = std::get_if<wire::error>(&answer);
  return wrong == nullptr ? wire::error_code::none : wrong->code;
}

wire::register_topic registration(const std::string& topic, int port = 1) {
  return {topic, wire::id::random(), {{wire::transport::tcp, "tcp://127.0.0.1:" + std::to_string(port)}}, {}};
}

// An orc-broker on ipc and tcp, with options.
struct broker_with {
  explicit broker_with(const std::vector<std::string>& options = {}) {
    std::vector<std::string> command{program("orc-broker"), "--listen", ipc, "--listen", tcp};
    command.insert(command.end(), options.begin(), options.end());
    process.emplace(command);
    if (!wait_until([&] { return accepts_connections(ipc) && accepts_connections(tcp); })) FAIL("no broker");
  }

  orc::detail::temporary_directory place;
  const std::string ipc = "ipc://" + place.file("broker");
  const std::string tcp = "tcp://127.0.0.1:" + std::to_string(free_tcp_port());
  std::optional<child_process> process;
};

// A connection that calls itself by a very long name, as libzmq's API would not let it, and reads without looking.
class long_named_connection {
 public:
  explicit long_named_connection(const std::string& ipc, std::size_t name_bytes)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, ipc.data() + 6, ipc.size() - 6);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect");
    std::string greeting(64, '\0');
    greeting[0] = '\xff';
    greeting[9] = '\x7f';
    greeting[10] = 3;
    greeting.replace(12, 4, "NULL");
    const auto property = [](const std::string& name, const std::string& value) {
      std::string text(1, static_cast<char>(name.size()));
      text += name;
      for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value.size() >> shift);
      return text + value;
    };
    std::string ready = std::string("\5READY") + property("Socket-Type", "DEALER");
    ready += property("Identity", std::string(name_bytes, 'i'));
    send_all(greeting + framed(6, ready));
    reader_ = std::thread([this] {
      char bytes[4096];
      while (::recv(fd_, bytes, sizeof bytes, 0) > 0) {
      }
    });
  }
  ~long_named_connection() {
    ::shutdown(fd_, SHUT_RDWR);
    reader_.join();
    ::close(fd_);
  }

  // False: the broker has closed the connection.
  bool send(std::uint64_t request, wire::body content) {
    return send_all(framed(2, wire::encode({request, std::move(content)})));
  }

 private:
  static std::string framed(char flags, const std::string& content) {  // a long frame (RFC 23)
    std::string frame(1, flags);
    for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(std::uint64_t{content.size()} >> shift);
    return frame + content;
  }
  bool send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  int fd_;
  std::thread reader_;
};

// Subscriptions to one topic, many requests on their way at a time.
void subscribe_often(raw_client& client, const std::string& topic, int count) {
  constexpr int window = 100;
  for (int done = 0; done < count; done += window) {
    for (int i = 0; i < window; ++i) client.send(1, wire::request_topic{topic, wire::id::random()});
    for (int i = 0; i < window; ++i) REQUIRE(client.receive());
  }
}

}  // namespace

TEST_CASE("broker strangers: Hello with a victim's id, host, pid and start time, then Goodbye, takes nothing",
          "[fault][threads]") {
  const broker_with broker;
  raw_client victim(broker.ipc);
  const auto who = hello_of_this_process("victim");
  REQUIRE(is<wire::welcome>(victim.ask(who)));
  REQUIRE(is<wire::topic_state>(victim.ask(registration("robot/do"))));
  raw_client attacker(GENERATE(true, false) ? broker.ipc : broker.tcp);
  auto copy = who;
  copy.secret = GENERATE(wire::id{}, wire::id{1, 2});
  const auto answer = attacker.ask(copy);
  CHECK(code_of(answer) == wire::error_code::id_taken);
  if (const auto* wrong = std::get_if<wire::error>(&answer)) {
    for (const auto& part : {who.name, who.host, std::to_string(who.pid)}) CHECK_THAT(wrong->text, !contains(part));
  }
  attacker.ask(wire::goodbye{});
  CHECK(described(attacker, "robot/do").publication);
  CHECK(is<wire::ack>(victim.ask(wire::heartbeat{})));
}

TEST_CASE("broker strangers: the ids that the broker shows are no credentials, also not after its restart",
          "[fault][threads]") {
  broker_process broker;
  const auto who = hello_of_this_process("victim");
  const auto subscription = wire::id::random();
  std::set<wire::id> shown;
  {
    raw_client victim(broker.endpoint());
    REQUIRE(is<wire::welcome>(victim.ask(who)));
    REQUIRE(is<wire::topic_state>(victim.ask(registration("t"))));
    REQUIRE(is<wire::topic_state>(victim.ask(wire::request_topic{"t", subscription})));
    raw_client tool(broker.endpoint());
    const auto state = described(tool, "t");
    REQUIRE(state.publication);
    REQUIRE(state.subscriptions.size() == 1);
    shown = {state.publication->participant, state.subscriptions[0].participant, state.subscriptions[0].subscription};
    CHECK_FALSE(shown.contains(who.participant));
    CHECK_FALSE(shown.contains(subscription));
  }
  broker.restart();
  raw_client attacker(broker.endpoint());
  auto copy = hello_of_this_process("attacker");
  copy.host = "elsewhere:1";
  copy.participant = *shown.begin();
  REQUIRE(is<wire::welcome>(attacker.ask(copy)));
  raw_client victim(broker.endpoint());
  CHECK(is<wire::welcome>(victim.ask(who)));
}

TEST_CASE("broker strangers: whose id is claimed after a restart learns at once that it needs another one",
          "[fault][threads]") {
  const broker_with broker;
  const auto who = hello_of_this_process("victim");
  raw_client attacker(broker.tcp);
  auto copy = who;
  copy.secret = {};
  copy.host = "elsewhere:1";
  REQUIRE(is<wire::welcome>(attacker.ask(copy)));
  raw_client victim(broker.ipc);
  CHECK(code_of(victim.ask(who)) == wire::error_code::id_taken);
  auto again = who;
  again.participant = wire::id::random();
  CHECK(is<wire::welcome>(victim.ask(again)));
  CHECK(is<wire::topic_state>(victim.ask(registration("t"))));
}

TEST_CASE("broker strangers: over ipc the kernel says who it is", "[fault][threads]") {
  const broker_with broker;
  raw_client liar(broker.ipc);
  auto who = hello_of_this_process("liar");
  who.pid = 1;
  who.start_time = 1;
  REQUIRE(is<wire::welcome>(liar.ask(who)));
  REQUIRE(is<wire::topic_state>(liar.ask(registration("t"))));
  CHECK(described(liar, "t").publication->pid == static_cast<std::uint32_t>(::getpid()));
}

TEST_CASE("broker strangers: a connection with a long name and many subscriptions slows no registration",
          "[fault][threads]") {
  const broker_with broker;
  constexpr std::uint32_t count = 40'000;
  long_named_connection attacker(broker.ipc, 60'000);
  bool there = attacker.send(1, hello_of_this_process("attacker"));
  for (std::uint32_t i = 0; i < count && there; ++i) {
    there = attacker.send(2, wire::request_topic{"robot/do", wire::id::random()});
  }
  raw_client honest(broker.ipc);
  REQUIRE(is<wire::welcome>(honest.ask(hello_of_this_process("honest"))));
  // A broker may refuse such a connection.
  if (there) CHECK(wait_until([&] { return described(honest, "robot/do").subscription_count == count; }));
  const auto start = clock_type::now();
  for (int port = 1; port <= 3; ++port) CHECK(is<wire::topic_state>(honest.ask(registration("robot/do", port))));
  CHECK(clock_type::now() - start < stall);
}

TEST_CASE("broker strangers: a topic with very many subscriptions, asked for again and again, stalls nobody",
          "[fault][threads]") {
  const broker_with broker;
  std::vector<std::unique_ptr<raw_client>> attackers;
  for (int i = 0; i < 2; ++i) {
    attackers.push_back(std::make_unique<raw_client>(i == 0 ? broker.ipc : broker.tcp));
    attackers.back()->ask(hello_of_this_process("greedy"));
  }
  for (int part = 0; part < 25; ++part) {  // in turns: whoever is silent for three seconds loses its lease
    for (const auto& each : attackers) subscribe_often(*each, "robot/do", 2'000);
  }
  raw_client robot(broker.ipc);
  REQUIRE(is<wire::welcome>(robot.ask(hello_of_this_process("robot"))));
  const auto start = clock_type::now();
  for (const auto& each : attackers) {
    for (int i = 0; i < 10; ++i) {
      each->send(7, wire::describe_topic{"robot/do"});
      each->send(8, wire::list_topics{});
    }
  }
  CHECK(is<wire::ack>(robot.ask(wire::heartbeat{})));
  CHECK(is<wire::topic_state>(robot.ask(registration("robot/state"))));
  CHECK(clock_type::now() - start < stall);
  // whoever wants all of them asks for the next page
  auto page = described(robot, "robot/do");
  CHECK(page.subscription_count == 100'000);
  CHECK(page.more);
  REQUIRE_FALSE(page.subscriptions.empty());
  auto next = robot.ask(wire::describe_topic{"robot/do", page.subscriptions.back().subscription});
  REQUIRE(is<wire::topic_state>(next));
  CHECK(std::get<wire::topic_state>(next).subscriptions.at(0).subscription > page.subscriptions.back().subscription);
}

TEST_CASE("broker strangers: one client cannot fill the tables, and others still join", "[fault][threads]") {
  const broker_with broker({"--max-participants", "8", "--max-topics", "8", "--max-subscriptions", "8"});
  std::vector<std::unique_ptr<raw_client>> attackers;
  int refused = 0;
  for (int i = 0; i < 8; ++i) {
    attackers.push_back(std::make_unique<raw_client>(broker.tcp));
    auto& each = *attackers.back();
    const auto number = std::to_string(i);
    refused += code_of(each.ask(hello_of_this_process("greedy" + number))) == wire::error_code::limit;
    each.ask(registration("a/" + number));
    each.ask(wire::request_topic{"b/" + number, wire::id::random()});
    each.ask(wire::request_topic{"a/0", wire::id::random()});
  }
  CHECK(refused == 4);
  raw_client honest(broker.ipc);
  REQUIRE(is<wire::welcome>(honest.ask(hello_of_this_process("honest"))));
  CHECK(is<wire::topic_state>(honest.ask(registration("robot/do"))));
  CHECK(is<wire::topic_state>(honest.ask(wire::request_topic{"robot/state", wire::id::random()})));
  const auto answer = attackers[0]->ask(registration("more"));
  REQUIRE(code_of(answer) == wire::error_code::limit);
  CHECK_THAT(std::get<wire::error>(answer).text, contains("address 127.0.0.1") && contains("3 topics"));
}

TEST_CASE("broker strangers: all loopback addresses together are one client", "[fault][threads]") {
  const broker_with broker({"--max-participants", "8"});
  std::vector<std::unique_ptr<raw_client>> attackers;
  int refused = 0;
  for (int i = 2; i < 10; ++i) {  // libzmq: from which address, then where to
    attackers.push_back(
        std::make_unique<raw_client>("tcp://127.0.0." + std::to_string(i) + ":0;" + broker.tcp.substr(6)));
    refused += code_of(attackers.back()->ask(hello_of_this_process("greedy"))) == wire::error_code::limit;
  }
  CHECK(refused == 4);
  raw_client honest(broker.ipc);
  CHECK(is<wire::welcome>(honest.ask(hello_of_this_process("honest"))));
}

TEST_CASE("broker strangers: endpoints that are somebody else's are refused", "[fault][threads]") {
  using wire::transport;
  const broker_with broker;
  const bool local = GENERATE(true, false);
  raw_client attacker(local ? broker.ipc : broker.tcp);
  attacker.ask(hello_of_this_process("attacker"));
  const auto publication = wire::id::random();
  const auto name = publication.hex().substr(0, 16);
  const auto uid = std::to_string(::geteuid());
  const auto place = local ? broker.place.path().string() : "/run/orc";
  const std::vector<wire::endpoint> foreign{{transport::tcp, "tcp://192.0.2.1:80"},
                                            {transport::tcp, "tcp://127.0.0.1:0"},
                                            {transport::tcp, "tcp://localhost:80"},
                                            {transport::tcp, "tcp://[2001:db8::1]:80"},
                                            {transport::tcp, "ipc://" + place + "/" + uid + "/" + name},
                                            {transport::ipc, "ipc:///run/dbus/system_bus_socket"},
                                            {transport::ipc, "ipc://" + place + "/" + uid + "/0123456789abcdef"},
                                            {transport::ipc, "ipc://" + place + "/../" + uid + "/" + name},
                                            {transport::ipc, "ipc:///var/lib/secret/" + uid + "/" + name},
                                            {transport::ipc, "ipc://" + place + "/someone/" + name},
                                            {transport::shm, "shm:///run/systemd/notify"},
                                            {transport::inproc, "inproc://x"},
                                            {transport::multicast, "udpm://192.0.2.1:80"},
                                            {transport::multicast, "udpm://239.255.76.67:7667?ttl=0&from=192.0.2.1:80"},
                                            {transport::multicast, "udpm://[2001:db8::1]:80"},
                                            {transport::multicast, "udpm://[ff15::76:67]:7667?from=[2001:db8::1]:80"},
                                            {transport::multicast, "udpm://ff15::76:67"},
                                            {transport::multicast, "garbage"}};
  int n = 0;
  for (const auto& each : foreign) {
    INFO(each.address);
    const auto answer = attacker.ask(wire::register_topic{"t" + std::to_string(n++), publication, {each}, {}});
    CHECK(code_of(answer) == wire::error_code::bad_request);
  }
  const std::vector<wire::endpoint> own{
      {transport::tcp, "tcp://127.0.0.1:80"},
      {transport::ipc, "ipc://" + place + "/" + uid + "/" + name},
      {transport::shm, "shm://" + place + "/" + uid + "/" + name + ".shm"},
      {transport::inproc, "inproc://" + publication.hex()},
      {transport::multicast, "udpm://239.255.76.67:7667?ttl=0&from=127.0.0.1:80&new=1"}};
  CHECK(is<wire::topic_state>(attacker.ask(wire::register_topic{"own", publication, own, {}})));
  const wire::endpoint over_ipv6{transport::multicast, "udpm://[ff15::76:67]:7667?ttl=0&from=[::1]:80&source=81"};
  CHECK(is<wire::topic_state>(attacker.ask(wire::register_topic{"own/6", wire::id::random(), {over_ipv6}, {}})));
}

TEST_CASE("broker strangers: a publication names one tcp port, at a few addresses", "[fault][threads]") {
  const broker_with broker({"--allow-endpoints", "192.0.2.0/24"});
  raw_client attacker(broker.tcp);
  attacker.ask(hello_of_this_process());
  const auto code_for = [&](const std::vector<std::string>& addresses) {
    wire::register_topic what{"t", wire::id::random(), {}, {}};
    for (const auto& each : addresses) what.endpoints.push_back({wire::transport::tcp, "tcp://" + each});
    return code_of(attacker.ask(what));
  };
  CHECK(code_for({"127.0.0.1:80", "127.0.0.1:81"}) == wire::error_code::bad_request);
  CHECK(code_for({"127.0.0.1:80", "127.0.0.1:080"}) == wire::error_code::bad_request);
  std::vector<std::string> many;
  for (int i = 1; i <= 9; ++i) many.push_back("192.0.2." + std::to_string(i) + ":80");
  CHECK(code_for(many) == wire::error_code::bad_request);
  many.pop_back();
  CHECK(code_for(many) == wire::error_code::none);
}

TEST_CASE("broker strangers: nobody can put other bytes under the hash of an honest type", "[fault][threads]") {
  const broker_with broker;
  const orc::type_description type{"robot.State", "struct", "struct", std::string(40'000, 'q')};
  const auto size = static_cast<std::uint32_t>(type.schema.size());
  const wire::type_reference honest{type.name, type.schema_encoding, type.message_encoding, orc::hash_of(type), size};
  const auto typed = [](const std::string& topic, const wire::type_reference& as) {
    auto what = registration(topic);
    what.type = as;
    return what;
  };
  raw_client stranger(broker.tcp);
  const auto part = [&](std::uint32_t offset, char fill) {
    return wire::schema_part{honest.hash, offset,
                             std::string(std::min<std::size_t>(wire::max_schema_part, size - offset), fill)};
  };
  CHECK(code_of(stranger.ask(part(0, 'x'))) == wire::error_code::unknown_participant);

  // Attackers are first: one has no such type, one has the type, one has the hash with other texts.
  std::vector<std::unique_ptr<raw_client>> attackers;
  for (int i = 0; i < 3; ++i) {
    attackers.push_back(std::make_unique<raw_client>(i == 1 ? broker.tcp : broker.ipc));
    REQUIRE(is<wire::welcome>(attackers.back()->ask(hello_of_this_process("attacker"))));
  }
  CHECK(code_of(attackers[0]->ask(part(0, 'x'))) == wire::error_code::bad_request);
  auto other = honest;
  other.name = "Other";
  REQUIRE(is<wire::topic_state>(attackers[1]->ask(typed("evil/same", honest))));
  REQUIRE(is<wire::topic_state>(attackers[2]->ask(typed("evil/other", other))));
  raw_client robot(broker.ipc);
  REQUIRE(is<wire::welcome>(robot.ask(hello_of_this_process("robot"))));
  const auto registered = robot.ask(typed("robot/state", honest));
  REQUIRE(is<wire::topic_state>(registered));
  CHECK(std::get<wire::topic_state>(registered).lacks_schema);

  CHECK(is<wire::ack>(robot.ask(part(0, 'q'))));
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(is<wire::ack>(attackers[i]->ask(part(0, 'x'))));
    CHECK(code_of(attackers[i]->ask(part(wire::max_schema_part, 'x'))) == wire::error_code::bad_request);
    CHECK(is<wire::ack>(attackers[i]->ask(part(0, 'x'))));
  }
  CHECK(code_of(stranger.ask(wire::get_schema{honest.hash, 0})) == wire::error_code::unknown_schema);
  CHECK(is<wire::ack>(robot.ask(part(wire::max_schema_part, 'q'))));
  for (std::size_t i = 1; i < 3; ++i) attackers[i]->ask(part(wire::max_schema_part, 'x'));

  std::string kept;
  while (kept.size() < size) {
    const auto answer = stranger.ask(wire::get_schema{honest.hash, static_cast<std::uint32_t>(kept.size())});
    REQUIRE(is<wire::schema_part>(answer));
    kept += std::get<wire::schema_part>(answer).bytes;
  }
  CHECK(kept == type.schema);
}

TEST_CASE("broker strangers: addresses of the allow-list may be advertised", "[fault][threads]") {
  const broker_with broker({"--allow-endpoints", "192.0.2.0/24,2001:db8::/32"});
  raw_client client(broker.ipc);
  client.ask(hello_of_this_process());
  const std::vector<wire::endpoint> behind_nat{{wire::transport::tcp, "tcp://192.0.2.7:80"},
                                               {wire::transport::tcp, "tcp://[2001:db8::7]:80"}};
  CHECK(is<wire::topic_state>(client.ask(wire::register_topic{"t", wire::id::random(), behind_nat, {}})));
  const wire::endpoint outside{wire::transport::tcp, "tcp://192.0.3.7:80"};
  CHECK(code_of(client.ask(wire::register_topic{"u", wire::id::random(), {outside}, {}})) ==
        wire::error_code::bad_request);
}

TEST_CASE("broker strangers: a publication that moves all the time sends its subscribers to few places",
          "[fault][threads]") {
  const broker_with broker;
  raw_client reader(broker.ipc);
  raw_client attacker(broker.tcp);
  reader.ask(hello_of_this_process("reader"));
  attacker.ask(hello_of_this_process("attacker"));
  REQUIRE(is<wire::topic_state>(reader.ask(wire::request_topic{"t", wire::id::random()})));
  auto flood = registration("t");
  constexpr int moves = 1'000;
  const auto start = clock_type::now();
  for (int i = 1; i <= moves; ++i) {
    flood.endpoints[0].address = "tcp://127.0.0.1:" + std::to_string(i);
    REQUIRE(is<wire::topic_state>(attacker.ask(flood)));
  }
  int events = 0;
  std::string newest;
  while (newest != flood.endpoints[0].address) {
    const auto event = reader.next_event();
    REQUIRE(event);
    const auto* state = std::get_if<wire::topic_state>(&event->content);
    REQUIRE(state != nullptr);
    newest = state->publication->endpoints.at(0).address;
    ++events;
  }
  const auto seconds = std::chrono::duration<double>(clock_type::now() - start).count();
  CHECK(events <= 10 + 10 * seconds + 2);
}

TEST_CASE("broker strangers: control characters of a peer do not reach the log", "[fault][threads]") {
  broker_with broker({"--log-level", "info"});
  raw_client attacker(broker.tcp);
  auto who = hello_of_this_process(
      "evil\xc2\x9b"
      "2J\x9b\x7f\r\xe2\x80\xae"
      "end");
  REQUIRE(is<wire::welcome>(attacker.ask(who)));
  REQUIRE(broker.process->wait_for_output("joined"));
  const auto log = broker.process->output();
  CHECK_THAT(log, contains("evil\\xc2\\x9b2J\\x9b\\x7f\\r\\xe2\\x80\\xaeend"));
  for (const char* bad : {"\xc2\x9b", "\x9b", "\x7f", "\r", "\xe2\x80\xae"}) CHECK_THAT(log, !contains(bad));
  CHECK_THAT(log, !contains(who.participant.hex().substr(0, 8)));
}
