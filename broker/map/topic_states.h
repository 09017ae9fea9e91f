// Topics of the map as others see them: in answers, events and refusals.
#pragma once

#include <cstddef>
#include <string>

#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc::table {

// With neither counters nor subscriptions.
[[nodiscard]] wire::topic_state state_of(const row& which);
// With counters, and with the subscriptions after `after`, at most `most`.
[[nodiscard]] wire::topic_state full_state(const row& which, const wire::id& after, std::size_t most, time now);
[[nodiscard]] wire::publication_info info_of(const publication& which);
// Why a participant on `asking_host` cannot publish the topic: `by` does.
[[nodiscard]] std::string refusal(const row& which, const publication& by, const std::string& asking_host);

}  // namespace orc::table
