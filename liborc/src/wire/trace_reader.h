// Reads a trace, which may come from a stranger: each length and number is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/files/readable_file.h"
#include "orc/type_description.h"
#include "wire/trace_format.h"

namespace orc::wire {

struct trace_entry {
  trace_head head;
  std::uint64_t position = 0;  // in the file
};

// An entry with its payload, a copy.
struct trace_event : trace_entry {
  std::span<const std::byte> bytes;
  std::string_view text;
  std::unique_ptr<std::byte[]> payload;

  [[nodiscard]] std::string_view bytes_as_text() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Of kind type. Nothing: its parts do not fit.
  [[nodiscard]] std::optional<type_description> type() const;
};

class trace_reader {
 public:
  // bad_argument: this is no trace, or of another version; the message says which.
  [[nodiscard]] static detail::expected<trace_reader> open(detail::readable_file file);
  // Of bytes in memory, which must live longer.
  [[nodiscard]] static detail::expected<trace_reader> open(std::span<const std::byte> file) {
    return open(detail::readable_file(file));
  }

  [[nodiscard]] const trace_start& start() const noexcept { return start_; }
  // Each word followed by a NUL.
  [[nodiscard]] std::string_view command() const noexcept { return command_; }

  // Returns the next complete entry, in the order in which the program made the calls; nothing at the end. One thread
  // at a time.
  [[nodiscard]] std::optional<trace_entry> next() noexcept;
  // Returns the event at a position that next() returned. Nothing: the file was changed or cut meanwhile, or there is
  // no memory for it. Any thread.
  [[nodiscard]] std::optional<trace_event> at(std::uint64_t position) const noexcept;

  // After next() returned nothing: where the trace ends, and why. The sentence is empty at an ordinary end.
  [[nodiscard]] std::uint64_t end() const noexcept { return position_; }
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }
  // Calls during which the process was killed.
  [[nodiscard]] std::uint64_t unfinished() const noexcept { return unfinished_; }

 private:
  explicit trace_reader(detail::readable_file file) noexcept : file_(std::move(file)) {}
  [[nodiscard]] bool look(std::uint64_t position, std::span<std::byte> to) noexcept;
  // What is wrong with a complete entry of a possible length; empty: nothing.
  [[nodiscard]] std::string_view check(const trace_head& head) const noexcept;

  detail::readable_file file_;
  std::vector<std::byte> window_;  // that next() reads ahead
  std::uint64_t window_at_ = 0;
  trace_start start_{};
  std::string command_;
  std::uint64_t position_ = trace_page;
  std::uint64_t unfinished_ = 0;
  std::string_view problem_;
};

}  // namespace orc::wire
