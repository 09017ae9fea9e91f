// Writes the golden vectors and their manifest into the directory named on the command line. Run it only when the
// format is meant to change: `cmake --build build/release --target golden`.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "messages.h"

namespace {

using namespace orc::wire;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// A JSON object, field by field; absent optional members are null, ids are 32 hexadecimal digits.
class object {
 public:
  object& add(const char* key, const std::string& text) { return raw(key, quoted(text)); }
  object& add(const char* key, const id& value) { return raw(key, quoted(value.hex())); }
  object& add(const char* key, transport value) { return raw(key, quoted(std::string(name_of(value)))); }
  object& add(const char* key, error_code value) { return raw(key, std::to_string(static_cast<unsigned>(value))); }
  object& add(const char* key, peer_state value) { return raw(key, std::to_string(static_cast<unsigned>(value))); }
  object& add(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  template <std::integral Number>
  object& add(const char* key, Number value) {
    return raw(key, std::to_string(value));
  }
  template <class Plain>
  object& add(const char* key, const std::vector<Plain>& all) {
    std::string items;
    for (const auto& one : all) items += (items.empty() ? "" : ", ") + json(one);
    return raw(key, '[' + items + ']');
  }
  template <class Plain>
  object& add(const char* key, const std::optional<Plain>& value) {
    return raw(key, value ? json(*value) : "null");
  }
  [[nodiscard]] std::string text() const { return '{' + text_ + '}'; }

 private:
  object& raw(const char* key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + quoted(key) + ": " + value;
    return *this;
  }
  static std::string json(const endpoint& e) {
    return object().add("transport", e.transport).add("address", e.address).text();
  }
  static std::string json(const type_reference& t) {
    return object()
        .add("name", t.name)
        .add("schema_encoding", t.schema_encoding)
        .add("message_encoding", t.message_encoding)
        .add("hash", t.hash)
        .add("schema_size", t.schema_size)
        .text();
  }
  static std::string json(const publication_counters& c);
  static std::string json(const prediction& p);
  static std::string json(const subscription_counters& c);
  static std::string json(const publication_info& p);
  static std::string json(const subscription_info& s);
  static std::string json(const topic_state& s);
  static std::string json(const participant_info& p);
  static std::string json(const peer_info& p);
  static std::string json(const std::string& text) { return quoted(text); }
  friend std::string fields(const topic_state& s);

  std::string text_;
};

std::string object::json(const publication_counters& c) {
  return object()
      .add("publication", c.publication)
      .add("sampled_ns", c.sampled_ns)
      .add("sent", c.sent)
      .add("bytes", c.bytes)
      .add("dropped", c.dropped)
      .add("readers", c.readers)
      .add("last_sent_ns", c.last_sent_ns)
      .add("jitter_ns", c.jitter_ns)
      .text();
}

std::string object::json(const prediction& p) {
  return object()
      .add("period_ns", p.period_ns)
      .add("hits", p.hits)
      .add("early", p.early)
      .add("misses", p.misses)
      .add("watched_ns", p.watched_ns)
      .text();
}

std::string object::json(const subscription_counters& c) {
  return object()
      .add("subscription", c.subscription)
      .add("sampled_ns", c.sampled_ns)
      .add("received", c.received)
      .add("bytes", c.bytes)
      .add("missed", c.missed)
      .add("malformed", c.malformed)
      .add("age_ns", c.age_ns)
      .add("transport", c.transport)
      .add("reason", c.reason)
      .add("stale", c.stale)
      .add("prediction", c.prediction)
      .text();
}

std::string object::json(const publication_info& p) {
  return object()
      .add("publication", p.publication)
      .add("participant", p.participant)
      .add("participant_name", p.participant_name)
      .add("host", p.host)
      .add("pid", p.pid)
      .add("endpoints", p.endpoints)
      .add("type", p.type)
      .add("counters", p.counters)
      .add("received_ago_ms", p.received_ago_ms)
      .add("keep_last", p.keep_last)
      .add("host_name", p.host_name)
      .add("stale", p.stale)
      .add("age_ms", p.age_ms)
      .add("client", p.client)
      .add("client_pid", p.client_pid)
      .text();
}

std::string object::json(const peer_info& p) {
  return object()
      .add("endpoint", p.endpoint)
      .add("host_name", p.host_name)
      .add("state", p.state)
      .add("topics", p.topics)
      .add("silent_ms", p.silent_ms)
      .add("reason", p.reason)
      .text();
}

std::string object::json(const participant_info& p) {
  return object()
      .add("participant", p.participant)
      .add("gone", p.gone)
      .add("name", p.name)
      .add("host", p.host)
      .add("pid", p.pid)
      .add("library", p.library)
      .text();
}

std::string object::json(const subscription_info& s) {
  return object()
      .add("subscription", s.subscription)
      .add("participant", s.participant)
      .add("participant_name", s.participant_name)
      .add("host", s.host)
      .add("pid", s.pid)
      .add("counters", s.counters)
      .add("received_ago_ms", s.received_ago_ms)
      .add("max_age_ms", s.max_age_ms)
      .add("type", s.type)
      .text();
}

std::string object::json(const topic_state& s) {
  return object()
      .add("topic", s.topic)
      .add("publication", s.publication)
      .add("subscriptions", s.subscriptions)
      .add("subscription_count", s.subscription_count)
      .add("more", s.more)
      .add("lacks_schema", s.lacks_schema)
      .add("shared", s.shared)
      .add("publications", s.publications)
      .text();
}

std::string fields(const topic_state& s) { return object::json(s); }
std::string fields(const hello& m) {
  return object()
      .add("participant", m.participant)
      .add("name", m.name)
      .add("host", m.host)
      .add("pid", m.pid)
      .add("start_time", m.start_time)
      .add("library", m.library)
      .add("secret", m.secret)
      .text();
}
std::string fields(const register_topic& m) {
  return object()
      .add("topic", m.topic)
      .add("publication", m.publication)
      .add("endpoints", m.endpoints)
      .add("type", m.type)
      .add("keep_last", m.keep_last)
      .add("shared", m.shared)
      .text();
}
std::string fields(const unregister_topic& m) {
  return object().add("topic", m.topic).add("publication", m.publication).text();
}
std::string fields(const request_topic& m) {
  return object()
      .add("topic", m.topic)
      .add("subscription", m.subscription)
      .add("max_age_ms", m.max_age_ms)
      .add("type", m.type)
      .add("knows_shared", m.knows_shared)
      .text();
}
std::string fields(const release_topic& m) {
  return object().add("topic", m.topic).add("subscription", m.subscription).text();
}
std::string fields(const heartbeat& m) {
  return object().add("publications", m.publications).add("subscriptions", m.subscriptions).text();
}
std::string fields(const list_topics& m) { return object().add("after", m.after).add("limit", m.limit).text(); }
std::string fields(const describe_topic& m) { return object().add("topic", m.topic).add("after", m.after).text(); }
std::string fields(const welcome& m) {
  return object()
      .add("epoch", m.epoch)
      .add("lease_ms", m.lease_ms)
      .add("heartbeat_ms", m.heartbeat_ms)
      .add("remote", m.remote)
      .add("version", m.version)
      .text();
}
std::string fields(const watch& m) {
  return object()
      .add("topics", m.topics)
      .add("participants", m.participants)
      .add("epoch", m.position.epoch)
      .add("snapshot", m.position.snapshot)
      .add("until", m.position.until)
      .add("wait_ms", m.wait_ms)
      .add("own", m.own)
      .text();
}
std::string fields(const changes& m) {
  return object()
      .add("epoch", m.position.epoch)
      .add("snapshot", m.position.snapshot)
      .add("until", m.position.until)
      .add("reset", m.reset)
      .add("more", m.more)
      .add("topics", m.topics)
      .add("participants", m.participants)
      .add("host_name", m.host_name)
      .text();
}
std::string fields(const peer_list& m) {
  return object().add("host_name", m.host_name).add("topics", m.topics).add("peers", m.peers).text();
}
std::string fields(const error& m) { return object().add("code", m.code).add("text", m.text).text(); }
std::string fields(const topic_list& m) {
  return object()
      .add("topics", m.topics)
      .add("more", m.more)
      .add("participants", m.participants)
      .add("epoch", m.epoch)
      .add("uptime_ms", m.uptime_ms)
      .add("rejected", m.rejected)
      .text();
}
std::string fields(const schema_part& m) {
  return object().add("hash", m.hash).add("offset", m.offset).add("bytes", m.bytes).text();
}
std::string fields(const get_schema& m) { return object().add("hash", m.hash).add("offset", m.offset).text(); }
std::string fields(const type_mismatch& m) {
  return object()
      .add("topic", m.topic)
      .add("subscription", m.subscription)
      .add("text", m.text)
      .add("participant_name", m.participant_name)
      .add("pid", m.pid)
      .add("publication", m.publication)
      .text();
}
template <class Empty>
std::string fields(const Empty&) {
  return "{}";
}

constexpr const char* kinds[] = {"Hello",        "RegisterTopic", "UnregisterTopic", "RequestTopic", "ReleaseTopic",
                                 "Heartbeat",    "Goodbye",       "Alive",           "ListTopics",   "DescribeTopic",
                                 "Welcome",      "Ack",           "Error",           "TopicState",   "TopicList",
                                 "Probe",        "Watch",         "Changes",         "SchemaPart",   "GetSchema",
                                 "TypeMismatch", "ListPeers",     "PeerList"};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_golden DIRECTORY\n";
    return 2;
  }
  const std::string directory = argv[1];
  std::ofstream manifest(directory + "/manifest.json");
  const char* separator = "[\n";
  for (const auto& [name, message] : golden::messages()) {
    const auto bytes = encode(message);
    std::ofstream(directory + '/' + name + ".bin", std::ios::binary) << bytes;
    const auto contents = std::visit([](const auto& m) { return fields(m); }, message.content);
    manifest << separator << "{\"file\": " << quoted(name + ".bin") << ", \"bytes\": " << bytes.size()
             << ", \"version\": 1, \"request\": " << message.request << ", \"kind\": \""
             << kinds[message.content.index()] << "\",\n \"body\": " << contents << '}';
    separator = ",\n";
  }
  manifest << "\n]\n";
  return manifest.flush() ? 0 : 1;
}
