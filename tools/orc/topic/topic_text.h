// How what the broker says of topics is shown, in words and in JSON; shared by the `orc topic` commands.
#pragma once

#include <cstdint>
#include <string>

#include "orc/directory.h"
#include "tools/support/json.h"

namespace orc::cli {

// "robot (1234)", on another host or in another pid namespace "robot (1234@3f2a91c0)".
[[nodiscard]] std::string participant_text(const participant_state& who);

// Same of a publisher, on another host with the name of the host: "robot (1234@arm)".
[[nodiscard]] std::string publisher_text(const publication_state& publication);
[[nodiscard]] std::string publisher_text(const participant_state& who, const std::string& host_name, bool stale);

// Enough of a host identity to tell hosts apart: the boot id's first 8 digits.
[[nodiscard]] std::string short_host(const std::string& host);

// "ipc,tcp": each transport that is offered, once.
[[nodiscard]] std::string transports_text(const publication_state& publication);

// "ipc", "no link", or "?" before the first heartbeat told.
[[nodiscard]] std::string link_text(const subscription_state& subscription);

// "geometry.Pose (flatbuffer, hash 0x...)".
[[nodiscard]] std::string type_text(const topic_type& type);

// "0x0123456789abcdef".
[[nodiscard]] std::string hash_text(std::uint64_t hash);

// Program, pid and host.
[[nodiscard]] json_value json_of(const participant_state& who);

// One type as an object.
[[nodiscard]] json_value json_of(const topic_type& type);

// The whole state as one object.
[[nodiscard]] json_value json_of(const topic_state& state);

}  // namespace orc::cli
