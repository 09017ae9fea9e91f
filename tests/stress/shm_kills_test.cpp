// contract.md 5 over shared memory: whoever dies at whatever instruction, the others read whole samples in order, the
// stream goes on, and nothing stays behind.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/forked.h"
#include "support/proc_stats.h"
#include "support/told_samples.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// But for those of Zenoh programs, which other tests start meanwhile.
[[nodiscard]] std::set<std::string> shared_files() {
  std::set<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator("/dev/shm")) {
    if (each.path().extension() != ".zenoh") names.insert(each.path().filename());
  }
  return names;
}

constexpr std::size_t readers = 3;
constexpr std::size_t largest = 300'000;
constexpr const char* topic = "killed/stream";

// What the children say; it outlives them.
struct report {
  struct of_reader {
    std::atomic<std::uint64_t> received{0};
    std::atomic<std::uint64_t> torn{0};       // not the bytes that were sent, when it came
    std::atomic<std::uint64_t> changed{0};    // nor when it went
    std::atomic<std::uint64_t> backwards{0};  // not newer than the one before
    std::atomic<std::uint64_t> failed{0};     // calls
    std::atomic<std::uint32_t> life{0};       // of the publisher
  };
  std::array<of_reader, readers> reader;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> send_failed{0};
  std::atomic<std::uint64_t> register_failed{0};
};

// Small ones, and more and more large ones: every life goes through several generations.
std::size_t size_of(std::minstd_rand& random, std::uint32_t number) {
  const std::size_t limit = std::min<std::size_t>(largest, std::size_t{100} << std::min<std::uint32_t>(number / 3, 20));
  return told::smallest + random() % (random() % 8 == 0 ? limit : std::min<std::size_t>(limit, 3000));
}

