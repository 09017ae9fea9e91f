#include "tools/web/page_protocol/system_text.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <type_traits>

#include "orc/options.h"
#include "tools/web/json_text.h"

namespace orc::web {

namespace {

// One JSON object or list after the other, each in the order of the calls.
class json_builder {
 public:
  explicit json_builder(std::string& to) : to_(to) {}

  void begin(char bracket) {
    separate();
    to_ += bracket;
    first_ = true;
  }
  void end(char bracket) {
    to_ += bracket;
    first_ = false;
  }
  // A member with this name follows.
  void name(std::string_view name) {
    separate();
    append_quoted(to_, name);
    to_ += ':';
    first_ = true;
  }
  void text(std::string_view value) {
    separate();
    append_quoted(to_, value);
  }
  template <class Number>
  void number(Number value) {
    separate();
    append_number(to_, value);
  }
  void null() {
    separate();
    to_ += "null";
  }

  void member(std::string_view key, std::string_view value) {
    name(key);
    text(value);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void member(std::string_view key, Number value) {
    name(key);
    number(value);
  }
  void member(std::string_view key, const std::optional<double>& value) {
    name(key);
    value ? number(*value) : null();
  }
  void member(std::string_view key, const std::optional<std::chrono::nanoseconds>& value) {
    name(key);
    value ? number(std::chrono::duration<double>(*value).count()) : null();
  }

 private:
  void separate() {
    if (!first_) to_ += ',';
    first_ = false;
  }

  std::string& to_;
  bool first_ = true;
};

void add_program(json_builder& to, const participant_state& who) {
  to.member("name", who.name);
  to.member("pid", who.pid);
  to.member("host", who.host);
}

void add_subscription(json_builder& to, const view::subscription_figures& each) {
  to.begin('{');
  to.name("subscriber");
  to.begin('{');
  add_program(to, each.subscriber);
  to.end('}');
  to.name("transport");
  each.transport ? to.text(to_string(*each.transport)) : to.null();
  to.member("reason", each.reason);
  to.member("rate", each.rate_hz);
  to.member("bandwidth", each.bytes_per_s);
  to.member("received", each.received);
  to.member("missed", each.missed);
  to.member("age", each.sample_age);
  to.end('}');
}

void add_publication(json_builder& to, const view::publication_figures& each) {
  to.begin('{');
  add_program(to, each.publisher);
  to.name("type");
  each.type ? to.text(each.type->name) : to.null();
  to.member("rate", each.rate_hz);
  to.member("bandwidth", each.bytes_per_s);
  to.member("age", each.age);
  to.member("sent", each.sent);
  to.member("dropped", each.dropped);
  to.end('}');
}

void add_transports(json_builder& to, const view::topic_figures& topic) {
  to.name("transports");
  to.begin('[');
  for (const view::transport_use& each : topic.transports) {
    to.begin('{');
    to.member("transport", to_string(each.transport));
    to.member("count", each.subscriptions);
    to.end('}');
  }
  to.end(']');
  to.name("offered");
  to.begin('[');
  for (const orc::transport each : topic.offered) to.text(to_string(each));
  to.end(']');
}

void add_type(json_builder& to, const std::optional<topic_type>& type) {
  to.name("type");
  type ? to.text(type->name) : to.null();
  to.name("encoding");
  type ? to.text(type->message_encoding) : to.null();
}

void add_recorded_topic(json_builder& to, const recorded_figures& topic) {
  to.begin('{');
  to.member("name", topic.name);
  add_type(to, topic.type);
  to.name("publisher");
  if (topic.publisher) {
    to.begin('{');
    to.member("name", topic.publisher->name);
    to.member("pid", topic.publisher->pid);
    to.end('}');
  } else {
    to.null();
  }
  to.member("samples", topic.samples);
  to.member("rate", topic.rate_hz);
  to.name("size");
  topic.last_size ? to.number(*topic.last_size) : to.null();
  to.name("missed");
  topic.missed ? to.number(*topic.missed) : to.null();
  to.end('}');
}

void add_topic(json_builder& to, const view::topic_figures& topic) {
  to.begin('{');
  to.member("name", topic.name);
  add_type(to, topic.type);
  to.name("publisher");
  if (topic.publisher) {
    to.begin('{');
    add_program(to, *topic.publisher);
    to.end('}');
  } else {
    to.null();
  }
  if (!topic.shared_by.empty()) {
    to.name("shared_by");
    to.begin('[');
    for (const auto& each : topic.shared_by) add_publication(to, each);
    to.end(']');
  }
  add_transports(to, topic);
  to.member("rate", topic.rate_hz);
  to.member("bandwidth", topic.bytes_per_s);
  to.member("jitter", topic.jitter);
  to.member("age", topic.age);
  to.member("sent", topic.sent);
  to.member("bytes", topic.bytes);
  to.member("dropped", topic.dropped);
  to.member("missed", topic.missed);
  to.member("missed_rate", topic.missed_per_s);
  to.member("subscribers", topic.subscribers);
  to.name("subscriptions");
  to.begin('[');
  for (const auto& each : topic.subscriptions) add_subscription(to, each);
  to.end(']');
  to.end('}');
}

void add_traffic(json_builder& to, const view::traffic& sum) {
  to.member("sent_hz", sum.sent_hz);
  to.member("sent_bps", sum.sent_bytes_per_s);
  to.member("received_hz", sum.received_hz);
  to.member("received_bps", sum.received_bytes_per_s);
  to.member("missed", sum.missed);
  to.member("dropped", sum.dropped);
}

void add_figures(json_builder& to, const view::system_figures& figures) {
  to.name("broker");
  to.begin('{');
  to.member("endpoint", figures.broker.endpoint);
  to.member("version", figures.broker.version);
  to.member("uptime", std::chrono::duration<double>(figures.broker.uptime).count());
  to.member("participants", figures.broker.participants);
  to.member("rejected", figures.broker.rejected);
  to.end('}');
  to.name("topics");
  to.begin('[');
  for (const auto& each : figures.topics) add_topic(to, each);
  to.end(']');
  to.name("participants");
  to.begin('[');
  for (const auto& each : figures.participants) {
    to.begin('{');
    add_program(to, each.participant);
    to.member("published", each.published);
    to.member("subscribed", each.subscribed);
    add_traffic(to, each.sum);
    to.end('}');
  }
  to.end(']');
  to.name("hosts");
  to.begin('[');
  for (const auto& each : figures.hosts) {
    to.begin('{');
    to.member("id", each.id);
    to.member("participants", each.participants);
    to.member("published", each.published);
    to.member("subscribed", each.subscribed);
    add_traffic(to, each.sum);
    to.end('}');
  }
  to.end(']');
}

}  // namespace

std::string recording_text(const std::vector<recorded_figures>& topics, std::int64_t now_ns) {
  std::string text;
  json_builder to(text);
  to.begin('{');
  to.member("op", "system");
  to.member("now", std::to_string(now_ns));
  to.member("problem", "");
  to.name("broker");
  to.null();
  to.name("topics");
  to.begin('[');
  for (const auto& each : topics) add_recorded_topic(to, each);
  to.end(']');
  for (const char* each : {"participants", "hosts"}) {
    to.name(each);
    to.begin('[');
    to.end(']');
  }
  to.end('}');
  return text;
}

std::string system_text(const view::system_figures* figures, const std::string& problem, std::int64_t now_ns) {
  std::string text;
  json_builder to(text);
  to.begin('{');
  to.member("op", "system");
  to.member("now", std::to_string(now_ns));
  to.member("problem", problem);
  if (figures == nullptr) {
    to.name("broker");
    to.null();
    for (const char* each : {"topics", "participants", "hosts"}) {
      to.name(each);
      to.begin('[');
      to.end(']');
    }
  } else {
    add_figures(to, *figures);
  }
  to.end('}');
  return text;
}

}  // namespace orc::web
