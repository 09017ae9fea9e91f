// Sends values from 1 on, one at a time: each arrives, and none is missed.
#pragma once

#include <cstdint>
#include <string>

#include "orc.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/payload.h"

namespace orc::test {

inline void each_arrives(orc::publisher& from, orc::participant& at, const std::string& topic, std::uint64_t last) {
  for (std::uint64_t value = 1; value <= last; ++value) {
    REQUIRE(send_value(from, value));
    const auto got = at.recv_msg(topic, patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    REQUIRE(got.sequence() == value);
    REQUIRE(got.missed() == 0);
  }
}

}  // namespace orc::test
