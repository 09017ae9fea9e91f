// Memory on loan from a segment: a slot that its owner fills, and that readers then read in place.
#pragma once

#include <cstdint>
#include <memory>

#include "orc/message.h"
#include "transport/shm/slot_writer.h"

namespace orc::detail::shm {

// Makes a buffer that owns `slot`, which was lent. Any thread may drop it.
[[nodiscard]] sample_buffer loaned_buffer(std::shared_ptr<slot_writer> of, std::uint32_t slot,
                                          std::size_t size) noexcept;

// Returns the slot of such a buffer, if it is one of `writer`'s.
[[nodiscard]] const std::uint32_t* slot_of(sample_buffer& buffer, const slot_writer* writer) noexcept;

}  // namespace orc::detail::shm
