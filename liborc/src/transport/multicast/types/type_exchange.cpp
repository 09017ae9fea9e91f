#include "transport/multicast/types/type_exchange.h"

#include <algorithm>
#include <new>
#include <utility>

namespace orc::detail::multicast {

namespace {

[[nodiscard]] bool waits_for_turn(const sender& each) noexcept {
  return each.publication && each.type.verdict == type_verdict::unknown && !each.type.transfer;
}

[[nodiscard]] bool is_too_long(const type_transfer& transfer) noexcept { return transfer.size > max_type_bytes; }

// The sentence about one publisher for another one of the same type.
[[nodiscard]] std::string about(std::string sentence, const std::string& publisher, const std::string& another) {
  const std::string quoted = '`' + publisher + '`';
  const std::string replaced = '`' + another + '`';
  for (auto at = sentence.find(quoted); at != std::string::npos; at = sentence.find(quoted, at + replaced.size()))
    sentence.replace(at, quoted.size(), replaced);
  return sentence;
}

}  // namespace

void type_exchange::announced(sender& whom, std::uint64_t hash, monotonic::time_point now) noexcept {
  if (!expected_) return;
  if (whom.type.transfer) end_turn(whom, now);
  whom.type.hash = hash;
  whom.type.verdict = type_verdict::matches;
  whom.type.problem.clear();
  if (hash == 0 || hash == expected_->reference.hash) return;
  whom.type.verdict = type_verdict::unknown;
  whom.type.next_turn = std::max(whom.type.next_turn, now);
  next_step_ = now;
}

bool type_exchange::on_type(sender& from, const orc_datagram& d, monotonic::time_point now) noexcept {
  type_transfer* const transfer = from.type.transfer.get();
  if (transfer == nullptr || d.type != from.type.hash || d.size == 0) return false;
  if (d.offset != transfer->bytes.size() || transfer->complete()) return true;  // late, twice, or behind a lost one
  if (transfer->size != 0 && transfer->size != d.size) return false;
  try {
    transfer->size = d.size;
    if (d.size <= max_type_bytes) {
      transfer->bytes.reserve(d.size);
      transfer->bytes.append(reinterpret_cast<const char*>(d.inside.data()), d.inside.size());
    }
  } catch (const std::bad_alloc&) {
    return true;
  }
  transfer->moved = now;
  transfer->ask_every = first_retry;
  transfer->ask_at = now + first_retry;
  if (is_too_long(*transfer))
    next_step_ = now;
  else if (transfer->complete())
    next_step_ = std::min(next_step_, std::max(now, next_comparison_));
  else if (transfer->bytes.size() >= transfer->asked_from + type_parts_at_once * max_type_part)
    from.wants_report = true;
  return true;
}

std::optional<orc_datagram> type_exchange::request(sender& to, const wire::id& link) noexcept {
  if (!to.type.transfer || to.type.transfer->complete()) return std::nullopt;
  to.type.transfer->asked_from = to.type.transfer->bytes.size();
  orc_datagram d{};
  d.kind = datagram_kind::ask_type;
  d.publication = to.publication;
  d.link = link;
  d.cookie = to.cookie;
  d.type = to.type.hash;
  d.offset = static_cast<std::uint32_t>(to.type.transfer->asked_from);
  return d;
}

void type_exchange::step(sender_table& senders, monotonic::time_point now) noexcept {
  const bool compared = comparison_ && comparison_->done();
  if (!expected_ || (now < next_step_ && !compared)) return;
  bool has_memory = true;
  try {
    if (compared) take_outcome(senders, now);
    for (sender& each : senders) {
      if (each.type.verdict != type_verdict::unknown || !each.publication || take_known(each)) continue;
      type_transfer* const transfer = each.type.transfer.get();
      if (transfer == nullptr) continue;
      if (is_too_long(*transfer) || transfer->complete()) {
        refuse_long(each);
      } else if (now - transfer->moved >= max_silence || now - transfer->began >= max_turn) {
        end_turn(each, now);
      } else if (now >= transfer->ask_at) {
        each.wants_report = true;
        transfer->ask_every = std::min<monotonic::duration>(2 * transfer->ask_every, max_retry);
        transfer->ask_at = now + transfer->ask_every;
      }
    }
    auto turns = static_cast<std::size_t>(std::count_if(
        senders.begin(), senders.end(), [](const sender& each) { return each.type.transfer != nullptr; }));
    for (; turns < max_transfers; ++turns) {
      sender* next = nullptr;
      for (sender& each : senders) {
        if (waits_for_turn(each) && each.type.next_turn <= now &&
            (next == nullptr || each.type.next_turn < next->type.next_turn))
          next = &each;
      }
      if (next == nullptr) break;
      begin_turn(*next, now);
    }
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  plan(senders, now);
  if (!has_memory) next_step_ = std::max(next_step_, now + first_retry);
}

void type_exchange::plan(const sender_table& senders, monotonic::time_point now) noexcept {
  next_step_ = monotonic::time_point::max();
  std::size_t turns = 0;
  auto first_waiting = monotonic::time_point::max();
  for (const sender& each : senders) {
    if (const type_transfer* const transfer = each.type.transfer.get()) {
      ++turns;
      next_step_ = std::min(next_step_, transfer->complete() ? std::max(now, next_comparison_) : transfer->ask_at);
    } else if (waits_for_turn(each)) {
      first_waiting = std::min(first_waiting, each.type.next_turn);
    }
  }
  if (turns < max_transfers) next_step_ = std::min(next_step_, first_waiting);
}

std::shared_ptr<upkeep> type_exchange::work(const sender_table& senders, monotonic::time_point now) noexcept {
  if (comparison_ && !comparison_->done()) return comparison_;
  if (comparison_ || now < next_comparison_) return nullptr;
  const sender* first = nullptr;
  for (const sender& each : senders) {
    const type_transfer* const transfer = each.type.transfer.get();
    if (transfer == nullptr || !transfer->complete()) continue;
    if (first == nullptr || transfer->began < first->type.transfer->began) first = &each;
  }
  if (first == nullptr) return nullptr;
  next_comparison_ = now + between_comparisons;
  try {
    comparison_ =
        std::make_shared<type_comparison>(first->from, first->type.hash, first->type.transfer->bytes, expected_);
  } catch (const std::bad_alloc&) {  // the next one goes on
  }
  return comparison_;
}

bool type_exchange::take_known(sender& whom) {
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const known& each) { return each.hash == whom.type.hash; });
  if (found == known_.end()) return false;
  settle(whom, about(found->problem, found->publisher, whom.from.text()));
  return true;
}

