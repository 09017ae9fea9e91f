// Where the address broker listens by default and where participants look for it. schemas/PROTOCOL.md, "Where the
// broker is".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orc::detail {

// What an endpoint of a socket's path begins with.
inline constexpr std::string_view ipc_scheme = "ipc://";

inline constexpr const char* system_broker_dir = "/run/orc";
inline constexpr const char* default_tcp_endpoint = "tcp://127.0.0.1:5570";

// Returns the directory of a broker that starts now: $XDG_RUNTIME_DIR/orc if that is set, else /run/orc for root or
// where it is writable, else /tmp/orc-<uid>. Creates nothing.
[[nodiscard]] std::string default_broker_dir();

// "ipc://" + default_broker_dir() + "/broker".
[[nodiscard]] std::string default_broker_endpoint();

// Returns where users of that broker keep their own endpoints. For a broker on ipc: beside its own. For others: in the
// directory where they would start a broker.
[[nodiscard]] std::string directory_beside(const std::string& broker_endpoint);

// Whether a directory in a broker's is the one where the user `uid` has its sockets: "1000", or "1000-" and 8
// hexadecimal digits, where another user took that name.
[[nodiscard]] bool is_directory_of(std::string_view name, std::string_view uid) noexcept;

// Stands for a broker's endpoint: use no broker.
inline constexpr std::string_view without_broker = "none";

// Returns the endpoints where a participant looks for a broker, in this order: those in `named`, separated by commas,
// else those in ORC_BROKER; without either, the user's own broker, the system's, the one in /tmp, and the tcp port of
// this host. Leaves out an ipc endpoint whose path is too long for a socket.
[[nodiscard]] std::vector<std::string> broker_candidates(const std::string& named = {});

// True when `named` or ORC_BROKER names a broker, so that there is no search.
[[nodiscard]] bool broker_is_named(const std::string& named = {});

// Returns the directories in which users of any broker of this host have their endpoints by default.
[[nodiscard]] std::vector<std::string> well_known_dirs();

}  // namespace orc::detail
