// A client's thread while it has the turn of a service without threads.
#pragma once

#include "calls/service_client.h"
#include "calls/service_core.h"

namespace orc::detail {

class service_client::on_turn {
 public:
  // The turn was taken.
  explicit on_turn(service_client& of) noexcept : held_(of.service_), has_turn_(of.has_turn_) { has_turn_ = true; }
  ~on_turn() { has_turn_ = false; }
  on_turn(const on_turn&) = delete;
  on_turn& operator=(const on_turn&) = delete;

 private:
  const service_core::held_turn held_;
  bool& has_turn_;
};

}  // namespace orc::detail
