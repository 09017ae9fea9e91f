// orc_test_node: a participant that does what its standard input says, one command per line, one line of answer each.
//
//   open ENDPOINT [TIMEOUT_MS]                              ok
//   close                                                   ok
//   type NAME SCHEMA_ENCODING MESSAGE_ENCODING SCHEMA · type   ok; of later topics and requests; without words: none
//   register TOPIC TRANSPORTS [PRIORITY [KEEP_LAST]]        ok | error CODE TEXT; KEEP_LAST: 0 or 1
//   share TOPIC TRANSPORTS                                  ok | error CODE TEXT; registers it as a shared topic
//   request TOPIC TRANSPORTS CONFLATE DEPTH WITHIN_MS [MAX_AGE_MS]   ok | error CODE TEXT
//   unregister TOPIC · release TOPIC                        ok | error CODE TEXT
//   send TOPIC VALUE SIZE                                   ok | error CODE TEXT
//   recv TOPIC TIMEOUT_MS                                   sample SEQUENCE VALUE SIZE MISSED | none CODE
//   link TOPIC                                              TRANSPORT REASON | none REASON
//   stream TOPIC SIZE HZ COUNT     (COUNT 0: until stop)    ok
//   stop TOPIC · progress TOPIC                             SENT FAILED SLOWEST_US DONE
//   collect TOPIC · quiet TOPIC                             ok
//   stats TOPIC                                             see test_node::collected
//   oldest TOPIC                                            MAX_US since it was sent, by the clock of this machine
//   ages TOPIC                                              P50_US P99_US MAX_US, of the latest samples
//   usage                                                   RSS_KIB FDS THREADS
//   limit_fds N · eat_fds · free_fds                        ok
//   become_nobody                                           ok | error …
//
// Ends at the end of its input, or with the test that started it.
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "orc.h"
#include "support/proc_stats.h"
#include "support/test_node.h"

namespace orc::test {

namespace {

using clock = std::chrono::steady_clock;

// Counter, identity of the stream, counter: what a stream sends at least. Larger samples have the time before the last.
constexpr std::size_t stream_sample_bytes = 24;
constexpr std::size_t timed_sample_bytes = 32;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch()).count();
}

std::uint64_t new_stream() {
  static std::uint64_t streams = 0;
  return (static_cast<std::uint64_t>(::getpid()) << 32) + ++streams;
}

// Sends 1, 2, 3… at a rate, as fast as it goes with 0.
class streamer {
 public:
  streamer(publisher to, std::size_t size, double hz, std::uint64_t count)
      : to_(std::move(to)), size_(std::max(size, stream_sample_bytes)), hz_(hz), count_(count), thread_([this] {
          run();
        }) {}
  ~streamer() { stop(); }
  streamer(const streamer&) = delete;
  streamer& operator=(const streamer&) = delete;

  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::string progress() const {
    std::ostringstream text;
    text << sent_ << ' ' << failed_ << ' ' << slowest_us_ << ' ' << done_;
    return text.str();
  }

 private:
  void run() {
    std::vector<unsigned char> sample(size_);
    const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(hz_ > 0 ? 1e9 / hz_ : 0));
    std::memcpy(sample.data() + 8, &stream_, sizeof stream_);
    auto next = clock::now();
    for (std::uint64_t n = 1; (count_ == 0 || n <= count_) && !stop_; ++n) {
      std::memcpy(sample.data(), &n, sizeof n);
      std::memcpy(sample.data() + size_ - 8, &n, sizeof n);
      if (size_ >= timed_sample_bytes) {
        const std::int64_t now = now_ns();
        std::memcpy(sample.data() + 16, &now, sizeof now);
      }
      const auto start = clock::now();
      const bool ok = static_cast<bool>(to_.send(sample.data(), sample.size()));
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - start).count();
      slowest_us_ = std::max<std::int64_t>(slowest_us_, took);
      if (ok)
        ++sent_;
      else
        ++failed_;
      if (period.count() > 0) {
        next += period;
        std::this_thread::sleep_until(next);
      }
    }
    done_ = true;
  }

  publisher to_;
  const std::uint64_t stream_ = new_stream();
  const std::size_t size_;
  const double hz_;
  const std::uint64_t count_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::int64_t> slowest_us_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Receives what a streamer sends and checks it.
class collector {
 public:
  explicit collector(subscriber from) : from_(std::move(from)), thread_([this] { run(); }) {}
  ~collector() {
    stop_ = true;
    thread_.join();
  }
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  [[nodiscard]] std::string stats() {
    const std::lock_guard lock(mutex_);
    std::vector<std::int64_t> ages = ages_;
    std::int64_t median = 0;
    if (!ages.empty()) {
      const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
      std::nth_element(ages.begin(), middle, ages.end());
      median = *middle / 1000;
    }
    std::ostringstream text;
    text << counts_.received << ' ' << counts_.last_value << ' ' << counts_.missed << ' ' << counts_.gaps << ' '
         << counts_.backwards << ' ' << counts_.corrupt << ' ' << median << ' ' << counts_.max_age_us << ' '
         << counts_.restarts;
    return text.str();
  }

