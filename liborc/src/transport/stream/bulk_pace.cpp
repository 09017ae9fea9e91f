#include "transport/stream/bulk_pace.h"

#include <linux/tcp.h>  // has the fields of tcp_info that <netinet/tcp.h> lacks
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace orc::detail {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto min_interval = milliseconds(10);  // between two changes
constexpr auto max_interval = milliseconds(200);
constexpr auto memory = std::chrono::seconds(10);   // how long a short round trip is valid
constexpr auto allowed_delay = microseconds(1000);  // the delay beyond what the path adds by itself: take()
constexpr auto max_variation = milliseconds(10);
constexpr std::uint64_t enough = 10'000;  // bytes: the round trip of fewer bytes is not that of full packets
constexpr std::uint32_t one_burst = 2;    // segments: bulk_pace::piece()
constexpr std::size_t usual_segment = 1448;
constexpr auto max_drain = milliseconds(50);

constexpr std::uint64_t unsent_per_second = 40;  // the kernel's share: 25 ms of the rate, for a busy machine
constexpr std::uint64_t min_unsent = 32 * 1024;
constexpr std::uint64_t max_unsent = 1024 * 1024;

}  // namespace

void bulk_rate::set(std::uint64_t rate) noexcept { rate_ = std::clamp(rate, slowest, fastest); }

void bulk_rate::remember(microseconds round_trip, monotonic::time_point now) noexcept {
  if (now >= period_ends_) {
    period_ends_ = now + memory;
    shortest_ = {microseconds::max(), shortest_[0]};
  }
  shortest_[0] = std::min(shortest_[0], round_trip);
}

void bulk_rate::take(const path_sample& now_is, monotonic::time_point now) noexcept {
  if (now_is.acknowledged - acknowledged_ < enough) return;
  const auto passed = std::chrono::duration_cast<microseconds>(now - std::exchange(taken_, now));
  const std::uint64_t bytes = now_is.acknowledged - std::exchange(acknowledged_, now_is.acknowledged);
  const std::uint64_t delivered =
      bytes * 1'000'000 / static_cast<std::uint64_t>(std::max<std::int64_t>(passed.count(), 1));
  next_ = now + std::clamp<microseconds>(now_is.round_trip, min_interval, max_interval);
  remember(now_is.round_trip, now);
  const auto shortest = std::min(shortest_[0], shortest_[1]);
  const auto delay = now_is.round_trip - shortest;
  const auto allowed = allowed_delay + shortest / 8 + std::min<microseconds>(now_is.variation, max_variation) / 2;
  const bool grows = delay >= std::exchange(delay_, delay);
  const bool is_ours = now_is.in_flight > one_burst;  // with less in flight, no rate would shorten the delay
  if (draining_ && !(grows && is_ours && delay > 2 * allowed)) {
    if (delay > allowed / 2 && now < drain_until_) return;
    draining_ = suspected_ = false;
    return set(after_drain_);
  }
  if (delay > allowed && is_ours) {
    // Once may be a busy processor.
    if (!draining_ && !std::exchange(suspected_, true)) return;
    const std::uint64_t taken = std::clamp(delivered, rate_ / 2, rate_);
    ceiling_ = std::max(taken, ceiling_ - ceiling_ / 4);  // a single low value does not count
    after_drain_ = taken - taken / 8;
    draining_ = true;
    drain_until_ = now + std::max<microseconds>(max_drain, 2 * now_is.round_trip);
    return set(taken / 2);
  }
  suspected_ = false;
  if (delivered < rate_ - rate_ / 3) return;  // the rate is not the limit
  // Slowly around the rate that caused a queue, quickly elsewhere.
  const bool near = rate_ > ceiling_ - ceiling_ / 4 && rate_ < ceiling_ + ceiling_ / 4;
  set(rate_ + rate_ / (near ? 128 : 8));
}

void bulk_rate::go_on(std::uint64_t rate, std::uint64_t acknowledged, monotonic::time_point now) noexcept {
  set(rate);
  acknowledged_ = acknowledged;
  taken_ = now;
}

bulk_pace::~bulk_pace() {
  if (share_) share_->leave(member_);
}

void bulk_pace::begin(int fd) {
  member_.fd = fd;
  auto share = bulk_share::with(peer_of(fd, wire::transport::tcp));
  share->join(member_);
  share_ = std::move(share);
}

std::size_t bulk_pace::adjust(bool waits) noexcept {
  const auto now = monotonic::now();
  if (share_->is_fast() && !took_turns_ && now < std::max(rate_.next(), asked_ + min_interval))
    return bulk_share::unlimited;
  asked_ = now;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(member_.fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return bulk_share::unlimited;
  segment_ = std::max<std::size_t>(info.tcpi_snd_mss, usual_segment);  // no peer makes the pieces tiny
  const bool by_reader = std::exchange(limited_by_reader_, info.tcpi_rwnd_limited) != info.tcpi_rwnd_limited;
  const std::size_t room =
      share_->ask(member_, info.tcpi_bytes_acked, microseconds(info.tcpi_min_rtt), segment_, by_reader, waits, now);
  const bool takes_turns = !share_->is_fast();
  if (takes_turns) {
    apply(bulk_rate::fastest);
  } else {
    if (took_turns_) rate_.go_on(share_->rate(), info.tcpi_bytes_acked, now);
    rate_.take({.acknowledged = info.tcpi_bytes_acked,
                .round_trip = microseconds(info.tcpi_rtt),
                .variation = microseconds(info.tcpi_rttvar),
                .in_flight = info.tcpi_unacked},
               now);
    apply(rate_.rate());
  }
  took_turns_ = takes_turns;
  return room;
}

void bulk_pace::apply(std::uint64_t rate) noexcept {
  if (rate == applied_) return;
  applied_ = rate;
  (void)::setsockopt(member_.fd, SOL_SOCKET, SO_MAX_PACING_RATE, &applied_, sizeof applied_);
  // Little unsent, so that the publisher checks the path often. More at a high rate, where each check costs.
  const int unsent = static_cast<int>(std::bit_ceil(std::clamp(applied_ / unsent_per_second, min_unsent, max_unsent)));
  if (unsent == unsent_) return;
  unsent_ = unsent;
  (void)::setsockopt(member_.fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

}  // namespace orc::detail
