#include "tools/orc/record/record_block_filler.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace orc::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{128} * 1024;
constexpr std::int64_t block_ns = 5'000'000;

constexpr std::size_t arena_bytes = std::size_t{256} * 1024;

}  // namespace

void record_block_filler::add(record_sample&& one) {
  if (open_->samples.empty()) since_ns_ = record_moment::now().steady_ns;
  open_->add(std::move(one));
  if (open_->bytes >= block_bytes) hand_over();
}

int record_block_filler::hand_over_if_due() {
  if (open_->samples.empty()) return -1;
  const std::int64_t left = since_ns_ + block_ns - record_moment::now().steady_ns;
  if (left > 0) return static_cast<int>(left / 1'000'000 + 1);
  hand_over();
  return -1;
}

void record_block_filler::hand_over() {
  if (open_->samples.empty()) return;
  const std::size_t samples = open_->samples.size();
  to_.push(std::exchange(open_, std::make_shared<record_block>()));
  open_->samples.reserve(std::min<std::size_t>(samples + samples / 4, 1024));
}

std::shared_ptr<const std::byte[]> record_block_filler::copy_of(std::span<const std::byte> bytes) {
  if (bytes.size() > small_sample) {
    std::shared_ptr<std::byte[]> alone(new std::byte[bytes.size()]);
    std::memcpy(alone.get(), bytes.data(), bytes.size());
    return alone;
  }
  const std::size_t taken = (bytes.size() + 15) / 16 * 16;
  if (!arena_ || arena_bytes - used_ < taken) {
    arena_ = std::shared_ptr<std::byte[]>(new std::byte[arena_bytes]);
    used_ = 0;
  }
  std::byte* const at = arena_.get() + used_;
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  used_ += taken;
  return {arena_, at};
}

}  // namespace orc::cli
