#include "bytes/codec.h"

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>

namespace orc::recording::detail {
namespace {

constexpr std::size_t first_step = std::size_t{64} << 10;

struct free_lz4 {
  void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
};
struct free_zstd {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

// Makes room for the next step of the output: as much again as there is, never more than `most`. One byte more
// than that, so that a longer output shows.
std::span<std::byte> room_in(byte_buffer& to, std::size_t start, std::uint64_t most) {
  const std::uint64_t have = to.size() - start;
  const auto step =
      static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(have, first_step), most + 1 - have));
  std::byte* place = to.extend(step);
  return {place, step};
}

std::string decompress_zstd(std::span<const std::byte> from, std::uint64_t most, byte_buffer& to) {
  const std::unique_ptr<ZSTD_DStream, free_zstd> stream(ZSTD_createDStream());
  if (!stream) throw std::bad_alloc();
  ZSTD_inBuffer in{from.data(), from.size(), 0};
  const std::size_t start = to.size();
  for (std::size_t left = 1; left != 0 || in.pos < in.size;) {
    if (to.size() - start > most) return "is much larger than what it is compressed to";
    const auto room = room_in(to, start, most);
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t consumed = in.pos;
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    to.resize(to.size() - (room.size() - out.pos));
    if (ZSTD_isError(left) != 0) return std::string("does not decompress with zstd: ") + ZSTD_getErrorName(left);
    if (out.pos == 0 && in.pos == consumed && left != 0) return "does not decompress with zstd: its end is missing";
  }
  return {};
}

std::string decompress_lz4(std::span<const std::byte> from, std::uint64_t most, byte_buffer& to) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) throw std::bad_alloc();
  const std::unique_ptr<LZ4F_dctx, free_lz4> context(made);
  const std::size_t start = to.size();
  std::size_t at = 0;
  for (std::size_t left = 1; left != 0 || at < from.size();) {
    if (to.size() - start > most) return "is much larger than what it is compressed to";
    const auto room = room_in(to, start, most);
    std::size_t produced = room.size();
    std::size_t consumed = from.size() - at;
    left = LZ4F_decompress(context.get(), room.data(), &produced, from.data() + at, &consumed, nullptr);
    to.resize(to.size() - (room.size() - produced));
    if (LZ4F_isError(left) != 0) return std::string("does not decompress with lz4: ") + LZ4F_getErrorName(left);
    at += consumed;
    if (produced == 0 && consumed == 0 && left != 0) return "does not decompress with lz4: its end is missing";
  }
  return {};
}

}  // namespace

std::string_view name_of(compression which) noexcept {
  switch (which) {
    case compression::none: return "";
    case compression::lz4: return "lz4";
    case compression::zstd: return "zstd";
  }
  return "";
}

struct compressor::state {
  struct free_context {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, free_context> zstd;
};

compressor::compressor(compression which) : which_(which), state_(std::make_unique<state>()) {
  if (which_ == compression::zstd) {
    state_->zstd.reset(ZSTD_createCCtx());
    if (!state_->zstd) throw std::bad_alloc();
  }
}
compressor::~compressor() = default;

result compressor::compress(std::span<const std::byte> from, byte_buffer& to) {
  std::size_t made = 0;
  bool failed = false;
  if (which_ == compression::zstd) {
    to.resize(ZSTD_compressBound(from.size()));
    made = ZSTD_compressCCtx(state_->zstd.get(), to.data(), to.size(), from.data(), from.size(), 1);
    failed = ZSTD_isError(made) != 0;
  } else {
    to.resize(LZ4F_compressFrameBound(from.size(), nullptr));
    made = LZ4F_compressFrame(to.data(), to.size(), from.data(), from.size(), nullptr);
    failed = LZ4F_isError(made) != 0;
  }
  if (failed) return {errc::no_memory, "cannot compress a chunk with " + std::string(name_of(which_))};
  to.resize(made);
  return {};
}

std::string decompress(std::string_view compression, std::span<const std::byte> from, std::uint64_t most,
                       byte_buffer& to) {
  std::string why;
  if (compression == "zstd") {
    why = decompress_zstd(from, most, to);
  } else if (compression == "lz4") {
    why = decompress_lz4(from, most, to);
  } else {
    return "has compression \"" + std::string(compression.substr(0, 16)) + "\", which is not known";
  }
  return why;
}

}  // namespace orc::recording::detail