  [[nodiscard]] std::string oldest() {
    const std::lock_guard lock(mutex_);
    return std::to_string(oldest_ns_ / 1000);
  }

  [[nodiscard]] std::string ages() {
    const std::lock_guard lock(mutex_);
    std::vector<std::int64_t> ages = ages_;
    if (ages.empty()) return "0 0 0";
    std::sort(ages.begin(), ages.end());
    std::ostringstream text;
    for (const std::size_t at : {ages.size() / 2, ages.size() * 99 / 100, ages.size() - 1})
      text << (at == ages.size() / 2 ? "" : " ") << ages[at] / 1000;
    return text.str();
  }

 private:
  void run() {
    while (!stop_) {
      const message sample = from_.recv(20);
      if (!sample) {
        if (sample.status() == errc::timed_out) continue;
        return;
      }
      const std::int64_t received = now_ns();
      const std::lock_guard lock(mutex_);
      take(sample, received);
    }
  }

  void take(const message& sample, std::int64_t received) {
    const std::int64_t age = sample.age_ns();
    ++counts_.received;
    counts_.missed += sample.missed();
    counts_.max_age_us = std::max(counts_.max_age_us, age / 1000);
    if (ages_.size() < max_ages) {
      ages_.push_back(age);
    } else {
      ages_[counts_.received % max_ages] = age;  // the latest ones
    }
    std::uint64_t front = 0;
    std::uint64_t stream = 0;
    std::uint64_t back = 0;
    if (sample.size() < stream_sample_bytes) {
      ++counts_.corrupt;
      return;
    }
    const auto* bytes = static_cast<const unsigned char*>(sample.data());
    std::memcpy(&front, bytes, 8);
    std::memcpy(&stream, bytes + 8, 8);
    std::memcpy(&back, bytes + sample.size() - 8, 8);
    if (front != back) ++counts_.corrupt;
    if (sample.size() >= timed_sample_bytes) {
      std::int64_t sent = 0;
      std::memcpy(&sent, bytes + 16, sizeof sent);
      oldest_ns_ = std::max(oldest_ns_, received - sent);
    }
    if (stream != stream_ && stream_ != 0) {
      ++counts_.restarts;
    } else if (front <= counts_.last_value) {
      ++counts_.backwards;
    } else if (stream_ != 0 && front != counts_.last_value + 1) {
      ++counts_.gaps;
    }
    stream_ = stream;
    counts_.last_value = front;
  }

