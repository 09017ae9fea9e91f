// The program of every peer: roles, measured loops, stamps and output. A peer's file has only the peer's own calls, as
// three classes:
//
//   node(const settings&)                                  // what one process has once
//   writer(node&, const std::string& topic, const settings&)
//     void send(bytes)                                     // throws when the sample cannot be sent
//   reader(node&, const std::string& topic, const settings&)
//     bool receive(int timeout_ms, const use_function&)    // hands one sample over; false: none came in time
//
// The bytes are valid inside the function only, so that no peer has to copy more than it must. Writers are made before
// readers. A constructor may wait for the other end's writer, not for its reader.
//
// Roles: `client` sends a sample and waits for its echo, `relay` sends on what it receives (the echo's other end, and
// the inner processes of a chain), `threads` is both in one process, `publisher` and `subscriber`. A program says
// `ready` when its ends are made, and `met` when the first sample came. It reads `go` from standard input; the end of
// standard input ends it. Its last line is JSON.
#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "settings.h"

namespace peers {

using use_function = std::function<void(bytes)>;

// The head of a sample. Samples of less than 16 bytes have no stamp. Number 0: not measured.
struct head {
  std::uint64_t number = 0;
  std::int64_t sent_ns = 0;
};

inline void stamp(std::vector<std::byte>& sample, const head& h) noexcept {
  std::memcpy(sample.data(), &h, std::min(sizeof h, sample.size()));
}
inline head head_of(bytes sample) noexcept {
  head h;
  std::memcpy(&h, sample.data(), std::min(sizeof h, sample.size()));
  return h;
}

// What the harness says, on a thread of its own.
class orders {
 public:
  orders() {
    std::thread([this] {
      char c = 0;
      while (::read(STDIN_FILENO, &c, 1) == 1) go_ = true;
      over_ = true;
    }).detach();
  }
  [[nodiscard]] bool go() const noexcept { return go_; }
  [[nodiscard]] bool over() const noexcept { return over_; }

 private:
  std::atomic<bool> go_{false};
  std::atomic<bool> over_{false};
};

inline void say(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

// Microseconds at a share of the sorted list; 0 of an empty one.
inline double quantile_us(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return static_cast<double>(sorted[static_cast<std::size_t>(share * last + 0.5)]) / 1000;
}

// Memory that is this process's own, with its part of what it shares, in kB.
inline std::uint64_t memory_kb() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    std::uint64_t kb = 0;
    if (word == "Pss:" && rollup >> kb) return kb;
  }
  return 0;
}

// `name`_p50_us and so on, divided by `parts`: a round trip has two.
inline void print_times(const char* name, std::vector<std::int64_t>& ns, double parts) {
  std::sort(ns.begin(), ns.end());
  for (const auto& [label, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"max", 1.0}}) {
    std::printf("\"%s_%s_us\": %.3f, ", name, label, quantile_us(ns, share) / parts);
  }
}

// The measuring end of the echo.
template <class Writer, class Reader>
class client {
 public:
  client(Writer& out, Reader& in, const settings& s, const orders& told)
      : out_(out), in_(in), settings_(s), told_(told), sample_(s.size, std::byte{0x5a}) {}

  // Throws when the other end does not answer.
  void run() {
    const std::int64_t deadline = now_ns() + connect_within_ms * std::int64_t{1'000'000};
    // on a busy machine, a large sample is on its way for longer than the first look
    for (int timeout_ms = look_ms; !round_trip(timeout_ms); timeout_ms = std::min(2 * timeout_ms, 1000)) {
      if (told_.over() || now_ns() > deadline) throw std::runtime_error("no echo came back");
    }
    say("met");
    measure(settings_.seconds / 4);
    ns_.clear();
    measure(settings_.seconds);
    std::printf("{");
    print_times("echo", ns_, 2);
    std::printf("\"count\": %zu}\n", ns_.size());
  }

 private:
  static constexpr std::size_t most = 400'000;
  static constexpr std::size_t least = 5;

  // Ends after `seconds`, but not before some round trips.
  void measure(double seconds) {
    ns_.reserve(most);
    const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (ns_.size() < most && (now_ns() < end || ns_.size() < least)) {
      const std::int64_t before = now_ns();
      if (round_trip(1000)) {
        ns_.push_back(now_ns() - before);
      } else if (told_.over() || ++lost_ > 3) {
        throw std::runtime_error("samples are lost");
      }
    }
  }

  bool round_trip(int timeout_ms) {
    stamp(sample_, {++number_, 0});
    out_.send(sample_);
    bool mine = false;
    const use_function look = [&](bytes reply) {
      mine = reply.size() == sample_.size() && head_of(reply).number == number_;
    };
    while (in_.receive(timeout_ms, look)) {
      if (mine) return true;
    }
    return false;
  }

