// Programs that are traced and replayed by tests/integration/replay_test.cpp: orc_test_replayed WHAT [GAIN].
// Each prints "enough" when its trace is worth a replay, and goes on until it is killed.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

#include "orc.h"
#include "orc/typed.h"

namespace test {

struct state {
  std::uint64_t count;
  float q[7];
};
ORC_DESCRIBE(state, (count), (q, "rad"))

struct command {
  std::uint8_t mode;  // then padding
  double n;
  float tau[7];
};
ORC_DESCRIBE(command, (mode), (n), (tau, "Nm"))

}  // namespace test

namespace {

constexpr int enough = 1500;  // sends

void count_send() {
  static std::atomic<int> sends{0};
  if (++sends == enough) {
    std::puts("enough");
    std::fflush(stdout);
  }
}

// Padding with what happens to lie there.
test::command dirty() {
  static unsigned char dirt = 0;
  test::command made;
  std::memset(&made, ++dirt, sizeof made);
  return made;
}

// Polls and waits in turn; uses the age, the clock, the link and what was missed.
int control(orc::participant& node, float gain) {
  auto commands = node.register_topic<test::command>("test/command");
  auto states = node.request_topic<test::state>("test/state");
  double sum = 0;
  for (int i = 0;; ++i) {
    const auto sample = states.recv(i % 3 == 0 ? 0 : 5);
    if (sample.status() == orc::errc::closed) return 0;
    if (sample) sum += static_cast<double>(sample.missed()) + static_cast<double>(sample.age_ns()) * 1e-9;
    if (i % 7 == 0 && states.untyped().connected()) sum += 1;
    test::command next = dirty();
    next.mode = static_cast<std::uint8_t>(i);
    next.n = sum + static_cast<double>(orc::monotonic_ns() % 1000);
    for (int joint = 0; joint < 7; ++joint)
      next.tau[joint] = sample && joint == 3 ? gain * sample->q[joint] : static_cast<float>(joint);
    if (commands.send(next)) count_send();
  }
}

// One thread, two descriptors, and a send per round: it depends on which descriptors a poll found together.
int poll_two(orc::participant& node) {
  (void)node.register_topic("test/command");
  (void)node.request_topic("test/state");
  (void)node.request_topic("test/other");
  auto first = node.subscriber("test/state");
  auto second = node.subscriber("test/other");
  pollfd both[] = {{first.fd(), POLLIN, 0}, {second.fd(), POLLIN, 0}};
  for (std::uint64_t round = 0;; ++round) {
    std::uint64_t found[] = {round, 0, 0};
    if (poll(both, 2, 100) < 0) return 1;
    orc::errc status = orc::errc::ok;
    for (int each = 0; each < 2; ++each) {
      if (both[each].revents == 0) continue;
      for (;;) {
        const auto sample = (each == 0 ? first : second).recv(0);
        status = sample.status();
        if (!sample) break;
        found[each + 1] = sample.sequence();
      }
      if (status == orc::errc::closed) return 0;
    }
    if (node.send_msg("test/command", found, sizeof found)) count_send();
  }
}

void echo(orc::subscriber from, orc::publisher to) {
  for (;;) {
    const auto sample = from.recv(50);
    if (sample.status() == orc::errc::closed) return;
    const std::uint64_t sequence = sample.sequence();
    if (sample && to.send(&sequence, sizeof sequence)) count_send();
  }
}

// A thread per topic, or two on one.
int threads(orc::participant& node, bool on_one_topic) {
  (void)node.register_topic("test/command");
  (void)node.request_topic("test/state");
  (void)node.request_topic("test/other");
  const char* const second = on_one_topic ? "test/state" : "test/other";
  std::jthread one(echo, node.subscriber("test/state"), node.publisher("test/command"));
  std::jthread two(echo, node.subscriber(second), node.publisher("test/command"));
  return 0;
}

// Cuts the file of its own replay on the way.
int cut(orc::participant& node) {
  (void)node.register_topic("test/command");
  for (int i = 0;; ++i) {
    const char* const file = std::getenv("ORC_REPLAY");
    if (i == enough / 2 && file != nullptr && truncate(file, 5000) != 0) return 1;
    const auto sent = node.send_msg("test/command", &i, sizeof i);
    if (sent.code() == orc::errc::closed) return 0;
    if (sent) count_send();
  }
}

// Two threads hold one lock of their own during their calls. `first` gets it before the other.
int locks(orc::participant& node, std::string_view first) {
  (void)node.register_topic("test/command");
  (void)node.register_topic("test/echo");
  std::mutex shared;
  std::atomic<bool> held{false};
  const auto run = [&](const char* topic, bool begins) {
    auto to = node.publisher(topic);
    if (!begins) held.wait(false);
    const std::lock_guard lock(shared);
    held = true;
    held.notify_all();
    for (int i = 0; i < enough * 2 / 3; ++i) {
      if (to.send(&i, sizeof i)) count_send();
    }
  };
  std::jthread one(run, "test/command", first == "one");
  std::jthread two(run, "test/echo", first == "two");
  return 0;
}

// Makes participants without a log, and 6 MB of a trace each.
int mute() {
  for (int each = 0; each < 2; ++each) {
    orc::participant node(orc::participant_options{.name = "mute"});
    for (int i = 0; i < 100'000; ++i) (void)orc::monotonic_ns();
  }
  std::puts("went on");
  return 0;
}

// Sends loans and received messages, and ends by itself.
int forward(orc::participant& node) {
  (void)node.register_topic("test/command");
  (void)node.request_topic("test/state", {.connected_within = std::chrono::milliseconds(20'000)});
  auto to = node.publisher("test/command");
  auto from = node.subscriber("test/state");
  for (int i = 0; i < 200; ++i) {
    auto sample = from.recv(1000);
    if (i % 2 == 0) {
      (void)to.send(std::move(sample));
      continue;
    }
    auto loan = to.loan(sample.size());
    if (!loan) return 1;
    (void)sample.copy_to(loan.data(), loan.size());
    (void)to.send(std::move(loan));
  }
  (void)node.release_topic("test/state");
  (void)node.unregister_topic("test/command");
  return from.recv(0).status() == orc::errc::closed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "mute") return mute();
  orc::participant node(
      orc::participant_options{.name = "replayed", .log = [](orc::log_level level, std::string_view text) {
                                 if (level <= orc::log_level::warning)
                                   std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
                               }});
  if (what == "control") return control(node, argc > 2 ? std::strtof(argv[2], nullptr) : 2.0F);
  if (what == "poll") return poll_two(node);
  if (what == "threads") return threads(node, false);
  if (what == "one-topic") return threads(node, true);
  if (what == "forward") return forward(node);
  if (what == "cut") return cut(node);
  if (what == "locks") return locks(node, argc > 2 ? argv[2] : "one");
  return 2;
}
