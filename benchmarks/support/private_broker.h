// An address broker for one benchmark, in its process.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "broker/address_broker.h"

namespace orc::bench {

inline std::unique_ptr<address_broker> start_broker(const std::string& endpoint) {
  address_broker_options options;
  options.listen = {endpoint};
  auto started = address_broker::start(std::move(options));
  if (const auto* why = std::get_if<std::string>(&started)) throw std::runtime_error(*why);
  return std::move(std::get<std::unique_ptr<address_broker>>(started));
}

}  // namespace orc::bench
