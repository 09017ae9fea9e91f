// Reads bytes as a recording, in each way that a reader has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "liborc/ext/recording/src/files/input_file.h"
#include "liborc/ext/recording/src/open_file.h"
#include "orc/recording/reader.h"

namespace orc::test {

inline constexpr int max_fuzz_samples = 20'000;

// What must hold, also of a file of a stranger.
inline void fuzz_expect(bool holds) {
  if (!holds) std::abort();
}

inline unsigned sum_of(std::span<const std::byte> data) {
  unsigned sum = 0;
  for (const std::byte b : data) sum += std::to_integer<unsigned>(b);  // the sanitizer sees each byte
  return sum;
}

inline void read_through(recording::reader& from, std::int64_t at_least) {
  volatile unsigned sum = 0;
  recording::sample s;
  for (int i = 0; i < max_fuzz_samples; ++i) {
    const auto got = from.next(s);
    if (got.code() == errc::nothing_new) return;
    if (!got) {
      fuzz_expect(!got.error().message().empty());
      continue;
    }
    fuzz_expect(s.channel < from.channels().size());
    fuzz_expect(s.received_ns >= at_least);
    sum = sum + sum_of(s.data);
  }
}

inline int fuzz_recording(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  auto file = recording::detail::input_file::of_bytes("input", std::vector<std::byte>(bytes, bytes + size));
  std::unique_ptr<recording::reader> from;
  if (!recording::detail::open_file(std::move(file), from)) return 0;
  const auto about = from->summary();
  fuzz_expect(about.readable_bytes <= about.bytes && about.bytes == size);
  read_through(*from, INT64_MIN);

  const std::int64_t middle = about.first_ns / 2 + about.last_ns / 2;
  fuzz_expect(static_cast<bool>(from->seek(middle)));
  read_through(*from, middle);

  std::vector<std::byte> kept;
  recording::sample s;
  const std::size_t channels = std::min<std::size_t>(from->channels().size(), 16);
  for (std::size_t i = 0; i < channels; ++i) {
    const auto which = static_cast<recording::channel_id>(i);
    if (!from->last_before(which, middle, s, kept)) continue;
    fuzz_expect(s.channel == which && s.received_ns <= middle && s.data.size() == kept.size());
  }
  std::vector<bool> odd(from->channels().size());
  for (std::size_t i = 1; i < odd.size(); i += 2) odd[i] = true;
  from->select(odd);
  fuzz_expect(static_cast<bool>(from->seek(INT64_MIN)));
  read_through(*from, INT64_MIN);

  for (std::size_t i = 0; i < std::min<std::size_t>(from->attachments().size(), 16); ++i) {
    static_cast<void>(from->read_attachment(i, kept));
  }
  std::vector<std::string> problems;
  static_cast<void>(from->check(problems));
  fuzz_expect(problems.size() <= 100);
  return 0;
}

}  // namespace orc::test