void publish(const orc::participant_options& options, report& r, std::uint32_t life) {
  orc::participant participant(options);
  // The one before is dead, so its name is free.
  if (!participant.register_topic(topic, {.transports = {orc::transport::shm}, .history = 4}).result())
    ++r.register_failed;
  auto publisher = participant.publisher(topic);
  std::minstd_rand random(life);
  std::vector<unsigned char> sample(largest + told::smallest);
  for (std::uint32_t number = 1;; ++number) {
    const std::size_t size = size_of(random, number);
    const told content{life, number};
    bool ok = false;
    if (number % 2 == 0) {
      content.write(sample.data(), size);
      ok = static_cast<bool>(publisher.send(sample.data(), size));
    } else if (auto filled = publisher.loan(size)) {
      content.write(static_cast<unsigned char*>(filled.data()), size);
      ok = static_cast<bool>(publisher.send(std::move(filled)));
    }
    ++(ok ? r.sent : r.send_failed);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// Each in its own way: the newest, the next, some of both; and holds several for a while.
class reading {
 public:
  reading(report::of_reader& r, std::size_t which)
      : report_(r), which_(which), random_(static_cast<unsigned>(::getpid())) {}

  void run(const orc::participant_options& options) {
    orc::participant participant(options);
    orc::request_options wanted{.transports = {orc::transport::shm}, .max_messages = most};
    if (which_ == 1) wanted.conflate = 0;
    if (!participant.request_topic(topic, wanted).result()) ++report_.failed;
    auto subscriber = participant.subscriber(topic);
    const int fd = which_ == 2 ? subscriber.fd() : -1;
    for (;;) {
      if (fd >= 0) static_cast<void>(readable(fd, 50));
      const int wait_ms = fd >= 0 ? 0 : 50;
      auto got = random_() % 2 == 0 ? subscriber.recv(wait_ms) : subscriber.recv_next(wait_ms);
      if (got)
        take(std::move(got));
      else if (got.status() != orc::errc::timed_out && got.status() != orc::errc::nothing_new)
        ++report_.failed;
    }
  }

 private:
  static constexpr std::size_t most = 4;

  void take(orc::message&& got) {
    told content;
    if (!told::read(got, content) || content.number != got.sequence()) {
      ++report_.torn;
    } else if (content.life < last_.life || (content.life == last_.life && content.number <= last_.number)) {
      ++report_.backwards;
    }
    last_ = content;
    held_.push_back(std::move(got));
    while (held_.size() >= most || (!held_.empty() && random_() % 3 == 0)) drop(random_() % held_.size());
    report_.life = content.life;
    ++report_.received;
  }
  void drop(std::size_t n) {
    const auto it = held_.begin() + static_cast<std::ptrdiff_t>(n);
    told content;
    if (!told::read(*it, content) || content.number != it->sequence()) ++report_.changed;
    held_.erase(it);
  }

  report::of_reader& report_;
  const std::size_t which_;
  std::minstd_rand random_;
  told last_;
  std::deque<orc::message> held_;
};

class scene {
 public:
  explicit scene(unsigned seed) : random_(seed) {
    start_publisher();
    for (std::size_t n = 0; n < readers; ++n) start_reader(n);
    REQUIRE(resumed());
  }

  // Number 0 is the publisher. Sometimes several times before it got anywhere.
  void kill_and_restart(std::size_t who) {
    if (random_() % 3 == 0) {
      work_for(std::chrono::microseconds(random_() % (random_() % 2 == 0 ? 300 : 10'000)));
    } else {
      REQUIRE(resumed());
      work_for(std::chrono::microseconds(random_() % (random_() % 2 == 0 ? 3000 : 40'000)));
    }
    auto& victim = who == 0 ? publisher_ : reader_[who - 1];
    died_otherwise_ += victim->kill() ? 0u : 1u;
    ++kills_;
    if (who == 0)
      start_publisher();
    else
      start_reader(who - 1);
  }
  [[nodiscard]] std::size_t any() { return random_() % (readers + 1); }

  // Every reader gets samples of the publisher that lives now.
  [[nodiscard]] bool resumed() {
    std::array<std::uint64_t, readers> before{};
    for (std::size_t n = 0; n < readers; ++n) before[n] = said_->reader[n].received;
    return wait_until([&] {
      for (std::size_t n = 0; n < readers; ++n) {
        const auto& each = said_->reader[n];
        if (each.life != life_ || each.received <= before[n]) return false;
      }
      return true;
    });
  }

  // One segment, and a page per reader; at the readers', one of each. All of it mapped, and none of the rest open.
  [[nodiscard]] bool settled() {
    if (stats_of(publisher_->pid()).shm_mapped != 1 + readers) return false;
    for (const auto& each : reader_) {
      const auto stats = stats_of(each->pid());
      if (stats.shm_mapped != 2 || stats.shm_fds != 0) return false;
    }
    return stats_of(publisher_->pid()).shm_fds == 1;
  }

  void check() {
    CHECK(resumed());
    CHECK(died_otherwise_ == 0);
    CHECK(said_->send_failed == 0);
    CHECK(said_->register_failed == 0);
    std::uint64_t received = 0;
    for (const auto& each : said_->reader) {
      received += each.received;
      CHECK(each.torn == 0);
      CHECK(each.changed == 0);
      CHECK(each.backwards == 0);
      CHECK(each.failed == 0);
    }
    std::printf("%zu kills, %lu samples sent, %lu received\n", kills_, static_cast<unsigned long>(said_->sent.load()),
                static_cast<unsigned long>(received));
    CHECK(wait_until([&] { return settled(); }));
    CHECK(shared_files() == shared_before_);
    // The live publisher's and the broker's. A participant that comes leaves the youngest alone, so several may be
    // needed.
    CHECK(wait_until([&] {
      forked([&] {
        orc::participant next(address_broker_.options());
        static_cast<void>(next.register_topic("later"));
      }).wait();
      return wait_until([&] { return sockets() <= 2; }, std::chrono::milliseconds(500));
    }));
  }

  [[nodiscard]] pid_t pid_of(std::size_t who) const { return who == 0 ? publisher_->pid() : reader_[who - 1]->pid(); }

 private:
  void start_publisher() {
    ++life_;
    publisher_.emplace([this] { publish(address_broker_.options("publisher"), *said_, life_); });
  }
  void start_reader(std::size_t n) {
    reader_[n].emplace([this, n] { reading(said_->reader[n], n).run(address_broker_.options("reader")); });
  }
  [[nodiscard]] std::size_t sockets() const {
    std::size_t n = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(address_broker_.directory().path()))
      n += each.is_socket() ? 1u : 0u;
    return n;
  }

  broker_process address_broker_;
  shared_with_children<report> said_;
  std::optional<forked> publisher_;
  std::array<std::optional<forked>, readers> reader_;
  std::minstd_rand random_;
  std::uint32_t life_ = 0;
  // Killed programs of others leave theirs.
  const std::set<std::string> shared_before_ = shared_files();
  std::size_t kills_ = 0;
  std::size_t died_otherwise_ = 0;
};

// Those who are not killed cost in the end what they cost in the beginning.
template <class Victim>
void survive(scene& s, std::vector<std::size_t> survivors, std::size_t kills, Victim victim) {
  for (std::size_t n = 0; n < 5; ++n) s.kill_and_restart(victim());
  REQUIRE(s.resumed());
  REQUIRE(wait_until([&] { return s.settled(); }));
  std::vector<proc_stats> before;
  for (const auto who : survivors) before.push_back(stats_of(s.pid_of(who)));
  for (std::size_t n = 0; n < kills; ++n) s.kill_and_restart(victim());
  s.check();
  for (std::size_t n = 0; n < survivors.size(); ++n) {
    const pid_t pid = s.pid_of(survivors[n]);
    INFO("survivor " << survivors[n]);
    CHECK(wait_until([&] { return stats_of(pid).fds <= before[n].fds && stats_of(pid).threads <= before[n].threads; }));
    const auto after = stats_of(pid);
    INFO("fds " << before[n].fds << " -> " << after.fds << ", own memory " << before[n].own_kib << " -> "
                << after.own_kib << " KiB");
    CHECK(after.fds <= before[n].fds);
    if (!under_sanitizer) CHECK(after.own_kib < before[n].own_kib + 4 * 1024);
  }
}

}  // namespace

TEST_CASE("shm kills: readers survive their publisher, again and again", "[stress][threads]") {
  scene s(1);
  survive(s, {1, 2, 3}, rounds(30, 3500), [] { return std::size_t{0}; });
}

TEST_CASE("shm kills: a publisher and a reader survive the other readers, again and again", "[stress][threads]") {
  scene s(2);
  std::size_t next = 0;
  survive(s, {0, 1}, rounds(70, 3500), [&] { return 2 + next++ % 2; });
}

TEST_CASE("shm kills: everybody dies at any time", "[stress][threads]") {
  scene s(3);
  for (std::size_t n = 0; n < rounds(80, 3000); ++n) s.kill_and_restart(s.any());
  s.check();
}
