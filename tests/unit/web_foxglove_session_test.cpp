// A Foxglove client, with topics that no program publishes.
#include "tools/web/foxglove/foxglove_session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"

namespace {

using nlohmann::json;
using orc::type_description;
using orc::web::channel_registry;
using orc::web::foxglove_channels;
using orc::web::foxglove_type;

std::shared_ptr<const foxglove_type> type_named(const std::string& name) {
  const auto schemas = std::make_shared<orc::web::memory_budget>(std::size_t{1} << 20);
  std::string problem;
  auto made = orc::web::make_foxglove_type({name, "jsonschema", "json", "{}"}, *schemas, problem);
  INFO(problem);
  REQUIRE(made);
  return made;
}

class given_channels final : public orc::web::channel_source {
 public:
  void open() override { ++users; }
  void close() noexcept override { --users; }
  orc::web::channel_list newest() override { return list; }
  void take(channel_registry& from) {
    ++list.number;
    list.channels = from.take();
  }

  orc::web::channel_list list;
  int users = 0;
};

class given_feeds final : public orc::web::feed_source {
 public:
  std::shared_ptr<orc::web::topic_feed> open(const std::string& topic, orc::web::interest what) override {
    CHECK(what == orc::web::interest::messages);
    auto& feed = feeds[topic];
    if (!feed) feed = std::make_shared<orc::web::topic_feed>(topic, [] {});
    ++opened;
    return feed;
  }
  void close(const std::string& /*topic*/, orc::web::interest /*what*/) noexcept override { --opened; }

  void show(const std::string& topic, const std::string& bytes, const std::string& type, std::int64_t stamp_ns) {
    auto made = std::make_shared<orc::web::fed_sample>();
    made->data.resize(bytes.size());
    std::memcpy(made->data.data(), bytes.data(), bytes.size());
    made->size = bytes.size();
    made->stamp_ns = stamp_ns;
    made->type = orc::web::decoded({type, "jsonschema", "json", "{}"});
    feeds[topic]->show(std::move(made));
  }

  std::map<std::string, std::shared_ptr<orc::web::topic_feed>> feeds;
  int opened = 0;
};

struct viewer {
  given_channels channels;
  given_feeds feeds;
  channel_registry registry;
  orc::web::foxglove_sources sources{.feeds = feeds, .channels = channels};
  std::unique_ptr<orc::web::foxglove_session> session = std::make_unique<orc::web::foxglove_session>(sources, true);

  void add(const std::string& topic, const std::string& type) {
    REQUIRE(registry.set(topic, type_named(type)));
    channels.take(registry);
  }
  void send(const json& message) {
    std::string why;
    REQUIRE(session->receive(message.dump(), true, why));
  }
  void subscribe(std::uint32_t id, std::uint32_t channel) {
    send({{"op", "subscribe"}, {"subscriptions", {{{"id", id}, {"channelId", channel}}}}});
  }
  // All frames that are there now.
  std::vector<orc::web::frame> frames() {
    std::vector<orc::web::frame> found;
    (void)session->refresh(orc::web::clock::now());
    for (orc::web::frame each; session->next(each);) found.push_back(std::move(each));
    return found;
  }
  std::vector<json> texts(const std::string& op) {
    std::vector<json> found;
    for (const auto& each : frames()) {
      if (!each.text) continue;
      auto message = json::parse(each.head);
      if (message["op"] == op) found.push_back(std::move(message));
    }
    return found;
  }
  // The bytes after the head of each message.
  std::vector<std::string> messages() {
    std::vector<std::string> found;
    for (const auto& each : frames()) {
      if (each.text) continue;
      CHECK(each.head.size() == 13);
      found.emplace_back(reinterpret_cast<const char*>(each.rest.data()), each.rest.size());
    }
    return found;
  }
};

}  // namespace

TEST_CASE("foxglove channels: no id comes twice", "[web][threads]") {
  channel_registry registry;
  const auto first = type_named("first");
  CHECK(registry.set("a", first));
  CHECK(registry.set("b", first));
  auto list = registry.take();
  REQUIRE(list->size() == 2);
  CHECK((*list)[0]->topic == "a");
  CHECK((*list)[1]->id > (*list)[0]->id);
  // the same type keeps its channel, also as another object
  CHECK(registry.set("a", type_named("first")));
  CHECK_FALSE(registry.changed());
  // another type is another channel
  CHECK(registry.set("a", type_named("second")));
  CHECK(registry.changed());
  const auto second = registry.take();
  REQUIRE(second->size() == 2);
  CHECK((*second)[0]->topic == "b");
  CHECK((*second)[1]->id > (*list)[1]->id);
  registry.remove("a");
  registry.clear();
  CHECK(registry.set("b", first));
  CHECK((*registry.take())[0]->id > (*second)[1]->id);
}

