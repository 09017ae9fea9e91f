// The type that a publication or a subscription declares: its description, and what stands for it on the wire.
#pragma once

#include <memory>

#include "orc/type_description.h"
#include "wire/control.h"

namespace orc::detail {

// Immutable, so any thread may read it.
struct described_type {
  type_description description;
  wire::type_reference reference;
};

// Returns nothing for an untyped end.
[[nodiscard]] inline std::shared_ptr<const described_type> describe(const type_description& type) {
  if (type.empty()) return nullptr;
  return std::make_shared<const described_type>(
      described_type{type,
                     {type.name, type.schema_encoding, type.message_encoding, hash_of(type),
                      static_cast<std::uint32_t>(type.schema.size())}});
}

// Returns the options without the type, so that a schema of a megabyte exists once.
template <class Options>
[[nodiscard]] Options without_type(Options options) {
  options.type = {};
  return options;
}

}  // namespace orc::detail
