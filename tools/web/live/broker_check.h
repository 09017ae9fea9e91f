// Asks once whether a broker answers, without keeping the page waiting.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/threads/doorbell.h"

namespace orc::web {

class broker_check {
 public:
  // Calls `say` from a thread of its own if no broker answers within 2 s, with the reason, which may have control
  // characters. Throws std::system_error when the system has no thread left.
  broker_check(const std::string& broker, std::function<void(const std::string&)> say);
  ~broker_check();
  broker_check(const broker_check&) = delete;
  broker_check& operator=(const broker_check&) = delete;

 private:
  detail::doorbell stop_;
  std::thread thread_;
};

}  // namespace orc::web
