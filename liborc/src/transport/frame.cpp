#include "transport/frame.h"

#include <zmq.h>

#include "base/copy.h"
#include "transport/frame_memory.h"

namespace orc::detail {

namespace {

static_assert(sizeof(zmq_msg_t) <= 64 && alignof(zmq_msg_t) <= 8, "sample_buffer has room for a libzmq message");

zmq_msg_t* stored(sample_buffer& buffer) noexcept { return static_cast<zmq_msg_t*>(buffer.storage()); }

void move_frame(sample_buffer& to, sample_buffer& from) noexcept {
  zmq_msg_init(stored(to));
  zmq_msg_move(stored(to), stored(from));
}

void drop_frame(sample_buffer& buffer) noexcept { zmq_msg_close(stored(buffer)); }

std::byte* payload_of_frame(sample_buffer& buffer) noexcept {
  auto* const first = static_cast<std::byte*>(zmq_msg_data(stored(buffer))) + wire::sample_header::bytes;
  if (buffer.size() < large_frame) return first;
  return first + (large_frame_offset - reinterpret_cast<std::uintptr_t>(first)) % page_bytes;
}

void share_of_frame(sample_buffer& to, sample_buffer& from) noexcept {
  zmq_msg_init(stored(to));
  zmq_msg_copy(stored(to), stored(from));
}

void give_back(void* at, void* size) {
  frame_memory::of_process().give_back({static_cast<std::byte*>(at), reinterpret_cast<std::uintptr_t>(size)});
}

[[nodiscard]] bool make(zmq_msg_t* message, std::size_t size) noexcept {
  if (size < frame_memory::from_bytes) return zmq_msg_init_size(message, size) == 0;
  const auto block = frame_memory::of_process().take(size);
  if (block.at == nullptr) return false;
  void* const hint = reinterpret_cast<void*>(block.size);  // NOLINT(performance-no-int-to-ptr)
  if (zmq_msg_init_data(message, block.at, block.size, give_back, hint) == 0) return true;
  frame_memory::of_process().give_back(block);
  return false;
}

constexpr sample_buffer::operations frame_operations{move_frame, drop_frame, payload_of_frame, share_of_frame};

}  // namespace

sample_buffer allocate_frame(std::size_t payload_size) noexcept {
  sample_buffer buffer;
  if (payload_size > SIZE_MAX / 2) return buffer;  // libzmq adds to the size without a check
  const std::size_t room_for_offset = payload_size < large_frame ? 0 : page_bytes;
  if (make(stored(buffer), wire::sample_header::bytes + payload_size + room_for_offset))
    buffer.adopt(&frame_operations, payload_size);
  return buffer;
}

bool is_frame(const sample_buffer& buffer) noexcept { return buffer.kind() == &frame_operations; }

sample_buffer share(sample_buffer& buffer) noexcept {
  sample_buffer other;
  buffer.kind()->share(other, buffer);
  if (is_frame(buffer))
    other.adopt(buffer.kind(), buffer.size());  // small payloads are in the frame itself
  else
    other.adopt(buffer.kind(), buffer.payload(), buffer.size());
  return other;
}

sample_buffer share_frame(sample_buffer& buffer) noexcept {
  if (is_frame(buffer)) return share(buffer);
  sample_buffer copy = allocate_frame(buffer.size());
  if (copy) copy_bytes(copy.payload(), buffer.payload(), buffer.size());
  return copy;
}

bool owns_alone(sample_buffer& buffer) noexcept {
  return is_frame(buffer) && zmq_msg_get(stored(buffer), ZMQ_SHARED) == 0;
}

bool fill(sample& s) noexcept {
  if (s.source.data() == nullptr) return true;
  if (!s.buffer) s.buffer = allocate_frame(s.source.size());
  if (!s.buffer) return false;
  copy_bytes(s.buffer.payload(), s.source.data(), s.source.size());
  s.source = {};
  return true;
}

}  // namespace orc::detail