  static constexpr std::size_t max_ages = 20'000;
  subscriber from_;
  std::mutex mutex_;
  test_node::collected counts_;
  std::uint64_t stream_ = 0;
  std::int64_t oldest_ns_ = 0;
  std::vector<std::int64_t> ages_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class node {
 public:
  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "open") return open(words);
    if (verb == "close") return close();
    if (verb == "usage") return usage();
    if (verb == "limit_fds") return limit_fds(words);
    if (verb == "eat_fds") return eat_fds();
    if (verb == "free_fds") return free_fds();
    if (verb == "type") return set_type(words);
    if (verb == "become_nobody") return become_nobody();
    if (!participant_) return "error no participant: open first";
    std::string topic;
    words >> topic;
    if (verb == "register") return declare(words, topic);
    if (verb == "share") return declare(words, topic, true);
    if (verb == "request") return request(words, topic);
    if (verb == "unregister") return describe(participant_->unregister_topic(topic));
    if (verb == "release") return describe(participant_->release_topic(topic));
    if (verb == "send") return send(words, topic);
    if (verb == "recv") return recv(words, topic);
    if (verb == "link") return link(topic);
    if (verb == "stream") return stream(words, topic);
    if (verb == "stop") return stop(topic);
    if (verb == "progress") return streamers_.contains(topic) ? streamers_.at(topic)->progress() : "error no stream";
    if (verb == "collect") return collect(topic);
    if (verb == "quiet") return collectors_.erase(topic) != 0 ? "ok" : "error no collector";
    if (verb == "oldest") return collectors_.contains(topic) ? collectors_.at(topic)->oldest() : "error no collector";
    if (verb == "ages") return collectors_.contains(topic) ? collectors_.at(topic)->ages() : "error no collector";
    if (verb == "stats") return collectors_.contains(topic) ? collectors_.at(topic)->stats() : "error no collector";
    return "error no such command: " + verb;
  }

 private:
  static std::string describe(const result& r) {
    if (r) return "ok";
    return "error " + std::to_string(static_cast<int>(r.code())) + " " + r.error().message();
  }

  std::string open(std::istringstream& words) {
    participant_options options;
    int broker_timeout_ms = patience_ms;
    words >> options.broker >> broker_timeout_ms;
    options.broker_timeout = detail::timeout_of(broker_timeout_ms);
    options.name = "test_node_" + std::to_string(::getpid());
    participant_.emplace(options);
    return "ok";
  }
  std::string close() {
    streamers_.clear();
    collectors_.clear();
    participant_.reset();
    return "ok";
  }
  std::string set_type(std::istringstream& words) {
    type_ = {};
    words >> type_.name >> type_.schema_encoding >> type_.message_encoding >> std::ws;
    std::getline(words, type_.schema);
    return "ok";
  }
  std::string declare(std::istringstream& words, const std::string& topic, bool shared = false) {
    topic_options options;
    options.shared = shared;
    options.type = type_;
    std::string transports = "any";
    std::string priority = "normal";
    bool keeps_last = true;
    words >> transports >> priority;
    if (words >> keeps_last) options.keep_last = keeps_last;
    options.transports = to_transports(transports);
    if (priority == "bulk") options.priority = orc::priority::bulk;
    if (priority == "control") options.priority = orc::priority::control;
    return describe(participant_->register_topic(topic, options).result());
  }
  std::string request(std::istringstream& words, const std::string& topic) {
    request_options options;
    options.type = type_;
    std::string transports = "any";
    int connected_within_ms = 0;
    int max_age_ms = 0;
    words >> transports >> options.conflate >> options.depth >> connected_within_ms >> max_age_ms;
    options.connected_within = detail::timeout_of(connected_within_ms);
    options.max_age = std::chrono::milliseconds(max_age_ms);
    if (options.conflate == 1) options.depth = 0;
    options.transports = to_transports(transports);
    return describe(participant_->request_topic(topic, options).result());
  }
  std::string send(std::istringstream& words, const std::string& topic) {
    std::uint64_t value = 0;
    std::size_t size = 8;
    words >> value >> size;
    std::vector<unsigned char> sample(std::max<std::size_t>(size, 8));
    std::memcpy(sample.data(), &value, sizeof value);
    return describe(participant_->send_msg(topic, sample.data(), sample.size()));
  }
  std::string recv(std::istringstream& words, const std::string& topic) {
    int timeout_ms = 0;
    words >> timeout_ms;
    const message sample = participant_->recv_msg(topic, timeout_ms);
    if (!sample) return "none " + std::to_string(static_cast<int>(sample.status()));
    std::uint64_t value = 0;
    sample.copy_to(&value, sizeof value);
    std::ostringstream text;
    text << "sample " << sample.sequence() << ' ' << value << ' ' << sample.size() << ' ' << sample.missed();
    return text.str();
  }
  std::string link(const std::string& topic) {
    const auto subscriber = participant_->subscriber(topic);
    if (!subscriber) return "none not requested";
    const link_info info = subscriber.link();
    return (info.connected ? std::string(to_string(info.transport)) : "none") + " " + info.reason;
  }
  std::string stream(std::istringstream& words, const std::string& topic) {
    std::size_t size = 8;
    double hz = 0;
    std::uint64_t count = 0;
    words >> size >> hz >> count;
    auto publisher = participant_->publisher(topic);
    if (!publisher) return "error not registered";
    streamers_[topic] = std::make_unique<streamer>(std::move(publisher), size, hz, count);
    return "ok";
  }
  std::string stop(const std::string& topic) {
    const auto found = streamers_.find(topic);
    if (found == streamers_.end()) return "error no stream";
    found->second->stop();
    return found->second->progress();
  }
  std::string collect(const std::string& topic) {
    auto subscriber = participant_->subscriber(topic);
    if (!subscriber) return "error not requested";
    collectors_[topic] = std::make_unique<collector>(std::move(subscriber));
    return "ok";
  }
  static std::string usage() {
    const proc_stats stats = stats_of();
    std::ostringstream text;
    text << stats.rss_kib << ' ' << stats.fds << ' ' << stats.threads;
    return text.str();
  }
  static std::string limit_fds(std::istringstream& words) {
    rlimit limit{};
    words >> limit.rlim_cur;
    limit.rlim_max = limit.rlim_cur;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? "ok" : "error setrlimit";
  }
  std::string eat_fds() {
    for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
      eaten_.push_back(fd);
    }
    return "ok";
  }
  std::string free_fds() {
    for (const int fd : eaten_) ::close(fd);
    eaten_.clear();
    return "ok";
  }
  static std::string become_nobody() {
    return ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0 ? "ok" : "error setuid";
  }

  std::optional<broker> participant_;
  type_description type_;
  std::map<std::string, std::unique_ptr<streamer>> streamers_;
  std::map<std::string, std::unique_ptr<collector>> collectors_;
  std::vector<int> eaten_;
};

}  // namespace

}  // namespace orc::test

int main() {
  orc::test::node node;
  for (std::string line; std::getline(std::cin, line);) std::cout << node.obey(line) << std::endl;
}
