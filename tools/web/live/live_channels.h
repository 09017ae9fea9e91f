// The channels of the running system, as the broker reports its topics.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "orc/directory.h"
#include "tools/web/foxglove/foxglove_channels.h"
#include "tools/web/live/attendance.h"
#include "tools/web/memory_budget.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

// A thread of its own watches the topics while clients are there, and some seconds longer. A topic has a channel while
// it is published, and until 5 s after its publisher is gone, so that one that restarts keeps it.
class live_channels final : public channel_source {
 public:
  static constexpr std::size_t max_schema_bytes = std::size_t{64} << 20;  // of all types together
  static constexpr std::size_t max_problems = 64;

  // `all`: also ORC's own topics. `news` is called from the thread when the list has changed. Throws std::system_error
  // when the system has no thread left.
  live_channels(std::string broker, bool all, std::function<void()> news);
  ~live_channels() override;

  void open() override { attendance_.enter(); }
  void close() noexcept override { attendance_.leave(); }
  [[nodiscard]] channel_list newest() override;

 private:
  using type_key = std::tuple<std::uint64_t, std::string, std::string, std::string, std::size_t>;
  struct known_type {
    topic_type what = {};
    std::set<std::string> topics = {};               // that have it
    std::shared_ptr<const foxglove_type> made = {};  // null: not yet, or not possible
    bool failed = false;                             // for good
    clock::time_point due = {};                      // when to ask the broker for its schema
    clock::duration pause = {};
  };
  struct known_topic {
    std::optional<type_key> type = {};
    std::optional<clock::time_point> gone_at = {};
  };

  void run();
  void follow();
  void take_changes(directory_watch& watch);
  void take(const topic_state& topic, clock::time_point now);
  void take_gone(const std::string& name, clock::time_point now);
  void set_type(const std::string& name, known_topic& topic, const topic_type& type);
  void drop_type(const std::string& name, known_topic& topic);
  void fetch_types(directory& from);
  void fetch(directory& from, known_type& type, clock::time_point now);
  void add_channel(const std::string& topic, const known_type& type);
  void end_gone(clock::time_point now);
  void report(const std::string& problem);
  void publish();
  [[nodiscard]] int wait_ms(bool watches, clock::time_point now) const;

  const std::string broker_;
  const bool all_;
  const std::function<void()> news_;
  const std::shared_ptr<memory_budget> schemas_ = std::make_shared<memory_budget>(max_schema_bytes);
  attendance attendance_;

  // The thread's.
  channel_registry registry_;
  std::map<std::string, known_topic> topics_;
  std::map<type_key, known_type> types_;
  std::vector<std::string> problems_;
  bool new_problems_ = false;
  clock::time_point end_at_ = clock::time_point::max();  // of the first topic that is gone

  std::mutex mutex_;
  channel_list newest_;
  std::thread thread_;
};

}  // namespace orc::web
