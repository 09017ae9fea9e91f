// Decoders for the samples of recordings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orc/types/decoder.h"
#include "tools/orc/type/lcm_decoders.h"

namespace orc::cli {

// Whether a channel has no type, or an encoding alone: LCM logs say that their messages are LCM's, and not which. JSON
// needs no schema.
[[nodiscard]] bool is_unknown(const type_description& type) noexcept;

// The name of a type; of JSON without a schema "json".
[[nodiscard]] const std::string& shown_name(const type_description& type) noexcept;

// Takes the type of the channel; of a channel without one, the type that --lcm-types has for the message.
class recorded_types {
 public:
  // `type`: --type, FILE:NAME, used for everything; empty: none. The error is for people.
  [[nodiscard]] result read(const std::string& type, const std::vector<std::string>& lcm_types);

  // Null: no type is known, or it cannot be decoded; why() says which. Valid as long as this object.
  [[nodiscard]] const types::decoder* decoder_of(const type_description& channel, std::span<const std::byte> sample);
  // Empty: the channel is untyped.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  struct known_type {
    std::unique_ptr<types::decoder> decoder;
    std::string why;
  };

  std::unique_ptr<types::decoder> fixed_;
  lcm_decoders lcm_;
  std::map<std::uint64_t, known_type> by_hash_;
  std::string why_;
};

}  // namespace orc::cli
