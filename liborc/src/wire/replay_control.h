// What a replayed program and `orc replay` say to each other: a socket pair, and a page of counters that survives the
// program. Both are on one host and of one build, so numbers are as in memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace orc::wire {

// From the program. Then `size` bytes.
enum class replay_says : std::uint32_t {
  hello = 1,      // the first participant; bytes: the pid. Answer: go or stop
  differs = 2,    // a send: bytes: what was sent now; position: of the event. Answer: go (equal all the same) or stop
  diverged = 3,   // the program left its track; bytes: a sentence; position: of the event that was next. No answer
  finished = 4,   // all events are used up. No answer
  unreadable = 5  // the trace; bytes: a sentence; position: of the event that was next. No answer
};

struct replay_word {
  replay_says kind{};
  std::uint32_t reserved = 0;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
};

enum class replay_answer : std::uint8_t { go = 1, stop = 2 };

struct replay_counters {
  std::atomic<std::uint64_t> events;  // used up, of those that are calls
  std::atomic<std::uint64_t> receives;
  std::atomic<std::uint64_t> sends;
  std::atomic<std::uint64_t> waiting;  // threads, each until another made the calls before its own
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "both processes use them");

enum class replay_pace : std::uint8_t { fast, original };

}  // namespace orc::wire
