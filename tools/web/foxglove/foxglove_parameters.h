// The parameters that one Foxglove client reads, sets and follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/web/foxglove/foxglove_message.h"
#include "tools/web/parameters/live_parameters.h"
#include "tools/web/session/client_view.h"

namespace orc::web {

// Of the network's thread. No call waits.
class foxglove_parameters final : public client_view {
 public:
  using reporter = std::function<void(const std::string& problem)>;
  static constexpr std::size_t max_requests = 16;  // that wait for their answers

  // `report` is called with what cannot be set.
  foxglove_parameters(live_parameters& parameters, bool may_set, reporter report)
      : parameters_(parameters), who_(parameters.enter()), may_set_(may_set), report_(std::move(report)) {}
  ~foxglove_parameters() override { parameters_.leave(who_); }

  // Each returns what is wrong with the request; empty: nothing.
  [[nodiscard]] std::string get(const foxglove_message& message);
  [[nodiscard]] std::string set(const foxglove_message& message);
  [[nodiscard]] std::string subscribe(const foxglove_message& message);
  void unsubscribe(const foxglove_message& message);

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return more_; }

 private:
  // One that waits: of get until the values are known, of set until the programs have answered.
  struct request {
    std::uint64_t ticket = 0;
    std::optional<std::string> id = {};
    std::vector<std::string> names = {};  // empty: all
    std::size_t open_sets = 0;
    std::map<std::string, parameter_value> in_force = {};  // what the programs have answered
    clock::time_point until = clock::time_point::max();    // of get: values that are not known then are left out
  };

  void take_answers();
  [[nodiscard]] bool is_due(const request& each, clock::time_point now) const;
  [[nodiscard]] bool knows_all(const request& each) const;
  [[nodiscard]] bool follows(const std::string& name) const { return follows_all_ || followed_.contains(name); }
  [[nodiscard]] bool take_request(frame& to);
  [[nodiscard]] bool take_updates(frame& to);

  live_parameters& parameters_;
  const live_parameters::client who_;
  const bool may_set_;
  const reporter report_;
  std::shared_ptr<const shown_parameters> newest_;  // null: not known yet
  std::list<request> requests_;
  std::uint64_t last_ticket_ = 0;
  bool follows_all_ = false;
  std::set<std::string> followed_;
  std::map<std::string, std::uint64_t> told_;  // by name: shown_parameter::change
  bool updates_due_ = false;
  bool more_ = false;
};

}  // namespace orc::web
