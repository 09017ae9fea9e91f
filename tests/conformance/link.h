// A publication and a subscription of two participants in this process, linked over the transport under test.
#pragma once

#include <stdexcept>
#include <string>

#include "conformance/transports.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/budget.h"

namespace orc::test {

inline void require(const result& r, const char* what) {
  if (!r) throw std::runtime_error(std::string(what) + ": " + r.error().message());
}

template <class Transport>
[[nodiscard]] topic_options offered() {
  topic_options options;
  options.transports = {Transport::kind};
  return options;
}

template <class Transport>
[[nodiscard]] request_options wanted(int conflate = 1, std::size_t depth = 0, int connected_within_ms = patience_ms) {
  request_options options;
  options.transports = {Transport::kind};
  options.conflate = conflate;
  options.depth = depth;
  options.connected_within = std::chrono::milliseconds(connected_within_ms);
  return options;
}

template <class Transport>
struct linked {
  static constexpr const char* topic = "conformance/topic";

  explicit linked(const request_options& options = wanted<Transport>()) {
    require(sender.register_topic(topic, offered<Transport>()).result(), "register_topic");
    require(receiver.request_topic(topic, options).result(), "request_topic");
    publisher = sender.publisher(topic);
    subscriber = receiver.subscriber(topic);
    if (!publisher || !subscriber) throw std::runtime_error("no handle for a declared topic");
  }

  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  orc::publisher publisher;
  orc::subscriber subscriber;
};

// One more subscription to the topic of a link, in a participant of its own.
template <class Transport>
struct extra_reader {
  explicit extra_reader(const broker_process& address_broker, const request_options& options = wanted<Transport>())
      : participant(address_broker.options("extra")) {
    require(participant.request_topic(linked<Transport>::topic, options).result(), "request_topic");
    subscriber = participant.subscriber(linked<Transport>::topic);
  }

  orc::participant participant;
  orc::subscriber subscriber;
};

}  // namespace orc::test
