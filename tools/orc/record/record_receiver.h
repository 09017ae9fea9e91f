// The receiving thread of `orc record`: takes samples from the subscriptions and puts them into the buffer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files/unique_fd.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "tools/orc/record/record_block_filler.h"
#include "tools/orc/record/record_buffer.h"

namespace orc::cli {

// What the broker reports of a topic's publication.
struct record_publication {
  std::string id = {};       // as of publication_state
  std::int64_t seen_ns = 0;  // the wall clock when this was known: its samples are not older
};

// Samples that one publisher numbers. `source` is guarded by the subscription's mutex, the rest is the receiving
// thread's.
struct record_stream {
  std::shared_ptr<record_source> source = {};  // of the newest sample; null: none yet
  std::uint64_t last_sequence = 0;
  std::int64_t last_ns = 0;  // receive time of it
};

// A publisher of a shared topic.
struct record_publisher {
  record_stream stream = {};
  publisher_info info = {};
  std::chrono::steady_clock::time_point since = {};
  bool described = false;  // everything is known of its source
};

// One topic. The thread that asks the broker and the receiving thread share it.
class record_subscription {
 public:
  record_subscription(std::string name, subscriber from, std::size_t most_pinned)
      : topic(std::move(name)), link(std::move(from)), max_pinned(most_pinned) {}

  const std::string topic;
  subscriber link;
  const std::size_t max_pinned;  // messages that may wait for the disk; more are copied
  const std::shared_ptr<std::atomic<std::uint32_t>> pinned = std::make_shared<std::atomic<std::uint32_t>>(0);
  // Messages are in the publisher's memory, as far as is known.
  std::atomic<bool> in_shared_memory{true};

  // ---- guarded by `mutex` ----
  std::mutex mutex;
  record_publication published;           // as the broker reported it last
  record_stream own;                      // of an exclusive topic
  std::string source_id;                  // its publication; empty: not known yet
  std::string id_at_first;                // the reported publication when its first sample came
  std::string id_before;                  // the publication before that
  std::shared_ptr<record_source> former;  // that another one followed before anything was known of it; null: none
  std::string former_id;                  // its publication
  std::chrono::steady_clock::time_point source_since;
  std::map<std::uint32_t, record_publisher> publishers;  // of a shared topic, by message::publisher()

  // ---- the thread that asks the broker ----
  std::uint64_t described = 0;  // number of the source of which everything is known
};

// Never waits for the disk or the broker.
class record_receiver {
 public:
  // `keep`: copies every sample, because it stays for long (black box). `on_new_source`: called on the receiving thread
  // when the type of a subscription's newest source has to be found out.
  record_receiver(record_buffer& to, bool keep, std::function<void()> on_new_source);
  ~record_receiver();
  record_receiver(const record_receiver&) = delete;
  record_receiver& operator=(const record_receiver&) = delete;

  // From any thread. - no_descriptors, system_error: it cannot be watched.
  [[nodiscard]] result add(std::shared_ptr<record_subscription> one);
  // Starts the thread. - no_descriptors.
  [[nodiscard]] result start();
  // Takes what has come, and ends the thread and the buffer.
  void stop();

 private:
  void run();
  // Waits for samples, and takes them. -1: without a limit.
  void receive(int limit_ms);
  // True: more may be there.
  bool drain(record_subscription& from);
  void take(record_subscription& from, message&& sample);
  // The stream that the sample belongs to, with its source.
  [[nodiscard]] record_stream& stream_of(record_subscription& from, const message& sample);
  [[nodiscard]] record_stream& shared_stream_of(record_subscription& from, const message& sample);

  record_buffer& to_;
  const bool keep_;
  record_block_filler filler_;
  const std::function<void()> on_new_source_;
  detail::unique_fd epoll_;
  detail::unique_fd wake_;  // eventfd
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<record_subscription>> all_;  // guarded by mutex_
  std::uint64_t sources_ = 0;
  std::thread thread_;
};

}  // namespace orc::cli
