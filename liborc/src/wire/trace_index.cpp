#include "wire/trace_index.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "orc/result.h"

namespace orc::wire {

namespace {

constexpr std::size_t max_threads = 65536;
constexpr std::size_t max_calls = UINT32_MAX;

[[nodiscard]] constexpr bool has_topic(trace_kind kind) noexcept {
  return kind >= trace_kind::participant && kind <= trace_kind::release_topic && kind != trace_kind::participant_end;
}

}  // namespace

detail::expected<trace_index> trace_index::make(trace_reader& from) {
  trace_index made;
  while (const auto entry = from.next()) {
    if (!made.add(*entry, from)) return orc::error(errc::bad_argument, "it was changed while it was read");
    if (made.threads_.size() > max_threads)
      return orc::error(errc::bad_argument, "it names more than " + std::to_string(max_threads) + " threads");
    if (made.calls_.size() == max_calls)
      return orc::error(errc::bad_argument, "it has more calls than can be replayed");
  }
  made.look_for_obstacles();
  return made;
}

bool trace_index::add(const trace_entry& entry, const trace_reader& from) {
  const trace_head& head = entry.head;
  std::optional<trace_event> event;
  if (has_topic(head.kind) || head.kind == trace_kind::unseen) {
    event = from.at(entry.position);
    if (!event) return false;
  }
  switch (head.kind) {
    case trace_kind::type: types_.emplace(head.sequence, entry.position); return true;
    case trace_kind::readiness: pending_[head.thread] = head.sequence; return true;
    case trace_kind::unseen:
      if (std::find(unseen_.begin(), unseen_.end(), event->text) == unseen_.end() && unseen_.size() < 16)
        unseen_.emplace_back(event->text);
      return true;
    case trace_kind::participant_end: --living_; return true;
    case trace_kind::participant: ++living_; break;
    case trace_kind::register_topic:
    case trace_kind::request_topic:
      if (head.number != 0)
        endpoints_.insert_or_assign(head.number, endpoint{std::string(event->bytes_as_text()), head.sequence});
      break;
    case trace_kind::descriptor: bit_of_.emplace(head.number, head.sequence); break;
    default: break;
  }
  const auto fresh = static_cast<std::uint32_t>(threads_.size());
  const std::uint32_t thread = thread_of_.try_emplace(head.thread, fresh).first->second;
  if (thread == fresh) threads_.emplace_back();
  const auto index = static_cast<std::uint32_t>(calls_.size());
  threads_[thread].push_back(index);
  calls_.push_back({entry.position, head.at_ns, thread, head.number, head.kind, head.status});
  if (event) topics_.emplace(index, event->bytes_as_text());
  if (head.kind != trace_kind::receive) return true;
  if (const auto bits = pending_.find(head.thread); bits != pending_.end()) {
    readable_.emplace(index, bits->second);
    pending_.erase(bits);
  }
  return true;
}

const std::string* trace_index::topic_of(std::uint32_t index) const noexcept {
  const auto found = topics_.find(index);
  return found != topics_.end() ? &found->second : nullptr;
}

const trace_index::endpoint* trace_index::find(std::uint32_t number) const noexcept {
  const auto found = endpoints_.find(number);
  return found != endpoints_.end() ? &found->second : nullptr;
}

std::optional<std::uint64_t> trace_index::type(std::uint64_t hash) const noexcept {
  const auto found = types_.find(hash);
  return found != types_.end() ? std::optional(found->second) : std::nullopt;
}

bool trace_index::was_readable(std::uint32_t receive, std::uint32_t number) const noexcept {
  const auto bits = readable_.find(receive);
  const auto bit = bit_of_.find(number);
  return bits != readable_.end() && bit != bit_of_.end() && bit->second < 64 && (bits->second >> bit->second & 1) != 0;
}

std::string trace_index::text_of(const call& which) const {
  std::string text(name_of(which.kind));
  if (const endpoint* const of = find(which.number); of != nullptr && which.kind != trace_kind::participant)
    text += " on topic " + of->topic;
  return text;
}

void trace_index::look_for_obstacles() {
  look_for_shared_topics();
  look_for_equal_threads();
  for (const std::string& each : unseen_)
    obstacles_.push_back("the program calls " + each + ", whose results are not in a trace");
}

// Two threads that take turns on one topic get its samples by chance. One after the other is in order.
void trace_index::look_for_shared_topics() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> receivers;  // subscription: threads, in the order of their turns
  std::set<std::uint32_t> reported;
  for (const call& each : calls_) {
    if (each.kind != trace_kind::receive || reported.count(each.number) != 0) continue;
    auto& turns = receivers[each.number];
    if (!turns.empty() && turns.back() == each.thread) continue;
    if (std::find(turns.begin(), turns.end(), each.thread) == turns.end()) {
      turns.push_back(each.thread);
      continue;
    }
    const endpoint* const of = find(each.number);
    reported.insert(each.number);
    obstacles_.push_back("several threads receive on topic " + (of != nullptr ? of->topic : "?") +
                         " in turn: chance decides which of them gets a sample");
  }
}

// A replay knows a thread by its first call. Threads that do not overlap come in the same order again.
void trace_index::look_for_equal_threads() {
  struct group {
    std::uint32_t last = 0;  // call of its threads so far
    bool reported = false;
  };
  std::map<std::tuple<trace_kind, std::uint32_t, std::string>, group> groups;
  for (const auto& own : threads_) {
    const call& first = calls_[own.front()];
    const std::string* const topic = topic_of(own.front());
    const auto [known, fresh] = groups.try_emplace(
        {first.kind, topic != nullptr ? 0 : first.number, topic != nullptr ? *topic : std::string()});
    group& of = known->second;
    if (!fresh && !of.reported && own.front() < of.last) {
      of.reported = true;
      obstacles_.push_back("several threads begin with " + text_of(first) +
                           " at a time: a replay cannot tell them apart, because it knows a thread by its first call");
    }
    of.last = std::max(of.last, own.back());
  }
}

}  // namespace orc::wire
