// `orc record` on disks that are slow, full or read-only, and when it is killed.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>

#include "support/recorded.h"
#include "support/recorder_process.h"

using namespace orc;
using namespace orc::test;

namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Holds one thread of another program at the entry of its next write to a file: what a disk that hangs does to it. The
// other threads go on.
class stalled_writer {
 public:
  explicit stalled_writer(pid_t process) {
    for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
      std::string name;
      std::getline(std::ifstream(each.path() / "comm") >> std::ws, name);
      if (name == "record-write") thread_ = std::stoi(each.path().filename().string());
    }
    REQUIRE(thread_ != 0);
    REQUIRE(::ptrace(PTRACE_SEIZE, thread_, nullptr, PTRACE_O_TRACESYSGOOD) == 0);
    REQUIRE(::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0);
    REQUIRE(wait_for_stop());
  }
  ~stalled_writer() { release(); }
  stalled_writer(const stalled_writer&) = delete;
  stalled_writer& operator=(const stalled_writer&) = delete;

  // Returns when the thread is at a write.
  void hold_at_write() {
    for (;;) {
      REQUIRE(::ptrace(PTRACE_SYSCALL, thread_, nullptr, nullptr) == 0);
      REQUIRE(wait_for_stop());
      if (is_at_write()) return;
    }
  }
  void release() {
    if (thread_ != 0) ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
    thread_ = 0;
  }

 private:
  [[nodiscard]] bool wait_for_stop() const {
    return wait_until([this] {
      int status = 0;
      return ::waitpid(thread_, &status, __WALL | WNOHANG) == thread_ && WIFSTOPPED(status);
    });
  }
  [[nodiscard]] bool is_at_write() const {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread_, sizeof info, &info) <= 0) return false;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY && (info.entry.nr == SYS_pwritev || info.entry.nr == SYS_pwrite64 ||
                                                    info.entry.nr == SYS_writev || info.entry.nr == SYS_write);
  }

  pid_t thread_ = 0;
};

// Publishes a number each 0.5 ms, and remembers when.
class numbered_stream {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t size = 2'000;

  numbered_stream(const broker_process& broker, const std::string& topic)
      : source_(broker, topic), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  [[nodiscard]] bool is_heard() { return source_.is_heard(); }
  [[nodiscard]] bool is_unheard() {
    return wait_until([&] { return source_.node().publisher("topic").readers() == 0; });
  }
  // How many samples were sent until then; the numbers begin at 0.
  [[nodiscard]] std::size_t sent_until(clock::time_point when) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::upper_bound(sent_.begin(), sent_.end(), when) - sent_.begin());
  }

 private:
  void run(const std::stop_token& stop) {
    const std::string text(size, 'x');
    for (std::size_t i = 0; !stop.stop_requested(); ++i) {
      source_.send(std::to_string(i) + " " + text);
      {
        const std::lock_guard lock(mutex_);
        sent_.push_back(clock::now());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }

  source source_;
  std::mutex mutex_;
  std::vector<clock::time_point> sent_;
  std::jthread thread_;
};

std::uint64_t sum_of(const std::vector<std::string>& numbers) {
  std::uint64_t sum = 0;
  for (const auto& each : numbers) sum += std::stoull(each);
  return sum;
}

// In a mount namespace of its own, where `where` is a tmpfs.
std::string in_own_mounts(const std::string& mount, const std::string& command) {
  return "unshare --mount sh -c '" + mount + " && " + command + "'";
}

bool can_mount() {
  std::string why;
  return run_command({"unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"}, why);
}

}  // namespace

