// The outcomes of comparing types, so that a participant compares a pair of types once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "orc/result.h"
#include "orc/schema.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it.
class type_checks {
 public:
  // It forgets the pair that was looked up longest ago.
  static constexpr std::size_t max_kept = 256;

  // Returns the outcome for the types with these hashes; null: they have not been compared. Types that do not match
  // have one outcome per publisher, because the sentence names it. Valid until the next call.
  [[nodiscard]] const result* find(std::uint64_t published, std::uint64_t expected, std::string_view publisher);
  // Compares them (check_types) unless the outcome is known. Valid until the next call.
  const result& compare(const type_description& published, std::uint64_t published_hash,
                        const type_description& expected, std::uint64_t expected_hash, std::string_view publisher);

 private:
  struct outcome {
    std::uint64_t published;
    std::uint64_t expected;
    std::string publisher;
    result found;
  };
  std::list<outcome> kept_;  // the one that was looked up last is the first
};

}  // namespace orc::detail
