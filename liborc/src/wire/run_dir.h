// Where the address broker listens by default and where participants look for it. schemas/PROTOCOL.md, "Where the
// broker is".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orc::detail {

inline constexpr const char* system_broker_dir = "/run/orc";
inline constexpr const char* default_tcp_endpoint = "tcp://127.0.0.1:5570";

// The directory a broker started now would use: $XDG_RUNTIME_DIR/orc if that is set, else /run/orc for root or where it
// can be written, else /tmp/orc-<uid>. Nothing is created.
[[nodiscard]] std::string default_broker_dir();

// "ipc://" + default_broker_dir() + "/broker".
[[nodiscard]] std::string default_broker_endpoint();

// Where the users of that broker keep their own endpoints: one on ipc has them beside its own; another's users take the
// directory they would start a broker in.
[[nodiscard]] std::string directory_beside(const std::string& broker_endpoint);

// In the place of a broker's endpoint: do without one.
inline constexpr std::string_view without_broker = "none";

// Endpoints where a participant looks for a broker, in this order: those in `named`, separated by commas, else those in
// ORC_BROKER; without either the user's own broker, the system's, the one in /tmp, and the tcp port of this host. An
// ipc endpoint whose path is too long for a socket is left out.
[[nodiscard]] std::vector<std::string> broker_candidates(const std::string& named = {});

// `named` or ORC_BROKER names one or several: there is nothing to search.
[[nodiscard]] bool broker_is_named(const std::string& named = {});

// The directories in which users of any broker of this host have their endpoints, when they set up nothing else.
[[nodiscard]] std::vector<std::string> well_known_dirs();

}  // namespace orc::detail
