// An address broker for one benchmark, in its process.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "broker/address_broker.h"

namespace orc::bench {

inline std::unique_ptr<address_broker> start_broker(const std::string& endpoint) {
  address_broker_options options;
  options.listen = {endpoint};
  auto started = address_broker::start(std::move(options));
  if (!started) throw std::runtime_error(started.error().message());
  return *std::move(started);
}

}  // namespace orc::bench