  Writer& out_;
  Reader& in_;
  const settings& settings_;
  const orders& told_;
  std::vector<std::byte> sample_;
  std::vector<std::int64_t> ns_;
  std::uint64_t number_ = 0;
  int lost_ = 0;
};

template <class Writer, class Reader, class Over>
void relay(Writer& out, Reader& in, const Over& over) {
  const use_function forward = [&](bytes sample) { out.send(sample); };
  while (!over()) in.receive(look_ms, forward);
}

template <class Writer>
void publish(Writer& out, const settings& s, const orders& told) {
  std::vector<std::byte> sample(s.size, std::byte{0x5a});
  while (!told.go()) {
    if (told.over()) return;
    stamp(sample, {0, now_ns()});
    out.send(sample);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto count = static_cast<std::uint64_t>(s.seconds * s.hz);
  const double period = 1e9 / s.hz;
  std::vector<std::int64_t> call_ns(count);
  const std::int64_t cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < count && !told.over(); ++i) {
    // late samples are sent at once, so that the rate holds
    sleep_until_ns(start + static_cast<std::int64_t>(period * static_cast<double>(i + 1)));
    const std::int64_t before = now_ns();
    stamp(sample, {i + 1, before});
    out.send(sample);
    call_ns[i] = now_ns() - before;
  }
  const auto took = static_cast<double>(now_ns() - start);
  const auto cpu = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before);
  std::printf("{");
  print_times("call", call_ns, 1);
  std::printf("\"cpu_us\": %.3f, \"memory_kb\": %llu, \"sent\": %llu, \"achieved_hz\": %.1f}\n",
              cpu / 1000 / static_cast<double>(count), static_cast<unsigned long long>(memory_kb()),
              static_cast<unsigned long long>(count), static_cast<double>(count) * 1e9 / took);
  std::fflush(stdout);
  while (!told.over()) std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the last samples are under way
}

template <class Reader>
void subscribe(Reader& in, const orders& told) {
  std::vector<std::int64_t> age_ns;
  age_ns.reserve(1'000'000);
  std::uint64_t previous = 0;
  std::uint64_t disordered = 0;
  bool met = false;
  const use_function take = [&](bytes sample) {
    const std::int64_t now = now_ns();
    const head h = head_of(sample);
    if (!std::exchange(met, true)) say("met");
    if (h.number == 0) return;
    disordered += h.number <= previous ? 1 : 0;
    previous = h.number;
    age_ns.push_back(now - h.sent_ns);
  };
  while (!told.over()) in.receive(look_ms, take);
  std::printf("{");
  print_times("age", age_ns, 1);
  std::printf("\"received\": %zu, \"disordered\": %llu, \"newest\": %llu}\n", age_ns.size(),
              static_cast<unsigned long long>(disordered), static_cast<unsigned long long>(previous));
}

template <class Node, class Writer, class Reader>
void play_role(const settings& s, const orders& told) {
  Node node(s);
  if (s.role == "publisher") {
    Writer out(node, s.out, s);
    say("ready");
    publish(out, s, told);
  } else if (s.role == "subscriber") {
    Reader in(node, s.in, s);
    say("ready");
    subscribe(in, told);
  } else {
    Writer out(node, s.out, s);
    Reader in(node, s.in, s);
    say("ready");
    if (s.role == "relay")
      relay(out, in, [&] { return told.over(); });
    else
      client<Writer, Reader>(out, in, s, told).run();
  }
}

// Client and relay in one process, each with a node of its own.
template <class Node, class Writer, class Reader>
void play_threads(settings s, const orders& told) {
  std::atomic<bool> over{false};
  settings other = s;
  std::swap(other.in, other.out);
  s.role = "client";
  std::exception_ptr failed;
  std::thread echo([&] {
    try {
      Node node(other);
      Writer out(node, other.out, other);
      Reader in(node, other.in, other);
      relay(out, in, [&] { return over.load(); });
    } catch (...) {
      failed = std::current_exception();
    }
  });
  try {
    play_role<Node, Writer, Reader>(s, told);
  } catch (...) {
    failed = std::current_exception();
  }
  over = true;
  echo.join();
  if (failed) std::rethrow_exception(failed);
}

template <class Node, class Writer, class Reader>
int run(int argc, char** argv) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  static const orders told;
  int status = 0;
  try {
    const settings s = settings_of(argc, argv);
    if (s.role == "threads")
      play_threads<Node, Writer, Reader>(s, told);
    else
      play_role<Node, Writer, Reader>(s, told);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  std::fflush(stdout);
  return status;
}

}  // namespace peers
