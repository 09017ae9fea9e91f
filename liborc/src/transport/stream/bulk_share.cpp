#include "transport/stream/bulk_share.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

namespace orc::detail {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t fast_window = 128 * 1024;
constexpr std::size_t slow_window = 64 * 1024;  // below this a fast path is slow again
// A peer acknowledges more than one segment at once, and one alone after up to 40 ms.
constexpr std::size_t tail = 8;
constexpr auto shared_delay = milliseconds(3);
constexpr auto silent_after = milliseconds(50);  // a connection that has not asked for so long does not wait any more
constexpr auto stuck = milliseconds(500);  // bytes that do not move for so long are not on the way: their reader stands
constexpr auto look_again = microseconds(500);
constexpr std::size_t for_slow_reader = 16 * 1024;
constexpr microseconds min_pause = milliseconds(1);
constexpr microseconds max_pause = milliseconds(5);

[[nodiscard]] std::size_t unacknowledged(int fd) noexcept {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

using key = std::array<std::uint64_t, 2>;

}  // namespace

std::shared_ptr<bulk_share> bulk_share::with(const peer_id& peer) {
  static auto& mutex = *new std::mutex;  // also there when the last global participant ends
  static auto& shares = *new std::map<key, std::weak_ptr<bulk_share>>;
  const std::lock_guard lock(mutex);
  std::erase_if(shares, [](const auto& each) { return each.second.expired(); });
  auto& known = shares[peer.bits];
  auto share = known.lock();
  if (!share) known = share = std::make_shared<bulk_share>();
  return share;
}

void bulk_share::join(member& who) {
  const std::lock_guard lock(mutex_);
  waiting_.reserve(all_.size() + 1);
  all_.push_back(&who);
}

void bulk_share::leave(member& who) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &who);
  std::erase(all_, &who);
}

void bulk_share::measure(microseconds shortest, std::size_t least, bool waits, monotonic::time_point now) noexcept {
  const auto start = [&] {
    round_from_ = acknowledged_;
    round_at_ = now;
  };
  window_ = std::max(window_, least);
  // What the path takes shows only while somebody has more to send.
  if (!waits || now - std::exchange(asked_at_, now) > silent_after) return start();
  const std::uint64_t bytes = acknowledged_ - round_from_;
  if (bytes < window_) return;
  const auto time = std::max(std::chrono::duration_cast<microseconds>(now - round_at_), microseconds(1));
  const std::uint64_t rate = bytes * 1'000'000 / static_cast<std::uint64_t>(time.count());
  const auto within = shortest + std::max<microseconds>(shared_delay, shortest / 8);
  const std::uint64_t takes = rate * static_cast<std::uint64_t>(within.count()) / 1'000'000;
  // At most twice as much at a time: a path may take its first packets faster than it goes on.
  window_ = std::clamp<std::size_t>(takes, least, std::min(2 * window_, 2 * fast_window));
  rate_.store(rate, std::memory_order_relaxed);
  pause_us_.store(std::clamp(time / 8, min_pause, max_pause).count(), std::memory_order_relaxed);
  fast_.store(window_ >= (is_fast() ? slow_window : fast_window), std::memory_order_relaxed);
  start();
}

std::size_t bulk_share::on_the_way(monotonic::time_point now) const noexcept {
  std::size_t total = 0;
  for (const member* const each : all_)
    if (!each->by_reader && now - each->moved_at < stuck) total += unacknowledged(each->fd);
  return total;
}

bool bulk_share::is_first(const member& who, monotonic::time_point now) noexcept {
  while (!waiting_.empty() && now - waiting_.front()->asked_at > silent_after) waiting_.erase(waiting_.begin());
  return waiting_.empty() || waiting_.front() == &who;
}

std::size_t bulk_share::ask(member& who, std::uint64_t acknowledged, microseconds shortest, std::size_t segment,
                            bool by_reader, bool waits, monotonic::time_point now) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t moved = acknowledged - std::exchange(who.acknowledged, acknowledged);
  if (moved != 0) who.moved_at = now;
  who.asked_at = now;
  who.by_reader = by_reader;
  if (!by_reader) {
    acknowledged_ += moved;
    measure(shortest, segment + tail, waits, now);
  }
  if (is_fast()) return unlimited;
  const std::size_t own = unacknowledged(who.fd);
  if (by_reader || (own != 0 && now - who.moved_at >= stuck)) {
    std::erase(waiting_, &who);
    return by_reader ? for_slow_reader - std::min(own, for_slow_reader) : 0;
  }
  const std::size_t unit = window_ < 4 * segment ? segment + tail : 2 * segment;
  const bool may = is_first(who, now) && now >= full_until_;
  const std::size_t taken = may ? on_the_way(now) : 0;
  if (!may || taken + unit > window_) {
    if (may) full_until_ = now + look_again;
    if (std::find(waiting_.begin(), waiting_.end(), &who) == waiting_.end()) waiting_.push_back(&who);
    return 0;
  }
  std::erase(waiting_, &who);
  who.moved_at = now;
  return (window_ - taken) / unit * unit;
}

}  // namespace orc::detail
