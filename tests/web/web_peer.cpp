// orc_test_web_peer: publishes what the tests of orc-web cannot publish from Python. Prints "ready" when its topics
// have samples, and ends by a signal.
//
// usage: orc_test_web_peer old TOPIC AGE_S | many COUNT
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "orc/participant.h"

namespace orc::test {

namespace {

void expect(const result& done) {
  if (!done) throw std::runtime_error(done.error().message());
}

participant_options named(const char* name) {
  participant_options options;
  options.name = name;
  return options;
}

publisher json_topic(participant& by, const std::string& topic, topic_options options = {}) {
  options.type = {"test.Text", "", "json", ""};
  expect(by.register_topic(topic, options).result());
  return by.publisher(topic);
}

std::int64_t realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void tell_ready() {
  std::puts("ready");
  std::fflush(stdout);
}

// One sample, which was sent some time ago.
void old(const std::string& topic, double age_s) {
  constexpr std::string_view sample = R"({"text":"the only one","number":42})";
  participant by(named("web peer"));
  publisher to = json_topic(by, topic);
  expect(to.send(sample.data(), sample.size(), realtime_ns() - static_cast<std::int64_t>(age_s * 1e9)));
  tell_ready();
  for (;;) ::pause();
}

// Topics many/00000 and so on, of many participants, each with a sample a second. Only the last one has a socket, which
// other processes can read: those of all would take most of the time.
void many(int count) {
  constexpr int of_each = 250;
  constexpr std::string_view sample = R"({"number":42})";
  std::vector<std::unique_ptr<participant>> participants;
  std::vector<publisher> topics;
  for (int i = 0; i < count; ++i) {
    if (i % of_each == 0) participants.push_back(std::make_unique<participant>(named("web peer")));
    std::string number = std::to_string(i);
    if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
    topic_options options;
    if (i + 1 < count) options.transports = {transport::inproc};
    topics.push_back(json_topic(*participants.back(), "many/" + number, std::move(options)));
  }
  bool first = true;
  for (auto due = std::chrono::steady_clock::now();; std::this_thread::sleep_until(due)) {
    for (publisher& each : topics) expect(each.send(sample.data(), sample.size()));
    if (std::exchange(first, false)) tell_ready();
    due += std::chrono::seconds(1);
  }
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "old") old(words[1], std::atof(words[2].c_str()));
  if (words.size() == 2 && words[0] == "many") many(std::atoi(words[1].c_str()));
  std::fputs("usage: orc_test_web_peer old TOPIC AGE_S | many COUNT\n", stderr);
  return 2;
}

}  // namespace

}  // namespace orc::test

int main(int argc, char** argv) {
  try {
    return orc::test::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orc_test_web_peer: %s\n", error.what());
    return 1;
  }
}
