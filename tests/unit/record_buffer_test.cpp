// What `orc record` keeps in memory. The wall clock may be set meanwhile: it decides nothing.
#include "tools/orc/record/record_buffer.h"

#include <memory>

#include "support/catch.h"

using namespace orc::cli;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::shared_ptr<record_block> block_at(record_moment when) {
  auto block = std::make_shared<record_block>();
  record_sample one;
  one.source = std::make_shared<record_source>("topic", 1);
  one.copy = std::shared_ptr<const std::byte[]>(new std::byte[8]);
  one.size = 8;
  one.received = when;
  block->add(std::move(one));
  return block;
}

std::size_t kept(const record_buffer& buffer) {
  std::vector<record_sample> before;
  return buffer.snapshot(before).size();
}

}  // namespace

TEST_CASE("record buffer: a black box keeps its time, whatever the wall clock does", "[unit]") {
  record_buffer buffer(1'000'000, std::chrono::seconds(10));
  for (std::int64_t i = 0; i <= 5; ++i) buffer.push(block_at({1'000 * second_ns + i * second_ns, i * second_ns}));
  CHECK(kept(buffer) == 6);
  buffer.push(block_at({900'000 * second_ns, 6 * second_ns}));  // the clock was set forward
  CHECK(kept(buffer) == 7);
  buffer.push(block_at({1 * second_ns, 7 * second_ns}));  // and back
  CHECK(kept(buffer) == 8);
  CHECK(buffer.span() == std::chrono::seconds(7));
  buffer.push(block_at({2 * second_ns, 14 * second_ns}));
  CHECK(kept(buffer) == 5);  // those from 4 s on
  CHECK_FALSE(buffer.too_small());
}
