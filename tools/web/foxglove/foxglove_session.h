// One client of Foxglove's protocols: foxglove.sdk.v1 and foxglove.websocket.v1 (liborc/doc/design/foxglove.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/web/feed/feed_source.h"
#include "tools/web/foxglove/foxglove_channels.h"
#include "tools/web/foxglove/foxglove_graph.h"
#include "tools/web/foxglove/foxglove_message.h"
#include "tools/web/foxglove/foxglove_parameters.h"
#include "tools/web/foxglove/foxglove_publishing.h"
#include "tools/web/foxglove/foxglove_services.h"
#include "tools/web/foxglove/foxglove_text.h"
#include "tools/web/foxglove/foxglove_views.h"
#include "tools/web/publish/publish_queue.h"
#include "tools/web/recorded/playback.h"
#include "tools/web/session/client_session.h"
#include "tools/web/session/client_view.h"
#include "tools/web/session/outbox.h"

namespace orc::web {

// What all sessions share. It outlives them.
struct foxglove_sources {
  feed_source& feeds;
  channel_source& channels;
  connection_graphs* graphs = nullptr;                // null: a recording
  publish_queue* publish = nullptr;                   // null: clients may not publish, nor set parameters
  live_parameters* parameters = nullptr;              // null: a recording
  live_services* services = nullptr;                  // null: clients may not call services
  playback* recording = nullptr;                      // null: the running system
  std::vector<std::string> origins = {};              // pages of others that may connect
  std::string session = {};                           // see foxglove_server::session
  std::function<void(const std::string&)> note = {};  // tells the person who started the server
};

class foxglove_session final : public client_session {
 public:
  // `playback_control`: its protocol has messages for it.
  foxglove_session(const foxglove_sources& from, bool playback_control);
  ~foxglove_session() override;

  bool receive(std::string_view message, bool text, std::string& why) override;
  clock::time_point refresh(clock::time_point now) override;
  bool next(frame& to) override { return outbox_.next(to); }

 private:
  void obey(const foxglove_message& message);
  void subscribe(const foxglove_subscription_request& wanted);
  void unsubscribe(std::uint32_t id);
  void set_graph(bool on);
  void obey_parameters(const foxglove_message& message);
  void call_service(const foxglove_message& message);
  void control(const foxglove_playback_request& request);
  void take_list();
  void end_subscriptions();
  void report(status_level level, const std::string& message);

  const foxglove_sources& from_;
  outbox outbox_;
  text_replies replies_;
  std::string reported_;  // the newest status, and when it was sent
  clock::time_point reported_at_ = {};
  foxglove_advertiser advertiser_;
  channel_list list_;
  std::size_t problems_told_ = 0;
  std::map<std::uint32_t, std::unique_ptr<foxglove_subscription>> subscriptions_;
  std::map<std::uint32_t, std::uint32_t> subscription_of_;  // by channel
  std::unique_ptr<foxglove_graph> graph_;
  std::unique_ptr<foxglove_playback> playback_;
  std::unique_ptr<foxglove_services> services_;
  std::unique_ptr<foxglove_parameters> parameters_;  // once the client has asked for one
  const bool controls_playback_;
  std::optional<foxglove_publishing> publishing_;
};

class foxglove_session_maker final : public session_maker {
 public:
  static constexpr std::string_view sdk = "foxglove.sdk.v1";
  static constexpr std::string_view websocket = "foxglove.websocket.v1";

  // `subprotocol` is one of the two above.
  foxglove_session_maker(const foxglove_sources& from, std::string_view subprotocol)
      : from_(from), subprotocol_(subprotocol) {}
  [[nodiscard]] std::string_view subprotocol() const override { return subprotocol_; }
  [[nodiscard]] std::string_view path() const override { return ""; }
  [[nodiscard]] bool admits(std::string_view origin) override;
  [[nodiscard]] message_limits limits() const override;
  [[nodiscard]] std::unique_ptr<client_session> make() override {
    return std::make_unique<foxglove_session>(from_, subprotocol_ == sdk);
  }

 private:
  const foxglove_sources& from_;
  const std::string_view subprotocol_;
  std::set<std::string> noted_;  // origins
};

}  // namespace orc::web
