// Files of lcm-logger: events one after the other, each a 28-byte head in network byte order (sync word, number, time
// in µs, length of the channel's name, length of the data), the name, the data. Source: LCM, eventlog.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace orc::test {

struct lcm_event {
  std::uint64_t number = 0;
  std::string channel;
  std::string data;
};

// The complete events of a file; what follows a damaged one is left out.
[[nodiscard]] inline std::vector<lcm_event> read_lcm_log(const std::string& path) {
  constexpr std::uint64_t sync_word = 0xEDA1DA01;
  constexpr std::size_t head = 28;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  // As much as there is now: a slow reader never comes to the end of a file that grows.
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  const auto big_endian = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  std::vector<lcm_event> events;
  for (std::size_t at = 0; at + head <= bytes.size() && big_endian(at, 4) == sync_word;) {
    const std::size_t name = big_endian(at + 20, 4);
    const std::size_t data = big_endian(at + 24, 4);
    if (name + data > bytes.size() - at - head) break;
    events.push_back({big_endian(at + 4, 8), bytes.substr(at + head, name), bytes.substr(at + head + name, data)});
    at += head + name + data;
  }
  return events;
}

}  // namespace orc::test
