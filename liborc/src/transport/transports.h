// The list of transports: how the core comes by them.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.h"

namespace orc::detail {

class inproc_registry;

// The table of publications that the participants of one process share: they reach each other over inproc.
[[nodiscard]] std::shared_ptr<inproc_registry> make_inproc_registry();

// All transports, best first: the order in which a subscription tries them. The one place that lists them.
[[nodiscard]] std::vector<std::unique_ptr<transport_kind>> make_transports(
    const std::shared_ptr<inproc_registry>& local_publications);

}  // namespace orc::detail
