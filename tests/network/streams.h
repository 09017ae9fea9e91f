// A topic that one node streams, and others count what they hear of it.
#pragma once

#include <string>

#include "support/test_node.h"
#include "support/wait_until.h"

namespace orc::test {

// `size_and_rate`: bytes and samples per second.
inline void start_stream(test_node& publisher, const std::string& topic, const std::string& transports,
                         const std::string& size_and_rate = "100 100") {
  publisher.must("register " + topic + " " + transports);
  publisher.must("stream " + topic + " " + size_and_rate + " 0");
}

// Returns with the link up; `within_ms` 0: at once.
inline void follow(test_node& subscriber, const std::string& topic, const std::string& transports,
                   int within_ms = 20'000) {
  subscriber.must("request " + topic + " " + transports + " 1 0 " + std::to_string(within_ms));
  subscriber.must("collect " + topic);
}

[[nodiscard]] inline bool hears_more(test_node& subscriber, const std::string& topic, std::uint64_t samples,
                                     std::chrono::milliseconds within = patience) {
  const auto before = subscriber.stats(topic).received;
  return wait_until([&] { return subscriber.stats(topic).received >= before + samples; }, within);
}

}  // namespace orc::test
