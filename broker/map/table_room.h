// Whether a table of the broker has room for one more entry.
#pragma once

#include <cstddef>

#include "base/expected.h"
#include "broker/map/client_table.h"
#include "wire/control.h"

namespace orc {

// Checks the use of a table in total, by one client, and by one participant. `what`: the entries, in the plural.
[[nodiscard]] detail::expected<wire::ack, wire::error> room(const char* what, std::size_t all, std::size_t limit,
                                                            const client& by, std::size_t of_client,
                                                            std::size_t of_participant = 0, std::size_t limit_each = 1);

}  // namespace orc
