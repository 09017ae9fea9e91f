// What a client of the page's protocol is shown of parameters and services, and does with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tools/web/call_desk.h"
#include "tools/web/client_message.h"
#include "tools/web/parameter_desk.h"
#include "tools/web/shown_thing.h"

namespace orc::web {

// The parameters, and sets of the client. Of the network's thread.
class page_parameters final : public shown_thing {
 public:
  explicit page_parameters(parameter_desk& desk) : desk_(desk), who_(desk.enter()) {}
  ~page_parameters() override { desk_.leave(who_); }

  // Returns why it is not set; empty: the answer comes.
  [[nodiscard]] std::string set(const client_message& message);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return due_ || !answers_.empty(); }

 private:
  [[nodiscard]] bool take_answer(frame& to);
  [[nodiscard]] bool take_changes(frame& to);

  parameter_desk& desk_;
  const parameter_desk::client who_;
  std::shared_ptr<const shown_parameters> newest_;  // null: not known yet
  std::map<std::string, std::uint64_t> told_;       // shown_parameter::change
  bool due_ = false;
  bool greets_ = true;  // the first message comes also without a parameter
  std::deque<parameter_answer> answers_;
};

// The services, and calls of the client. Of the network's thread.
class page_services final : public shown_thing {
 public:
  explicit page_services(call_desk& desk) : desk_(desk), who_(desk.enter()) {}
  // Cancels the client's calls.
  ~page_services() override { desk_.leave(who_); }

  // Returns why there is no call; empty: the answer comes.
  [[nodiscard]] std::string call(const client_message& message);
  // Cancelling a call that has ended is no error: the client may not know yet what the server knows.
  void cancel(std::int64_t id);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return due_ || !answers_.empty(); }

 private:
  [[nodiscard]] bool take_answer(frame& to);
  [[nodiscard]] bool take_changes(frame& to);

  call_desk& desk_;
  const call_desk::client who_;
  std::shared_ptr<const shown_services> newest_;                      // null: not known yet
  std::map<std::string, std::shared_ptr<const shown_service>> told_;  // that the client knows
  bool due_ = false;
  bool greets_ = true;
  std::set<std::uint64_t> open_;  // ids of calls
  std::deque<call_answer> answers_;
};

}  // namespace orc::web
