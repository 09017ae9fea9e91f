// Feeds from recordings, which play like a running system.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/orc/play/play_sink.h"
#include "tools/orc/play/player.h"
#include "tools/orc/recording/merged_recording.h"
#include "tools/web/feed/feed_source.h"
#include "tools/web/feed/system_source.h"
#include "tools/web/recorded/playback.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

class recording_source final : public feed_source, public playback, private cli::play_sink {
 public:
  // Opens the files, and waits at their beginning. `news` is called from threads of its own. Throws std::system_error
  // when the system has no thread or descriptor left.
  static result open(const std::vector<std::string>& files, std::function<void()> news,
                     std::unique_ptr<recording_source>& made);
  ~recording_source() override;

  [[nodiscard]] std::shared_ptr<topic_feed> open(const std::string& topic, interest what) override;
  void close(const std::string& topic, interest what) noexcept override;

  [[nodiscard]] const std::vector<std::string>& files() const override { return files_; }
  [[nodiscard]] std::int64_t start_ns() const override { return recording_->first_ns(); }
  [[nodiscard]] std::int64_t end_ns() const override { return recording_->last_ns(); }
  [[nodiscard]] playback_status status() const override;
  void play() override;
  void pause() override { player_->pause(); }
  void seek(std::int64_t position_ns) override;
  void set_rate(double rate) override { player_->set_rate(rate); }

  // Its channels after the first `known` ones: a file without an index reports them while it plays.
  [[nodiscard]] std::vector<recording::channel> channels_after(std::size_t known);

  // The message "system": the topics of the recording.
  [[nodiscard]] const std::shared_ptr<const std::string>& system_text() const noexcept { return system_text_; }

 private:
  // A topic of the recording. Its newest sample is kept, for clients that open it while nothing plays.
  struct recorded_topic {
    std::shared_ptr<topic_feed> feed = {};         // null: no client has it open
    std::array<std::size_t, interests> uses = {};  // by interest
    std::size_t channel = 0;                       // of the newest sample
    bool any = false;
    cli::played_sample newest = {};
    std::vector<std::byte> data = {};  // empty: it is too large
    std::shared_ptr<const void> share = {};
    std::shared_ptr<const decoded_type> type = {};
    bool waits = false;  // the newest sample is not shown yet
    clock::time_point show_at = {};
    bool lapses = false;  // a jump has made the sample that is shown obsolete
    clock::time_point lapse_at = {};
  };

  recording_source(std::vector<std::string> files, std::unique_ptr<cli::merged_recording> recording,
                   std::function<void()> news);

  result add(const cli::merged_channel& added) override;
  result publish(const cli::played_sample& sample) override;
  void jumped() override;

  void show(recorded_topic& topic, clock::time_point now);
  void lapse(recorded_topic& topic);
  void set_state(const std::string& name, recorded_topic& topic) const;
  void settle(bool& flag) noexcept;
  void show_late();
  [[nodiscard]] const std::shared_ptr<const decoded_type>& type_of(std::size_t channel);
  [[nodiscard]] std::string describe();

  const std::vector<std::string> files_;
  const std::unique_ptr<cli::merged_recording> recording_;
  const std::function<void()> news_;
  const feed_limits limits_;
  std::shared_ptr<const std::string> system_text_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<cli::merged_channel> channels_;
  std::map<std::size_t, std::shared_ptr<const decoded_type>> types_;  // by channel; null: untyped
  std::map<std::string, recorded_topic> topics_;
  std::size_t waiting_ = 0;  // of recorded_topic::waits and lapses
  bool stop_ = false;
  std::thread late_;  // shows what came faster than clients look, and ends what a jump left behind
  std::unique_ptr<cli::player> player_;

  mutable std::mutex problem_mutex_;  // the player's own is locked within it
  mutable std::string problem_;       // the first one that it has reported
};

// The topics of a recording in place of the running system's.
class recording_system final : public system_source {
 public:
  explicit recording_system(const recording_source& of) : of_(of) {}
  void open() override {}
  void close() noexcept override {}
  std::uint64_t refresh() override { return 1; }
  [[nodiscard]] std::shared_ptr<const std::string> text() const override { return of_.system_text(); }
  [[nodiscard]] std::shared_ptr<const view::system_figures> figures() const override { return nullptr; }

 private:
  const recording_source& of_;
};

}  // namespace orc::web
