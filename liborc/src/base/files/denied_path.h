// Why this user may not use a path, and what to do about it.
#pragma once

#include <cstdint>
#include <string>

namespace orc::detail {

// "/run/orc belongs to root, group orc". Names are those of /etc/passwd and /etc/group: no name service is asked, which
// could take seconds. Without such a path: its text alone.
[[nodiscard]] std::string ownership_text(const std::string& path);

// What a user wants at a path. connect: to a broker, or to what its users publish.
enum class wish : std::uint8_t { make, connect };

// "Permission denied: /run/orc belongs to root, group orc; run 'sudo usermod -aG orc alice' and log in again". The path
// that it names is the first directory above `path` that keeps this user out, else `path` itself, or where it would be
// made.
[[nodiscard]] std::string why_denied(const std::string& path, wish what = wish::make);

}  // namespace orc::detail
