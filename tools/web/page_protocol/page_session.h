// One client of the page's protocol, orc.web.v1 (liborc/doc/design/web.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tools/web/feed/feed_source.h"
#include "tools/web/feed/system_source.h"
#include "tools/web/memory_budget.h"
#include "tools/web/page_protocol/client_message.h"
#include "tools/web/page_protocol/page_controls.h"
#include "tools/web/page_protocol/page_views.h"
#include "tools/web/publish/json_publisher.h"
#include "tools/web/recorded/playback.h"
#include "tools/web/session/client_session.h"
#include "tools/web/session/client_view.h"
#include "tools/web/session/outbox.h"

namespace orc::web {

// What all sessions share. It outlives them.
struct shown_sources {
  feed_source& feeds;
  system_source& system;
  json_publisher* publish = nullptr;      // null: clients may not publish, set parameters or call services
  live_parameters* parameters = nullptr;  // null: a recording
  live_services* services = nullptr;      // null: a recording
  playback* recording = nullptr;          // null: the running system
  // The large pictures that are on their way to clients.
  std::shared_ptr<memory_budget> pictures = std::make_shared<memory_budget>(std::size_t{256} << 20);
};

class page_session final : public client_session {
 public:
  static constexpr std::size_t max_views = 256;

  explicit page_session(const shown_sources& from);
  ~page_session() override;

  bool receive(std::string_view message, bool text, std::string& why) override;
  clock::time_point refresh(clock::time_point now) override;
  void limit_frames(std::size_t bytes) override { frame_bytes_ = bytes; }
  bool next(frame& to) override { return outbox_.next(to); }

 private:
  // Reports the playing time of a recording.
  class page_time;

  [[nodiscard]] std::string greeting() const;
  void obey(const client_message& message);
  void open(const client_message& message);
  void set_resolution(const client_message& message);
  void close(std::int64_t id);
  void publish(const client_message& message);
  void control(const client_message& message);
  void answer_published();
  void set_system(bool on);
  void show_parameters(const client_message& message);
  void show_services(const client_message& message);
  void set_parameter(const client_message& message);
  void call_service(const client_message& message);
  void fail(const client_message& message, std::string_view why);
  template <class View>
  [[nodiscard]] View* find(const client_message& message);

  const shown_sources from_;
  outbox outbox_;
  text_replies replies_;
  std::size_t greeting_bytes_ = 0;
  std::size_t frame_bytes_ = SIZE_MAX;
  std::unique_ptr<client_view> system_;
  std::unique_ptr<client_view> time_;
  std::unique_ptr<page_parameters> parameters_;
  std::unique_ptr<page_services> services_;
  std::map<std::int64_t, std::unique_ptr<client_view>> views_;
  std::optional<json_publisher::client> publishes_as_;
};

class page_session_maker final : public session_maker {
 public:
  explicit page_session_maker(const shown_sources& from) : from_(from) {}
  [[nodiscard]] std::string_view subprotocol() const override { return "orc.web.v1"; }
  [[nodiscard]] std::string_view path() const override { return "/ws"; }
  [[nodiscard]] bool admits(std::string_view /*origin*/) override { return false; }
  [[nodiscard]] std::unique_ptr<client_session> make() override { return std::make_unique<page_session>(from_); }

 private:
  const shown_sources from_;
};

}  // namespace orc::web