TEST_CASE("orc record drops the oldest samples when the disk hangs, goes on receiving, and notes what is missing") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  source sender(broker, "topic");
  source rare(broker, "rare");
  recorder_process recorder(orc, {"-o", file, "--buffer", "1MB"});
  REQUIRE(sender.is_heard());
  REQUIRE(rare.is_heard());
  const std::string text(1000, 'x');
  sender.send("first " + text);
  {
    stalled_writer disk(recorder.process().pid());
    disk.hold_at_write();
    rare.send("lost");
    for (int i = 0; i < 5'000; ++i) {
      sender.send(std::to_string(i) + " " + text);
      if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  sender.send("last " + text);
  CHECK(recorder.end() == 0);

  const recorded found = read_recording(file);
  CHECK(found.summary.closed);
  const auto samples = found.of("topic");
  REQUIRE(samples.size() > 2);
  CHECK(has(samples.back().data, "last"));
  CHECK(samples.size() < 4'000);
  // Every sample is in the file or in the account.
  const std::uint64_t dropped = sum_of(found.entries("orc.drops", "count"));
  const std::uint64_t missed = sum_of(found.entries("orc.missed", "count"));
  CHECK(samples.size() + found.of("rare").size() + dropped + missed == 5'003);
  CHECK(dropped > 0);
  for (const auto& each : found.metadata) {
    if (each.name != "orc.drops") continue;
    CHECK((each.entries.at("topic") == "topic" || each.entries.at("topic") == "rare"));
    CHECK(std::stoll(each.entries.at("first_ns")) <= std::stoll(each.entries.at("last_ns")));
    CHECK(std::stoll(each.entries.at("first_ns")) >= samples.front().received_ns);
    CHECK(std::stoll(each.entries.at("last_ns")) <= samples.back().received_ns);
  }
  CHECK(has(recorder.process().output(), "by a slow disk"));
}

TEST_CASE("a kill of orc record costs at most the last second") {
  const broker_process broker;
  const tool orc(broker);
  numbered_stream stream(broker, "topic");
  std::mt19937 random(15);
  const std::size_t kills = rounds(4, 1'000, 3);
  for (std::size_t i = 0; i < kills; ++i) {
    INFO("kill " << i);
    const std::string file = broker.directory().file("run.mcap");
    const bool split = i % 3 == 2;
    std::vector<std::string> words{"-o", file, "--force"};
    if (split) words.insert(words.end(), {"--split", "300kB"});
    std::size_t first = 0;
    numbered_stream::clock::time_point killed;
    {
      recorder_process recorder(orc, words);
      REQUIRE(stream.is_heard());
      first = stream.sent_until(numbered_stream::clock::now()) + 1;  // one may be on its way
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'500'000));
      killed = numbered_stream::clock::now();
      recorder.process().send_signal(SIGKILL);
      CHECK(recorder.process().wait_for_end() == -SIGKILL);
    }
    std::set<std::size_t> found;
    for (const auto& each : fs::directory_iterator(broker.directory().path())) {
      if (each.path().extension() != ".mcap") continue;
      std::unique_ptr<recording::reader> reader;
      // Killed before the magic was whole.
      if (fs::file_size(each.path()) < 100 && !recording::reader::open(each.path().string(), reader)) continue;
      for (const auto& one : read_recording(each.path().string()).samples) {
        CHECK(one.data.size() > numbered_stream::size);
        found.insert(std::stoul(one.data));
      }
    }
    std::size_t missing = 0;
    for (std::size_t number = first; number < stream.sent_until(killed - std::chrono::seconds(1)); ++number)
      if (!found.contains(number)) ++missing;
    CHECK(missing == 0);
    for (const auto& each : fs::directory_iterator(broker.directory().path()))
      if (each.path().extension() == ".mcap") fs::remove(each.path());
    REQUIRE(stream.is_unheard());
  }
}

namespace {

// 50 kB every 5 ms, until the thread is destroyed.
std::jthread send_large(source& to) {
  return std::jthread([&to](const std::stop_token& stop) {
    const std::string text(50'000, 'x');
    while (!stop.stop_requested()) {
      to.send(text);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
}

}  // namespace

TEST_CASE("orc record ends with a complete file and its own exit code when the disk is full") {
  if (!can_mount()) return skip("no mount namespaces here");
  const broker_process broker;
  const tool orc(broker);
  const std::string small = broker.directory().file("small");
  const std::string out = broker.directory().file("out.mcap");
  fs::create_directory(small);
  const stream quick(broker, "quick");
  source large(broker, "large");
  const std::jthread sending = send_large(large);
  const auto done = orc.run(
      in_own_mounts("mount -t tmpfs -o size=4m none " + small,
                    "$orc record -o " + small + "/x.mcap; code=$?; cp " + small + "/x.mcap " + out + "; exit $code"));
  INFO(done.err);
  CHECK(done.exit_code == 5);
  CHECK(has(done.err, "No space left on device"));
  const recorded found = read_recording(out);
  CHECK(found.summary.closed);
  CHECK(found.problems.empty());
  CHECK(found.of("large").size() > 20);
}

TEST_CASE("orc record leaves whole files and no empty one when the disk is full among splits") {
  if (!can_mount()) return skip("no mount namespaces here");
  const broker_process broker;
  const tool orc(broker);
  const std::string small = broker.directory().file("small");
  const std::string out = broker.directory().file("out");
  fs::create_directory(small);
  fs::create_directory(out);
  source large(broker, "large");
  const std::jthread sending = send_large(large);
  // So many files fit that the disk is full at a split, when no further file can be made.
  const auto done = orc.run(in_own_mounts(
      "mount -t tmpfs -o size=8m,nr_inodes=5 none " + small,
      "$orc record --split 300kB -o " + small + "/x.mcap; code=$?; cp " + small + "/* " + out + "; exit $code"));
  INFO(done.err);
  CHECK(done.exit_code == 5);
  CHECK(has(done.err, "No space left on device"));
  CHECK(has(done.err, "in 4 files"));
  std::size_t files = 0;
  for (const auto& each : fs::directory_iterator(out)) {
    INFO(each.path());
    ++files;
    const recorded found = read_recording(each.path().string());
    CHECK(found.summary.closed);
    CHECK(found.problems.empty());
    CHECK(found.of("large").size() >= 5);
  }
  CHECK(files == 4);
}

TEST_CASE("orc record says so when it may not write there") {
  const broker_process broker;
  const tool orc(broker);
  const auto absent = orc.run("$orc record -o " + broker.directory().file("no/such/x.mcap"));
  CHECK(absent.exit_code == 1);
  CHECK(has(absent.err, "no/such/x.mcap"));
  if (!can_mount()) return skip("no mount namespaces here");
  const std::string locked = broker.directory().file("locked");
  fs::create_directory(locked);
  const auto refused =
      orc.run(in_own_mounts("mount -t tmpfs -o ro none " + locked, "$orc record -o " + locked + "/x.mcap"));
  CHECK(refused.exit_code == 1);
  CHECK(has(refused.err, locked + "/x.mcap: Read-only file system"));
}
