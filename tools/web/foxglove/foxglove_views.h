// What a client of Foxglove's protocols is sent: channels, messages, the time of a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/web/feed/feed_source.h"
#include "tools/web/foxglove/foxglove_channels.h"
#include "tools/web/recorded/playback.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

// Tells the client about channels that come and go.
class foxglove_advertiser final : public client_view {
 public:
  // The list of now. The client is told when its turn comes.
  void show(std::shared_ptr<const foxglove_channels> channels);
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return due_; }

 private:
  bool take_ended(frame& to);

  std::shared_ptr<const foxglove_channels> channels_ = std::make_shared<const foxglove_channels>();
  std::vector<std::uint32_t> told_;  // ids that the client knows
  bool due_ = true;
  bool greets_ = true;  // the first message comes also without a channel
};

// The messages of a channel: its newest sample, and each one that comes, but only the newest of those that wait.
class foxglove_subscription final : public client_view {
 public:
  using reporter = std::function<void(const std::string& problem)>;

  // `report` is called with what cannot be sent.
  foxglove_subscription(std::uint32_t id, feed_source& from, std::shared_ptr<const foxglove_channel> channel,
                        reporter report)
      : id_(id),
        channel_(std::move(channel)),
        report_(std::move(report)),
        feed_(from, channel_->topic, interest::messages) {}

  [[nodiscard]] const foxglove_channel& channel() const noexcept { return *channel_; }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;

 private:
  [[nodiscard]] bool fill(const std::shared_ptr<const fed_sample>& sample, frame& to);
  [[nodiscard]] bool transcode(const std::shared_ptr<const fed_sample>& sample, frame& to);
  void report(const std::string& problem);

  const std::uint32_t id_;
  const std::shared_ptr<const foxglove_channel> channel_;
  const reporter report_;
  const open_feed feed_;
  std::uint64_t sent_ = 0;
  clock::time_point next_ = {};
  std::string problem_;  // the last one that was reported
};

// The time of a recording, and whether it plays.
class foxglove_playback final : public client_view {
 public:
  // `state`: the client knows the message "playback state".
  foxglove_playback(const playback& of, bool state) : of_(of), state_(state) {}
  // The client has asked for what is so now.
  void answer(std::string request, std::optional<std::int64_t> seek_ns);
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return state_due_; }

 private:
  void write_state(const playback_status& now, frame& to);

  const playback& of_;
  const bool state_;
  std::optional<playback_status> sent_;
  bool state_due_ = false;
  std::string request_;
  std::optional<std::int64_t> seek_ns_;
  clock::time_point next_ = {};
};

}  // namespace orc::web
