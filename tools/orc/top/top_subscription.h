// The samples of the topic that `orc top` has open, decoded for people.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/doorbell.h"
#include "orc/message.h"
#include "orc/subscriber.h"

namespace orc::cli {

class topic_types;

// The newest sample of a topic, and how it came here.
struct opened_sample {
  std::string topic = {};
  std::uint64_t received = 0;  // samples so far; 0: none, and the next fields mean nothing
  std::uint64_t sequence = 0;
  std::int64_t age_ns = 0;    // at the last look: it grows while nothing newer comes
  std::size_t size = 0;       // bytes
  std::uint64_t skipped = 0;  // samples that came between those that are shown, in sum
  std::string text = {};      // its fields or bytes, line by line, escaped
  bool has_long = false;      // some array is long: fold() changes what it looks like
  std::string remark = {};    // why these are bytes
  std::string link = {};      // why there is no link; empty: there is one
};

// Subscribes to one topic at a time, from a thread of its own: no call waits for it. Looks for the newest sample about
// ten times a second, however many come; samples that take long to decode are looked for less often.
class top_subscription {
 public:
  // `broker` as participant_options::broker.
  explicit top_subscription(std::string broker);
  // Ends the subscription, which may take a second while the broker is silent.
  ~top_subscription();
  top_subscription(const top_subscription&) = delete;
  top_subscription& operator=(const top_subscription&) = delete;

  void open(std::string topic);
  // Ends the subscription and the participant, so other programs do not see us any more.
  void close() { open({}); }
  // Whether long arrays end with "… 997 more".
  void fold(bool folded) noexcept { folded_ = folded; }
  // The columns of a line, to which arrays of numbers are fitted.
  void fit(std::size_t columns) noexcept { columns_ = columns; }

  // Readable when there is something new: call newest() then.
  [[nodiscard]] int fd() noexcept { return news_.fd(); }
  [[nodiscard]] opened_sample newest();

 private:
  using clock = std::chrono::steady_clock;
  struct shape {
    bool folded;
    std::size_t columns;

    bool operator==(const shape&) const = default;
  };

  [[nodiscard]] shape wanted_shape() const noexcept { return {folded_, columns_}; }
  void run();
  void follow(const std::string& topic);
  void look(subscriber& from, topic_types& types, opened_sample& known);
  void take(const message& sample, opened_sample& into);
  void grow_older(opened_sample& known) const;
  void decode(topic_types& types, opened_sample& into) const;
  void tell(const opened_sample& known);
  // Waits; false: the topic is another one now, or the program ends.
  [[nodiscard]] bool pause(const std::string& topic, clock::time_point until);
  [[nodiscard]] std::string wanted();

  const std::string broker_;
  detail::doorbell news_;
  detail::doorbell wake_;
  detail::doorbell stop_;  // ends questions to a silent broker
  std::atomic<bool> ends_{false};
  std::atomic<bool> folded_{true};
  std::atomic<std::size_t> columns_{80};
  std::mutex mutex_;
  std::string wanted_;  // guarded by mutex_; empty: none
  opened_sample newest_;
  // The thread's, of the newest sample:
  std::vector<std::byte> bytes_;   // its start
  clock::time_point taken_;        // when it was received
  std::int64_t taken_age_ns_ = 0;  // its age then
  std::thread thread_;
};

}  // namespace orc::cli
