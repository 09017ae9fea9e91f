// Where the bytes of samples lie, and which memory they get.
#include "transport/frame.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/copy.h"
#include "support/catch.h"
#include "transport/frame_memory.h"

using orc::detail::allocate_frame;
using orc::detail::copies_slowly;
using orc::detail::frame_memory;
using orc::detail::large_frame;

namespace {

std::uintptr_t address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

bool is_mapped(const frame_memory::block& what) {
  unsigned char pages[1];
  return ::mincore(what.at, orc::detail::page_bytes, pages) == 0 || errno != ENOMEM;
}

}  // namespace

TEST_CASE("frame: no large copy between it and usual memory of callers or a tcp socket is slow", "[unit]") {
  constexpr std::size_t stream_header = 9 + orc::wire::sample_header::bytes;
  for (const std::size_t size : {large_frame, large_frame + 1, std::size_t{1'000'000}, std::size_t{40'000'000}}) {
    auto frame = allocate_frame(size);
    REQUIRE(frame);
    REQUIRE(frame.size() == size);
    const auto at = address_of(frame.payload());
    for (std::uintptr_t callers = 0; callers < orc::detail::page_bytes; callers += 16) {
      CHECK_FALSE(copies_slowly(at, callers));
      CHECK_FALSE(copies_slowly(callers, at));
    }
    // What it sends to several readers in a row, and receives.
    for (std::uintptr_t readers = 1; readers < 64; ++readers) {
      CHECK_FALSE(copies_slowly(at, readers * stream_header));
      CHECK_FALSE(copies_slowly(readers * stream_header, at));
    }
    std::memset(orc::detail::frame_of(frame).data(), 1, orc::detail::frame_of(frame).size());
  }
}

TEST_CASE("frame: a copy is the same wherever its ends lie in their pages", "[unit]") {
  constexpr std::size_t size = 10'000;
  std::vector<std::byte> from(size + 64);
  for (std::size_t n = 0; n < from.size(); ++n) from[n] = static_cast<std::byte>(n * 7 + n / 256);
  std::vector<std::byte> to(size + 4096 + 64);
  for (std::size_t shift = 0; shift < 4096; shift += shift < 64 ? 1 : 61) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{1024}, std::size_t{1025}, size}) {
      std::fill(to.begin(), to.end(), std::byte{0});
      orc::detail::copy_bytes(to.data() + shift, from.data() + 3, length);
      REQUIRE(std::equal(from.begin() + 3, from.begin() + 3 + static_cast<std::ptrdiff_t>(length),
                         to.begin() + static_cast<std::ptrdiff_t>(shift)));
      REQUIRE(to[shift + length] == std::byte{0});
    }
  }
}

TEST_CASE("frame memory: a block is used again, also for a somewhat different size", "[unit]") {
  frame_memory tested;
  const auto first = tested.take(100'000'000);
  REQUIRE(first.at != nullptr);
  tested.give_back(first);
  const auto other = tested.take(97'000'000);
  CHECK(other.at == first.at);
  const auto another = tested.take(97'000'000);
  CHECK(another.at != other.at);
  tested.give_back(other);
  tested.give_back(another);
  const auto much_smaller = tested.take(40'000'000);
  CHECK(much_smaller.at != other.at);
  CHECK(much_smaller.at != another.at);
  tested.give_back(much_smaller);
  tested.tidy(orc::detail::monotonic::now() + 2 * frame_memory::kept_for);
}

TEST_CASE("frame memory: it keeps few blocks, and none for long", "[unit]") {
  frame_memory tested;
  std::vector<frame_memory::block> all;
  for (std::size_t n = 0; n < frame_memory::max_spare + 2; ++n) all.push_back(tested.take(frame_memory::from_bytes));
  for (const auto& each : all) tested.give_back(each);
  CHECK_FALSE(is_mapped(all[0]));
  CHECK_FALSE(is_mapped(all[1]));
  const auto now = orc::detail::monotonic::now();
  tested.tidy(now);
  for (std::size_t n = 2; n < all.size(); ++n) CHECK(is_mapped(all[n]));
  tested.tidy(now + frame_memory::kept_for);
  for (const auto& each : all) CHECK_FALSE(is_mapped(each));
}
