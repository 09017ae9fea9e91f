// Real orc-brokers that know each other, on loopback in a network of their own.
#pragma once

#include <cstddef>
#include <string>

#include "benchmarks/support/command_line.h"

namespace orc::bench {

struct federation_options {
  std::size_t brokers = 50;
  std::size_t topics_each = 200;
  std::size_t changes = 100;
};

// Returns the exit code. Throws std::runtime_error when something does not happen in time.
int run_federation(const federation_options& o, const std::string& program, double rest_seconds,
                   const common_options& common);

}  // namespace orc::bench
