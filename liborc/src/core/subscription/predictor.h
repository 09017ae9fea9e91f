// Learns when the samples of a periodic stream arrive, so that a waiting thread can watch for the next one instead of
// sleeping through its arrival. liborc/doc/design/predictive-waiting.md has the why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "orc/prediction.h"

namespace orc::detail {

// Times are those of CLOCK_REALTIME in ns, as in a sample's stamp; the publisher's clock may differ by a constant. Not
// thread-safe: the subscription serialises. Allocates nothing.
class predictor {
 public:
  // `share`: of a core that watching may cost, above 0.
  explicit predictor(double share) noexcept : share_(share) {}

  // How a receive found its sample: it was there, it came during a sleep, or the thread saw it come.
  enum class found : std::uint8_t { there, asleep, watching };
  // On the way of a sample: what it tells is worked out before the next wait.
  void arrived(std::uint64_t sequence, std::int64_t stamp_ns, std::int64_t now, found how) noexcept {
    if (unread_) [[unlikely]]
      read();
    if (predicted_) ++(how == found::watching ? hits_ : early_);
    predicted_ = false;
    last_ = {sequence, stamp_ns, now, how};
    unread_ = true;
  }

  // When to watch for the next sample. Nothing: sleep, because the stream has no period, the last prediction failed,
  // or watching would cost too much.
  struct window {
    std::int64_t from = 0;  // sleep until then
    std::int64_t to = 0;
  };
  [[nodiscard]] std::optional<window> next() noexcept;
  // A sleep until `from` ended by itself, so much late.
  void overslept(std::int64_t late_ns) noexcept;
  // The thread has watched for so long. `in_vain`: until the end of the window, and nothing came.
  void watched(std::int64_t ns, bool in_vain) noexcept;

  [[nodiscard]] prediction_info figures() const noexcept;
  // Why the next sample is not watched for, for people; empty: it is.
  [[nodiscard]] std::string why_not() const;

 private:
  static constexpr std::size_t remembered = 64;
  static constexpr std::size_t needed = 16;
  static constexpr std::int64_t unseen_travel_margin = 60'000;  // about the time of a wake-up

  // The last values, in any order but by age.
  struct values {
    std::array<std::int64_t, remembered> all{};
    std::size_t count = 0;
    std::size_t next = 0;

    void add(std::int64_t value) noexcept;
    void clear() noexcept { count = next = 0; }
    // Value number `rank` of those that are there, counted from the smallest.
    [[nodiscard]] std::int64_t ranked(std::size_t rank) const noexcept;
    // Those that are there, from the smallest on.
    [[nodiscard]] std::array<std::int64_t, remembered> sorted() const noexcept;
  };

  struct arrival {
    std::uint64_t sequence = 0;
    std::int64_t stamp_ns = 0;
    std::int64_t now = 0;
    found how = found::there;
  };
  void read() noexcept;
  void begin() noexcept;
  void plan() noexcept;
  [[nodiscard]] std::int64_t allowed() const noexcept;

  const double share_;
  arrival last_;
  bool unread_ = false;
  std::uint64_t sequence_ = 0;  // of the last one that was read; 0: none
  std::int64_t stamp_ = 0;
  values periods_;
  std::int64_t period_ = 0;                     // 0: unknown
  values errors_;                               // of the predicted stamps
  values slacks_;                               // an error, minus how late a timed sleep for that sample ended
  std::int64_t travel_ = 0;                     // from the stamp to the arrival
  bool travel_is_seen_ = false;                 // while watching; else it includes the time of a wake-up
  std::int64_t unseen_ = unseen_travel_margin;  // lead for that time; grows until a sample is seen
  std::int64_t late_ = 30'000;                  // how late timed sleeps end, averaged
  std::optional<std::int64_t> late_now_;        // the one for the next sample
  bool is_planned_ = false;                     // the next four are up to date
  bool affordable_ = false;                     // the lead is one that the budget allows
  std::int64_t lead_ = 0;                       // a sleep ends so much before the expected time
  std::int64_t latest_ = 0;                     // a watch ends so much after it
  std::int64_t planned_ = 0;                    // ns of watching per period with that lead; 0: none was planned
  bool given_ = false;                          // there is a window for the next sample
  std::int64_t cost_ = 0;                       // ns of watching per period, averaged
  std::int64_t watched_now_ = 0;                // since the last sample
  bool in_vain_ = false;

  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t early_ = 0;
  bool predicted_ = false;  // a thread waits for the predicted sample
  std::uint64_t watched_ns_ = 0;
};

}  // namespace orc::detail
