// The services that one Foxglove client sees and calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tools/web/foxglove/foxglove_message.h"
#include "tools/web/services/live_services.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

// Of the network's thread. No call waits.
class foxglove_services final : public client_view {
 public:
  explicit foxglove_services(live_services& services) : services_(services), who_(services.enter()) {}
  // Cancels the client's calls.
  ~foxglove_services() override { services_.leave(who_); }

  // Returns why there is no call; empty: its answer comes.
  [[nodiscard]] std::string call(const foxglove_message& message);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return list_due_ || !answers_.empty(); }

 private:
  [[nodiscard]] bool take_answer(frame& to);
  [[nodiscard]] bool take_ended(frame& to);
  [[nodiscard]] bool take_added(frame& to);

  live_services& services_;
  const live_services::client who_;
  std::shared_ptr<const shown_services> newest_;  // null: not known yet
  bool list_due_ = false;
  std::map<std::uint32_t, std::shared_ptr<const shown_service>> told_;  // that the client knows, by id
  std::map<std::uint64_t, foxglove_call> calls_;                        // open ones, by ticket
  std::uint64_t last_ticket_ = 0;
  std::deque<call_answer> answers_;
};

// The message that says why a call failed.
[[nodiscard]] std::string call_failure_text(const foxglove_call& call, std::string_view problem);

}  // namespace orc::web
