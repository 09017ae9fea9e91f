// A trace on disk: checked and indexed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/expected.h"
#include "orc/types/decoder.h"
#include "wire/trace_index.h"
#include "wire/trace_reader.h"

namespace orc::cli {

class trace_file {
 public:
  // The error says what is wrong with the file.
  [[nodiscard]] static detail::expected<std::unique_ptr<trace_file>> open(const std::string& path);

  [[nodiscard]] const wire::trace_reader& reader() const noexcept { return *reader_; }
  [[nodiscard]] const wire::trace_index& index() const noexcept { return *index_; }
  // The place of a call: its number from 1, and the time since the first one. Nothing: no call is there.
  [[nodiscard]] std::optional<std::size_t> call_at(std::uint64_t position) const;
  [[nodiscard]] double seconds_at(std::size_t call) const;
  // Null: the topic is untyped, or its type cannot be read.
  [[nodiscard]] std::unique_ptr<types::decoder> decoder_of(std::uint32_t endpoint) const;

  // Why the trace ends before the program did, in one sentence; empty: it does not.
  [[nodiscard]] std::string early_end() const;
  // For people: program, time, calls, threads and topics.
  [[nodiscard]] std::string summary() const;

 private:
  trace_file() = default;

  std::optional<wire::trace_reader> reader_;
  std::optional<wire::trace_index> index_;
};

}  // namespace orc::cli
