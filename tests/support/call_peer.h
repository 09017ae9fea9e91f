// Starts call_peer_main.cpp.
#pragma once

#include <stdexcept>
#include <string>

#include "support/broker_process.h"
#include "support/child_process.h"

namespace orc::test {

// A peer that has printed "ready" or "called", except `hold`, which prints before its request is sent.
[[nodiscard]] inline child_process start_call_peer(const std::string& role, const broker_process& broker,
                                                   const std::string& service, const std::string& transport,
                                                   const std::string& log = {}) {
  std::vector<std::string> words{program("orc_test_call_peer"), role, broker.endpoint(), service, transport};
  if (!log.empty()) words.push_back(log);
  child_process peer(std::move(words));
  if (!peer.read_line()) throw std::runtime_error("the call peer says nothing");
  return peer;
}

}  // namespace orc::test
