// What views show of a running system: rates and ages, made from the counters that participants report.
//
// An optional figure is nothing while it is not known: a rate takes two reports, and participants report once a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orc/directory.h"

namespace orc::view {

// One receiving end of a topic.
struct subscription_figures {
  std::string id = {};
  participant_state subscriber = {};
  bool own = false;                              // of this process, which only looks: what it misses is in no sum
  std::optional<orc::transport> transport = {};  // of the link in use
  std::string reason = {};                       // why this transport
  std::optional<double> rate_hz = {};            // samples received
  std::optional<double> bytes_per_s = {};
  std::optional<double> missed_per_s = {};
  std::uint64_t received = 0;
  std::uint64_t missed = 0;
  std::uint64_t malformed = 0;
  std::uint64_t stale = 0;
  std::optional<std::chrono::nanoseconds> sample_age = {};  // of its newest sample when it arrived
};

// How many subscriptions of a topic use a transport.
struct transport_use {
  orc::transport transport = {};
  std::size_t subscriptions = 0;

  bool operator==(const transport_use&) const = default;
};

// One publisher of a shared topic. The figures are as those of topic_figures.
struct publication_figures {
  std::string id = {};
  participant_state publisher = {};
  std::string host_name = {};  // of the peer broker's host that reports it, without figures; empty: of the broker's own
  bool stale = false;          // the peer broker does not answer
  std::optional<topic_type> type = {};
  std::vector<endpoint> endpoints = {};
  std::optional<double> rate_hz = {};
  std::optional<double> bytes_per_s = {};
  std::optional<std::chrono::nanoseconds> jitter = {};
  std::optional<std::chrono::nanoseconds> age = {};
  std::uint64_t sent = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::optional<double> dropped_per_s = {};
  std::uint32_t readers = 0;
};

// Of a shared topic, the figures are sums over its publishers; there is no jitter, and the age is that of the newest
// sample of all. Publication, publisher, type and endpoints are those of the first.
struct topic_figures {
  std::string name = {};
  std::string publication = {};                         // its id; empty: no participant publishes the topic
  std::optional<participant_state> publisher = {};      // nothing: the same
  std::string host_name = {};                           // as publication_figures
  bool stale = false;                                   // same
  std::optional<topic_type> type = {};                  // the publisher's; nothing: untyped
  std::vector<endpoint> endpoints = {};                 // where the publisher listens
  std::vector<orc::transport> offered = {};             // of these endpoints, each once
  std::vector<transport_use> transports = {};           // in use, in the order of `transport`
  std::optional<double> rate_hz = {};                   // samples sent; 0: it has stopped
  std::optional<double> bytes_per_s = {};               // of these
  std::optional<std::chrono::nanoseconds> jitter = {};  // standard deviation of the intervals; nothing also at rate 0
  // Of the newest sample. While samples come faster than reports, this is the age that it had at the report.
  std::optional<std::chrono::nanoseconds> age = {};
  std::uint64_t sent = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  // samples that a newer one replaced before a reader took them
  std::optional<double> dropped_per_s = {};
  std::uint64_t missed = 0;  // samples that the listed subscriptions never received, in sum
  std::optional<double> missed_per_s = {};
  std::uint32_t readers = 0;                             // links up
  std::vector<publication_figures> shared_by = {};       // all publishers of a shared topic
  std::size_t subscribers = 0;                           // all of them
  std::vector<subscription_figures> subscriptions = {};  // at most max_described if there are more
};

// Of the samples that a participant, or all participants of a host, send and receive.
struct traffic {
  double sent_hz = 0;
  double sent_bytes_per_s = 0;
  double received_hz = 0;
  double received_bytes_per_s = 0;
  double missed_per_s = 0;
  double dropped_per_s = 0;
  std::uint64_t missed = 0;
  std::uint64_t dropped = 0;

  traffic& operator+=(const traffic& other) noexcept;
};

struct participant_figures {
  participant_state participant = {};
  std::size_t published = 0;   // topics
  std::size_t subscribed = 0;  // topics
  traffic sum = {};
};

struct host_figures {
  std::string id = {};
  std::size_t participants = 0;
  std::size_t published = 0;
  std::size_t subscribed = 0;
  traffic sum = {};
};

// The whole system at one moment.
struct system_figures {
  std::chrono::steady_clock::time_point taken = {};  // when the broker's last answer came
  broker_state broker = {};
  std::vector<topic_figures> topics = {};  // in the order of their names
  std::vector<participant_figures> participants = {};
  std::vector<host_figures> hosts = {};  // in the order of their ids
};

}  // namespace orc::view
