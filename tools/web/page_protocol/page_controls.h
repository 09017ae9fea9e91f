// What a client of the page's protocol is shown of parameters and services, and does with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tools/web/page_protocol/client_message.h"
#include "tools/web/parameters/live_parameters.h"
#include "tools/web/services/live_services.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

// A list of what programs offer, by name, and what the client knows of it. Told: differs when an entry has changed.
template <class List, class Told>
class told_list {
 public:
  void refresh(std::shared_ptr<const List> newest);
  [[nodiscard]] bool is_due() const { return due_; }
  // Null: not known yet.
  [[nodiscard]] const std::shared_ptr<const List>& newest() const { return newest_; }
  // Makes the next message of changes. False: there are none.
  template <class TellsOf, class Append>
  [[nodiscard]] bool take(frame& to, std::string_view op, TellsOf tells_of, Append append);

 private:
  std::shared_ptr<const List> newest_;
  std::map<std::string, Told> told_;
  bool due_ = false;
  bool greets_ = true;  // the first message comes also without an entry
};

// The parameters, and sets of the client. Of the network's thread.
class page_parameters final : public client_view {
 public:
  explicit page_parameters(live_parameters& parameters) : parameters_(parameters), who_(parameters.enter()) {}
  ~page_parameters() override { parameters_.leave(who_); }

  // Returns why it is not set; empty: the answer comes.
  [[nodiscard]] std::string set(const client_message& message);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return list_.is_due() || !answers_.empty(); }

 private:
  [[nodiscard]] bool take_answer(frame& to);

  live_parameters& parameters_;
  const live_parameters::client who_;
  told_list<shown_parameters, std::uint64_t> list_;  // shown_parameter::change
  std::deque<parameter_answer> answers_;
};

// The services, and calls of the client. Of the network's thread.
class page_services final : public client_view {
 public:
  explicit page_services(live_services& services) : services_(services), who_(services.enter()) {}
  // Cancels the client's calls.
  ~page_services() override { services_.leave(who_); }

  // Returns why there is no call; empty: the answer comes.
  [[nodiscard]] std::string call(const client_message& message);
  // Cancelling a call that has ended is no error: the client may not know yet what the server knows.
  void cancel(std::int64_t id);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return list_.is_due() || !answers_.empty(); }

 private:
  [[nodiscard]] bool take_answer(frame& to);

  live_services& services_;
  const live_services::client who_;
  told_list<shown_services, std::shared_ptr<const shown_service>> list_;
  std::set<std::uint64_t> open_;  // ids of calls
  std::deque<call_answer> answers_;
};

}  // namespace orc::web