TEST_CASE("foxglove channels: types that viewers cannot read", "[web][threads]") {
  const auto schemas = std::make_shared<orc::web::memory_budget>(4096);
  std::string problem;
  CHECK_FALSE(orc::web::make_foxglove_type({"a", "", "own", ""}, *schemas, problem));
  CHECK(problem.find("'own'") != std::string::npos);
  CHECK_FALSE(orc::web::make_foxglove_type({"a", "struct", "struct", "nothing"}, *schemas, problem));
  CHECK_FALSE(problem.empty());
  problem.clear();
  CHECK_FALSE(orc::web::make_foxglove_type({"a", "jsonschema", "json", std::string(5000, ' ')}, *schemas, problem));
  CHECK(problem.find("memory") != std::string::npos);
  const auto made = orc::web::make_foxglove_type({"a\"b", "protobuf", "protobuf", "\1\2\3"}, *schemas, problem);
  REQUIRE(made);
  CHECK(made->channel_text ==
        R"(,"encoding":"protobuf","schemaName":"a\"b","schema":"AQID","schemaEncoding":"protobuf")");
}

TEST_CASE("foxglove session: 10,000 topics come in frames of at most 1 MiB", "[web][threads]") {
  viewer client;
  const auto shared = type_named(std::string(200, 't'));
  for (int i = 0; i < 10'000; ++i) REQUIRE(client.registry.set("topic/" + std::to_string(i), shared));
  client.channels.take(client.registry);
  std::set<std::uint32_t> ids;
  std::size_t frames = 0;
  for (const auto& each : client.frames()) {
    CHECK(each.size() <= (std::size_t{1} << 20) + 1000);
    const auto message = json::parse(each.head);
    if (message["op"] != "advertise") continue;
    ++frames;
    for (const auto& channel : message["channels"]) CHECK(ids.insert(channel["id"].get<std::uint32_t>()).second);
  }
  CHECK(ids.size() == 10'000);
  CHECK(frames >= 3);
  CHECK(client.texts("advertise").empty());
}

TEST_CASE("foxglove session: a list that changes while the client does not read", "[web][threads]") {
  viewer client;
  client.add("a", "first");
  auto told = client.texts("advertise");
  REQUIRE(told.size() == 1);
  const auto first = told[0]["channels"][0]["id"].get<std::uint32_t>();
  // what came and went in between is never told
  client.add("b", "first");
  client.registry.remove("b");
  client.add("a", "second");
  client.add("c", "first");
  std::vector<json> texts;
  for (const auto& each : client.frames()) texts.push_back(json::parse(each.head));
  REQUIRE(texts.size() == 2);
  CHECK(texts[0] == json({{"op", "unadvertise"}, {"channelIds", {first}}}));
  REQUIRE(texts[1]["channels"].size() == 2);
  CHECK(texts[1]["channels"][0]["topic"] == "a");
  CHECK(texts[1]["channels"][0]["schemaName"] == "second");
  CHECK(texts[1]["channels"][1]["topic"] == "c");
}

TEST_CASE("foxglove session: the newest message wins", "[web][threads]") {
  viewer client;
  client.add("a", "first");
  const auto channel = client.texts("advertise").at(0)["channels"][0]["id"].get<std::uint32_t>();
  client.subscribe(7, channel);
  CHECK(client.messages().empty());
  client.feeds.show("a", "one", "first", 1);
  client.feeds.show("a", "two", "first", 2);
  const auto frames = client.frames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].head == std::string("\1\7\0\0\0\2\0\0\0\0\0\0\0", 13));
  CHECK(frames[0].rest.size() == 3);
  CHECK(client.messages().empty());
  // a sample of another type belongs to another channel
  client.feeds.show("a", "other", "second", 3);
  CHECK(client.messages().empty());
  client.feeds.show("a", "again", "first", 4);
  CHECK(client.messages() == std::vector<std::string>{"again"});
  // the last value, for a subscription that comes later
  client.send({{"op", "unsubscribe"}, {"subscriptionIds", {7}}});
  CHECK(client.feeds.opened == 0);
  client.subscribe(8, channel);
  CHECK(client.messages() == std::vector<std::string>{"again"});
  // the channel ends, and the subscription with it
  client.add("a", "second");
  CHECK(client.texts("unadvertise").size() == 1);
  CHECK(client.feeds.opened == 0);
  client.subscribe(8, channel);
  CHECK(client.texts("status").size() == 1);
}