// The step that follows settles all senders of a known type.
void type_exchange::take_outcome(sender_table& senders, monotonic::time_point now) {
  const auto done = std::exchange(comparison_, nullptr);
  if (done->problem()) {
    known_[next_known_] = {done->hash(), *done->problem(), done->publisher()};
    next_known_ = (next_known_ + 1) % max_known;
    return;
  }
  sender* const whom = senders.find(done->from());
  if (whom != nullptr && whom->type.transfer && whom->type.hash == done->hash()) end_turn(*whom, now);
}

// Remembered for this sender only: another one may say something else about this hash.
void type_exchange::refuse_long(sender& whom) {
  const std::size_t longest = std::max(whom.type.transfer->size, expected_->description.schema.size());
  if (longest <= max_type_bytes) return;
  settle(whom, "the type at publisher `" + whom.from.text() + "` is another one than here, and a description of " +
                   std::to_string(longest) + " bytes is too long for multicast, which compares at most " +
                   std::to_string(max_type_bytes));
}

void type_exchange::settle(sender& whom, const std::string& problem) {
  whom.type.problem = problem;
  whom.type.verdict = problem.empty() ? type_verdict::matches : type_verdict::differs;
  whom.type.transfer.reset();
  whom.wants_report = problem.empty();
}

void type_exchange::end_turn(sender& whom, monotonic::time_point now) noexcept {
  whom.type.transfer.reset();
  whom.type.pause = std::clamp<monotonic::duration>(2 * whom.type.pause, first_pause, max_pause);
  whom.type.next_turn = now + whom.type.pause;
}

void type_exchange::begin_turn(sender& whom, monotonic::time_point now) {
  whom.type.transfer = std::make_unique<type_transfer>();
  type_transfer& transfer = *whom.type.transfer;
  transfer.began = transfer.moved = now;
  transfer.ask_every = first_retry;
  transfer.ask_at = now + first_retry;
  whom.wants_report = true;
}

}  // namespace orc::detail::multicast
