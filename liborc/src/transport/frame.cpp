#include "transport/frame.h"

#include <zmq.h>

#include <cstring>

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
  return static_cast<std::byte*>(zmq_msg_data(stored(buffer))) + wire::sample_header::bytes;
}

void share_of_frame(sample_buffer& to, sample_buffer& from) noexcept {
  zmq_msg_init(stored(to));
  zmq_msg_copy(stored(to), stored(from));
}

constexpr sample_buffer::operations frame_operations{move_frame, drop_frame, payload_of_frame, share_of_frame};

}  // namespace

sample_buffer allocate_frame(std::size_t payload_size) noexcept {
  sample_buffer buffer;
  if (payload_size > SIZE_MAX / 2) return buffer;  // libzmq adds to the size without a check
  if (zmq_msg_init_size(stored(buffer), payload_size + wire::sample_header::bytes) == 0)
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
  if (copy && buffer.size() != 0) std::memcpy(copy.payload(), buffer.payload(), buffer.size());
  return copy;
}

bool owns_alone(sample_buffer& buffer) noexcept {
  return is_frame(buffer) && zmq_msg_get(stored(buffer), ZMQ_SHARED) == 0;
}

bool fill(sample& s) noexcept {
  if (s.source.data() == nullptr) return true;
  if (!s.buffer) s.buffer = allocate_frame(s.source.size());
  if (!s.buffer) return false;
  std::memcpy(s.buffer.payload(), s.source.data(), s.source.size());
  s.source = {};
  return true;
}

}  // namespace orc::detail