TEST_CASE("foxglove session: a sample that is too large is reported once", "[web][threads]") {
  viewer client;
  client.add("a", "first");
  client.subscribe(1, client.texts("advertise").at(0)["channels"][0]["id"].get<std::uint32_t>());
  for (int i = 0; i < 2; ++i) {
    auto large = std::make_shared<orc::web::fed_sample>();
    large->size = std::size_t{100} << 20;
    large->type = orc::web::decoded({"first", "jsonschema", "json", "{}"});
    client.feeds.feeds["a"]->show(std::move(large));
    const auto found = client.texts("status");
    REQUIRE(found.size() == (i == 0 ? 1U : 0U));
    if (i == 0) CHECK(found[0]["message"].get<std::string>().find("too large") != std::string::npos);
  }
}

TEST_CASE("foxglove session: limits", "[web][threads]") {
  viewer client;
  const auto shared = type_named("first");
  for (int i = 0; i < 1100; ++i) REQUIRE(client.registry.set("topic/" + std::to_string(i), shared));
  client.channels.take(client.registry);
  (void)client.frames();
  for (std::uint32_t i = 1; i <= 1024; ++i) client.subscribe(i, i);
  CHECK(client.texts("status").empty());
  client.subscribe(2000, 1025);
  client.subscribe(1, 1026);
  client.subscribe(2001, 1);
  CHECK(client.texts("status").size() == 3);
  CHECK(client.feeds.opened == 1024);
  // a client that does not read gets no queue of complaints
  for (std::uint32_t i = 0; i < 10'000; ++i) client.subscribe(1, 100'000 + i);
  CHECK(client.texts("status").size() == 256);
  client.session.reset();
  CHECK(client.feeds.opened == 0);
  CHECK(client.channels.users == 0);
}

TEST_CASE("foxglove graph: only what has changed is sent", "[web][threads]") {
  using orc::web::connection_graph;
  using orc::web::graph_update_text;
  const connection_graph before{{"a", {{"p (1)"}, {}}}, {"b", {{"p (1)"}, {"s (2)"}}}, {"d", {{"p (1)"}, {}}}};
  const connection_graph now{{"a", {{"p (1)"}, {}}}, {"b", {{"p (1)"}, {}}}, {"c", {{"q (3)"}, {"s (2)"}}}};
  std::string cursor;
  const auto update = json::parse(graph_update_text(before, now, cursor, 1 << 20));
  CHECK(cursor.empty());
  CHECK(update["publishedTopics"] == json::parse(R"j([{"name":"c","publisherIds":["q (3)"]}])j"));
  CHECK(update["subscribedTopics"] ==
        json::parse(R"j([{"name":"b","subscriberIds":[]},{"name":"c","subscriberIds":["s (2)"]}])j"));
  CHECK(update["removedTopics"] == json::parse(R"j(["d"])j"));
  CHECK(graph_update_text(now, now, cursor, 1 << 20).empty());
}

TEST_CASE("foxglove graph: a large one comes in parts", "[web][threads]") {
  orc::web::connection_graph now;
  for (int i = 0; i < 10'000; ++i)
    now["topic/" + std::to_string(i)].publishers = {"program (" + std::to_string(i) + ")"};
  std::string cursor;
  std::size_t topics = 0;
  std::size_t parts = 0;
  do {
    const std::string text = orc::web::graph_update_text({}, now, cursor, 100'000);
    CHECK(text.size() < 101'000);
    topics += json::parse(text)["publishedTopics"].size();
    ++parts;
  } while (!cursor.empty());
  CHECK(topics == 10'000);
  CHECK(parts > 3);
}

TEST_CASE("foxglove graph: programs of the same name are told apart", "[web][threads]") {
  orc::view::system_figures figures;
  orc::participant_state one{.id = "11111111aaaa", .name = "arm", .host = "x", .pid = 7};
  orc::participant_state other{.id = "22222222bbbb", .name = "arm", .host = "y", .pid = 7};
  figures.participants = {{.participant = one}, {.participant = other}};
  figures.topics = {{.name = "t", .publisher = other}};
  figures.topics[0].subscriptions = {{.subscriber = one}};
  const auto graph = orc::web::graph_of(figures);
  CHECK(graph.at("t").publishers == std::vector<std::string>{"arm (7) 22222222"});
  CHECK(graph.at("t").subscribers == std::vector<std::string>{"arm (7)"});
}
