#include "wire/control.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

namespace orc::wire {
namespace {

constexpr std::array<std::string_view, 6> transport_names{"none", "inproc", "ipc", "tcp", "shm", "multicast"};

bool name_character(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

std::string printable(char c) {
  if (c >= 0x20 && c < 0x7f) return {'\'', c, '\''};
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'b', 'y', 't', 'e', ' ', '0', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

std::string id::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = digits[(hi >> (4 * i)) & 15];
    text[31 - i] = digits[(lo >> (4 * i)) & 15];
  }
  return text;
}

id id::random() {
  id made;
  while (!made) {
    ssize_t got = 0;
    do got = getrandom(&made, sizeof made, 0);
    while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof made)) continue;
    std::random_device device;  // only in a sandbox that forbids the system call
    const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
    made = {word(), word()};
  }
  return made;
}

std::string_view name_of(transport t) noexcept {
  const auto index = static_cast<std::size_t>(t);
  return index < transport_names.size() ? transport_names[index] : "unknown";
}

std::optional<transport> transport_named(std::string_view name) noexcept {
  const auto found = std::find(transport_names.begin(), transport_names.end(), name);
  if (found == transport_names.end()) return std::nullopt;
  return static_cast<transport>(found - transport_names.begin());
}

result check_topic_name(std::string_view name) {
  if (name.empty()) return {errc::bad_name, "the topic name is empty"};
  if (name.size() > max_topic_name) {
    return {errc::bad_name, "the topic name has " + std::to_string(name.size()) + " bytes, the limit is " +
                                std::to_string(max_topic_name)};
  }
  const auto bad = std::find_if_not(name.begin(), name.end(), name_character);
  if (bad == name.end()) return {};
  return {errc::bad_name, "the topic name has " + printable(*bad) + " at position " +
                              std::to_string(bad - name.begin()) + ": only A-Z a-z 0-9 _ . / - are allowed"};
}

}  // namespace orc::wire
