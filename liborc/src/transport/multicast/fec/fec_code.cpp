#include "transport/multicast/fec/fec_code.h"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace orc::detail::multicast {

namespace {

constexpr std::size_t table_bytes = 32;  // of one factor, as ISA-L lays them out

[[nodiscard]] bool has_room(std::vector<unsigned char>& memory, std::size_t bytes) noexcept {
  try {
    if (memory.size() < bytes) memory.resize(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// The factor of a data shard in a parity shard.
[[nodiscard]] unsigned char factor(unsigned data_shards, unsigned parity, unsigned data) noexcept {
  return gf_inv(static_cast<unsigned char>((data_shards + parity) ^ data));
}

// ISA-L takes even its inputs as `unsigned char*`.
[[nodiscard]] unsigned char* isal_source(const std::byte* bytes) noexcept {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes));
}

// Lists the shards that are not in `lost`, in order. Returns how many.
std::size_t others(std::uint8_t data, std::span<const std::uint8_t> lost, std::span<std::uint8_t> into) noexcept {
  std::size_t count = 0;
  for (std::uint8_t shard = 0; shard < data; ++shard)
    if (std::find(lost.begin(), lost.end(), shard) == lost.end()) into[count++] = shard;
  return count;
}

using pointers = std::array<unsigned char*, fec_plan::max_shards>;

}  // namespace

unsigned char* fec_code::encoder_tables(std::uint8_t data, std::uint8_t parity) noexcept {
  encoder& kept = encoders_[data % encoders_.size()];
  if (kept.data == data && kept.parity == parity) return kept.tables.data();
  const std::size_t factors = std::size_t{data} * parity;
  if (!has_room(matrices_, factors) || !has_room(kept.tables, factors * table_bytes)) return nullptr;
  for (unsigned p = 0; p < parity; ++p)
    for (unsigned d = 0; d < data; ++d) matrices_[p * data + d] = factor(data, p, d);
  ec_init_tables(data, parity, matrices_.data(), kept.tables.data());
  kept.data = data;
  kept.parity = parity;
  return kept.tables.data();
}

unsigned char* fec_code::data_shard(const fec_plan& plan, std::span<const std::byte> payload, std::uint16_t block,
                                    std::uint8_t shard) noexcept {
  const auto bytes = payload.subspan(plan.offset(block, shard), plan.data_bytes(block, shard));
  if (bytes.size() == plan.shard_bytes()) return isal_source(bytes.data());
  if (!bytes.empty()) std::memcpy(tail_.data(), bytes.data(), bytes.size());
  std::memset(tail_.data() + bytes.size(), 0, plan.shard_bytes() - bytes.size());
  return tail_.data();
}

bool fec_code::encode(const fec_plan& plan, std::span<const std::byte> payload, std::uint16_t block,
                      std::span<std::byte> parity) noexcept {
  assert(payload.size() == plan.size() && block < plan.blocks());
  assert(parity.size() == std::size_t{plan.parity_shards()} * plan.shard_bytes());
  if (plan.parity_shards() == 0) return true;
  const std::uint8_t data = plan.data_shards(block);
  unsigned char* const tables = encoder_tables(data, plan.parity_shards());
  if (tables == nullptr || !has_room(tail_, plan.shard_bytes())) return false;

  pointers from;
  pointers to;
  for (std::uint8_t shard = 0; shard < data; ++shard) from[shard] = data_shard(plan, payload, block, shard);
  for (std::size_t p = 0; p < plan.parity_shards(); ++p) to[p] = isal_source(parity.data() + p * plan.shard_bytes());
  ec_encode_data(plan.shard_bytes(), data, plan.parity_shards(), tables, from.data(), to.data());
  return true;
}

// With the lost data L, the known data K and the parity P = A L + B K: L = inverse(A) (P + B K). One matrix has both
// factors, inverse(A) * [B | 1], and is applied to [K | P]. So it needs one pass over the shards, and inverts only A,
// which is as small as the loss.
unsigned char* fec_code::recovery_tables(std::uint8_t data, std::span<const std::uint8_t> lost,
                                         std::span<const parity_shard> parity) noexcept {
  const std::size_t count = lost.size();
  const std::size_t known_count = data - count;
  // A, its inverse, B, and the product with one row of `data` factors for each lost shard.
  const std::size_t square = count * count;
  if (!has_room(matrices_, 2 * square + count * known_count + count * data)) return nullptr;
  if (!has_room(recovery_, count * data * table_bytes)) return nullptr;
  unsigned char* const a = matrices_.data();
  unsigned char* const inverse = a + square;
  unsigned char* const b = inverse + square;
  unsigned char* const product = b + count * known_count;

  std::array<std::uint8_t, fec_plan::max_shards> known{};
  others(data, lost, known);
  pointers rows_of_b;
  pointers rows_of_product;
  for (std::size_t p = 0; p < count; ++p) {
    for (std::size_t l = 0; l < count; ++l) a[p * count + l] = factor(data, parity[p].index, lost[l]);
    rows_of_b[p] = b + p * known_count;
    for (std::size_t i = 0; i < known_count; ++i) rows_of_b[p][i] = factor(data, parity[p].index, known[i]);
    rows_of_product[p] = product + p * data;
  }
  [[maybe_unused]] const int singular = gf_invert_matrix(a, inverse, static_cast<int>(count));
  assert(singular == 0);
  const auto n = static_cast<int>(count);
  if (known_count > 0) {  // ISA-L multiplies matrices as it multiplies shards, only these are short
    ec_init_tables(n, n, inverse, recovery_.data());
    ec_encode_data(static_cast<int>(known_count), n, n, recovery_.data(), rows_of_b.data(), rows_of_product.data());
  }
  for (std::size_t l = 0; l < count; ++l) std::memcpy(rows_of_product[l] + known_count, inverse + l * count, count);
  ec_init_tables(data, n, product, recovery_.data());
  return recovery_.data();
}

bool fec_code::recover(const fec_plan& plan, std::span<std::byte> payload, std::uint16_t block,
                       std::span<const std::uint8_t> lost, std::span<const parity_shard> parity) noexcept {
  assert(payload.size() == plan.size() && block < plan.blocks());
  assert(!lost.empty() && lost.size() == parity.size() && lost.size() <= plan.data_shards(block));
  const std::uint8_t data = plan.data_shards(block);
  unsigned char* const tables = recovery_tables(data, lost, parity);
  if (tables == nullptr || !has_room(tail_, plan.shard_bytes())) return false;

  std::array<std::uint8_t, fec_plan::max_shards> known{};
  const std::size_t known_count = others(data, lost, known);
  pointers from;
  pointers to;
  for (std::size_t i = 0; i < known_count; ++i) from[i] = data_shard(plan, payload, block, known[i]);
  for (std::size_t p = 0; p < parity.size(); ++p) from[known_count + p] = isal_source(parity[p].bytes);
  for (std::size_t l = 0; l < lost.size(); ++l) {
    const bool whole = plan.data_bytes(block, lost[l]) == plan.shard_bytes();
    to[l] = whole ? isal_source(payload.data() + plan.offset(block, lost[l])) : tail_.data();
  }
  ec_encode_data(plan.shard_bytes(), data, static_cast<int>(lost.size()), tables, from.data(), to.data());
  for (const std::uint8_t shard : lost) {
    const std::size_t bytes = plan.data_bytes(block, shard);
    if (bytes != 0 && bytes != plan.shard_bytes())
      std::memcpy(payload.data() + plan.offset(block, shard), tail_.data(), bytes);
  }
  return true;
}

}  // namespace orc::detail::multicast
