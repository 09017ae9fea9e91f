#include "core/trace/replay_turns.h"

#include <algorithm>

namespace orc::detail {

namespace {

using wire::trace_event;
using wire::trace_kind;

constexpr std::uint32_t none = UINT32_MAX;

// The part that the calling thread plays.
thread_local std::uint32_t my_part = none;

// Clocks keep their order within a thread only. A Python thread reads them while it holds the interpreter's lock, so
// they must not wait for another thread's call.
[[nodiscard]] bool is_clock(trace_kind kind) noexcept { return kind == trace_kind::age || kind == trace_kind::clock; }

}  // namespace

result replay_turns::begin(const std::string& path, const std::string& control) {
  result begun = read(path);
  if (begun) begun = channel_.open(control);
  over_ = !begun;
  if (begun && !index_->calls().empty()) clock_.set(channel_.pace(), index_->calls().front().at_ns);
  return begun;
}

result replay_turns::read(const std::string& path) {
  auto file = readable_file::open(path);
  if (!file) return file.error();
  auto reader = wire::trace_reader::open(*std::move(file));
  if (!reader) return reader.error();
  reader_ = *std::move(reader);
  auto index = wire::trace_index::make(*reader_);
  if (!index) return index.error();
  index_ = *std::move(index);
  positions_.resize(index_->threads().size());
  taken_.resize(index_->threads().size());
  skip_clocks();
  return {};
}

bool replay_turns::fits(const wanted& call, std::uint32_t index) const {
  const auto& recorded = index_->calls()[index];
  if (recorded.kind != call.kind) return false;
  if (call.topic.data() == nullptr) return recorded.number == call.number;
  const std::string* const topic = index_->topic_of(index);
  return topic != nullptr && *topic == call.topic;
}

bool replay_turns::find_part(const wanted& call) {
  if (my_part != none) return true;
  const auto& threads = index_->threads();
  for (std::uint32_t part = 0; part < threads.size(); ++part) {
    if (taken_[part] || !fits(call, threads[part].front())) continue;
    taken_[part] = true;
    my_part = part;
    return true;
  }
  return false;
}

std::optional<trace_event> replay_turns::take(const wanted& call) {
  std::unique_lock lock(mutex_);
  if (over_) return std::nullopt;
  if (!find_part(call)) {
    diverge(call, std::nullopt);
    return std::nullopt;
  }
  const auto& own = index_->threads()[my_part];
  // A thread may be in a call when the program was killed: it waits for the end of the others.
  if (positions_[my_part] == own.size()) {
    if (!is_clock(call.kind)) turn_.wait(lock, [&] { return over_; });
    return std::nullopt;
  }
  const std::uint32_t index = own[positions_[my_part]];
  if (!fits(call, index)) {
    diverge(call, index);
    return std::nullopt;
  }
  if (!is_clock(call.kind) && !wait_for_turn(lock, index)) return std::nullopt;
  const std::uint64_t position = index_->calls()[index].position;
  auto event = reader_->at(position);
  if (!event) {
    end(wire::replay_says::unreadable, position, "the trace was changed or cut while it is replayed");
    return std::nullopt;
  }
  if (call.kind == trace_kind::send && !is_equal(*event, call.sent)) {
    finish();
    return std::nullopt;
  }
  advance(index);
  return event;
}

bool replay_turns::wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint32_t index) {
  if (next_ != index) {
    auto& waiting = channel_.counters().waiting;
    waiting.fetch_add(1, std::memory_order_relaxed);
    turn_.wait(lock, [&] { return over_ || next_ == index; });
    waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  clock_.start();
  if (const auto due = clock_.due(index_->calls()[index].at_ns)) turn_.wait_until(lock, *due, [&] { return over_; });
  return !over_;
}

// `orc replay` decides about different bytes: it knows the type, and whether to keep going.
bool replay_turns::is_equal(const trace_event& recorded, std::span<const std::byte> sent) {
  if (std::equal(sent.begin(), sent.end(), recorded.bytes.begin(), recorded.bytes.end())) return true;
  return channel_.say(wire::replay_says::differs, recorded.position, sent) == wire::replay_answer::go;
}

void replay_turns::advance(std::uint32_t index) {
  const auto& calls = index_->calls();
  ++positions_[my_part];
  announce(my_part);
  if (is_clock(calls[index].kind)) return;
  ++next_;
  skip_clocks();
  auto& counters = channel_.counters();
  counters.events.store(next_, std::memory_order_relaxed);
  if (calls[index].kind == trace_kind::receive) counters.receives.fetch_add(1, std::memory_order_relaxed);
  if (calls[index].kind == trace_kind::send) counters.sends.fetch_add(1, std::memory_order_relaxed);
  turn_.notify_all();
  if (next_ == calls.size()) end(wire::replay_says::finished, reader_->end(), {});
}

void replay_turns::skip_clocks() noexcept {
  while (next_ < index_->calls().size() && is_clock(index_->calls()[next_].kind)) ++next_;
}

void replay_turns::announce(std::uint32_t part) { descriptors_.announce(*index_, part, positions_[part], clock_); }

int replay_turns::descriptor(std::uint32_t subscription) {
  const std::lock_guard lock(mutex_);
  const int found = descriptors_.of(subscription);
  for (std::uint32_t part = 0; part < positions_.size(); ++part) {
    if (taken_[part]) announce(part);
  }
  return found;
}

void replay_turns::diverge(const wanted& call, std::optional<std::uint32_t> recorded) {
  const auto& calls = index_->calls();
  std::string text = "the program calls " + std::string(wire::name_of(call.kind));
  const auto* const of = index_->find(call.number);
  if (call.topic.data() != nullptr)
    text += " of topic " + std::string(call.topic);
  else if (of != nullptr && call.kind != trace_kind::participant)
    text += " on topic " + of->topic;
  text += recorded ? "; in the trace it called " + index_->text_of(calls[*recorded])
                   : "; in the trace no further thread began with this call";
  const std::uint32_t at = recorded.value_or(next_);
  end(wire::replay_says::diverged, at < calls.size() ? calls[at].position : reader_->end(), text);
}

void replay_turns::end(wire::replay_says kind, std::uint64_t position, const std::string& why) {
  channel_.say(kind, position, std::as_bytes(std::span(why)));
  finish();
}

// All threads get errc::closed from here on, also those that poll.
void replay_turns::finish() noexcept {
  over_ = true;
  descriptors_.finish();
  turn_.notify_all();
}

}  // namespace orc::detail
