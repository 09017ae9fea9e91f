// One comparison of a publication's type with the one that a subscription expects. It has copies of both descriptions,
// so it runs without the subscription's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/multicast/datagram/source.h"
#include "transport/transport.h"
#include "wire/described_type.h"

namespace orc::detail::multicast {

// step() on one thread; done() on any; the others once done() is true.
class type_comparison final : public upkeep {
 public:
  // `published`: the description as it came, which should have this hash.
  type_comparison(const source& from, std::uint64_t hash, std::string published,
                  std::shared_ptr<const described_type> expected)
      : from_(from),
        publisher_(from.text()),
        hash_(hash),
        published_(std::move(published)),
        expected_(std::move(expected)) {}

  // Compares. The slowest types found take 16 ms: two LCM types of 64 KiB with 4,000 fields (struct: 3 ms).
  void step() noexcept override;
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }

  [[nodiscard]] const source& from() const noexcept { return from_; }
  [[nodiscard]] const std::string& publisher() const noexcept { return publisher_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  // Empty: the types match; else the sentence. Nothing: the bytes are no description with this hash, or memory ran out.
  [[nodiscard]] const std::optional<std::string>& problem() const noexcept { return problem_; }

 private:
  const source from_;
  const std::string publisher_;
  const std::uint64_t hash_;
  const std::string published_;
  const std::shared_ptr<const described_type> expected_;
  std::optional<std::string> problem_;
  std::atomic<bool> done_{false};
};

}  // namespace orc::detail::multicast
