// What a peer broker reports to a topic map, and what it sees.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/topic_map_fixture.h"

namespace orc::test {

inline peer_reports::peer_facts facts(const std::string& endpoint, const std::string& host, bool decided_here = true) {
  return {endpoint, host, false, false, decided_here};
}

inline wire::publication_info publication(std::uint64_t id, std::chrono::milliseconds age,
                                          const std::string& address = "tcp://192.0.2.1:4000") {
  wire::publication_info made;
  made.publication = identity(id);
  made.participant = identity(900);
  made.participant_name = "there";
  made.host = "another-host";
  made.pid = 7;
  made.endpoints = {{wire::transport::tcp, address}};
  made.age_ms = static_cast<std::uint64_t>(age.count());
  return made;
}

inline wire::topic_state exclusive(const std::string& topic, wire::publication_info one) {
  wire::topic_state made{topic, std::move(one), {}, 0};
  return made;
}

inline wire::topic_state shared(const std::string& topic, std::vector<wire::publication_info> all) {
  wire::topic_state made{topic, {}, {}, 0};
  made.shared = true;
  made.publications = std::move(all);
  return made;
}

inline wire::register_topic reachable(const std::string& topic, std::uint64_t id,
                                      const std::string& address = "tcp://192.0.2.9:4000") {
  return {topic, identity(id), {{wire::transport::tcp, address}}, {}};
}

inline peer_reports::imported imported(topic_map_fixture& f, wire::topic_state state, peer_reports::peer_key from = 0) {
  auto done = f.map.peers().import(from, std::move(state), f.now);
  if (!done) FAIL(done.error().text);
  return *std::move(done);
}

// All that a peer gets from a position on.
inline std::vector<wire::topic_state> exports(topic_map_fixture& f, wire::watch_position& position,
                                              bool same_host = false) {
  std::vector<wire::topic_state> all;
  for (;;) {
    std::size_t steps = 100'000;
    auto page = f.map.exports().since({{"**"}, false, position, 0, true}, same_host, steps, f.now);
    position = page.position;
    std::move(page.topics.begin(), page.topics.end(), std::back_inserter(all));
    if (!page.more) return all;
  }
}

}  // namespace orc::test
