// Makes the transports for the core.
#pragma once

#include <memory>

#include "orc/options.h"
#include "transport/transport.h"

namespace orc::detail {

class inproc_registry;

// Makes the table of publications that the participants of a process share for inproc.
[[nodiscard]] std::shared_ptr<inproc_registry> make_inproc_registry();

// Makes all transports for a participant with these options, best first: a subscription tries them in this order. This
// is the only list of them.
[[nodiscard]] transport_list make_transports(const std::shared_ptr<inproc_registry>& local_publications,
                                             const participant_options& options);

}  // namespace orc::detail
