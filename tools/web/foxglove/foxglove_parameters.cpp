#include "tools/web/foxglove/foxglove_parameters.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <variant>

#include "tools/web/json_text.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto value_patience = 2s;  // for the values of programs that have just started
constexpr std::size_t update_bytes = std::size_t{1} << 20;

// Members of the list "parameters".
class parameter_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] bool is_full() const noexcept { return text_.size() > update_bytes; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  void add(std::string_view name, const parameter_value& value) {
    begin(name);
    text_ += R"(,"value":)" + to_json(value);
    // Otherwise the viewer would take 2.0 for a whole number.
    if (std::holds_alternative<double>(value)) text_ += R"(,"type":"float64")";
    if (std::holds_alternative<std::vector<double>>(value)) text_ += R"(,"type":"float64_array")";
    text_ += '}';
  }
  void add_gone(std::string_view name) {
    begin(name);
    text_ += '}';
  }

 private:
  void begin(std::string_view name) {
    text_ += text_.empty() ? R"({"name":)" : R"(,{"name":)";
    append_quoted(text_, name);
  }

  std::string text_;
};

[[nodiscard]] std::string values_text(const parameter_list& list, const std::optional<std::string>& id) {
  std::string text = R"({"op":"parameterValues","parameters":[)" + list.text() + ']';
  if (id) {
    text += R"(,"id":)";
    append_quoted(text, *id);
  }
  return text + '}';
}

}  // namespace

std::string foxglove_parameters::get(const foxglove_message& message) {
  if (requests_.size() == max_requests) return "too many requests for parameters wait for their answers";
  requests_.push_back({.id = message.request, .names = message.names, .until = clock::now() + value_patience});
  return {};
}

std::string foxglove_parameters::set(const foxglove_message& message) {
  if (message.request && requests_.size() == max_requests)
    return "too many requests for parameters wait for their answers";
  request made{.ticket = ++last_ticket_, .id = message.request};
  std::string problem = may_set_ ? "" : "setting parameters is off: start orc-web with --allow-publish";
  for (const foxglove_parameter_set& each : message.sets) {
    made.names.push_back(each.name);
    if (!may_set_) continue;
    if (parameters_.set(who_, {made.ticket, each.name, each.value}))
      ++made.open_sets;
    else
      problem = "too many parameters wait to be set: " + std::to_string(live_parameters::max_waiting) + " is the limit";
  }
  // The answer has the values in force, also of those that were refused.
  if (message.request && !made.names.empty()) requests_.push_back(std::move(made));
  return problem;
}

std::string foxglove_parameters::subscribe(const foxglove_message& message) {
  updates_due_ = true;
  if (message.names.empty()) follows_all_ = true;
  for (const std::string& each : message.names) {
    if (followed_.size() == live_parameters::max_parameters && !followed_.contains(each))
      return "too many parameters: " + std::to_string(live_parameters::max_parameters) + " is the limit";
    followed_.insert(each);
  }
  return {};
}

void foxglove_parameters::unsubscribe(const foxglove_message& message) {
  if (message.names.empty()) {
    follows_all_ = false;
    followed_.clear();
    told_.clear();
  }
  if (std::exchange(follows_all_, false) && newest_)
    for (const auto& [name, each] : *newest_) followed_.insert(name);
  for (const std::string& each : message.names) {
    followed_.erase(each);
    told_.erase(each);
  }
}

void foxglove_parameters::take_answers() {
  for (parameter_answer& each : parameters_.answers(who_)) {
    if (!each.problem.empty()) report_("parameter '" + each.name + "' is not set: " + each.problem);
    const auto at = std::find_if(requests_.begin(), requests_.end(),
                                 [&](const request& one) { return one.ticket != 0 && one.ticket == each.ticket; });
    if (at == requests_.end()) continue;
    --at->open_sets;
    if (each.value) at->in_force.insert_or_assign(each.name, *std::move(each.value));
  }
}

clock::time_point foxglove_parameters::refresh(clock::time_point now) {
  take_answers();
  if (auto newest = parameters_.newest(); newest != newest_) {
    newest_ = std::move(newest);
    updates_due_ = true;
  }
  if (updates_due_ && newest_) return now;
  auto earliest = clock::time_point::max();
  for (const request& each : requests_) {
    if (is_due(each, now)) return now;
    earliest = std::min(earliest, each.until);
  }
  return earliest;
}

bool foxglove_parameters::is_due(const request& each, clock::time_point now) const {
  if (each.ticket != 0) return each.open_sets == 0;
  return now >= each.until || knows_all(each);
}

bool foxglove_parameters::knows_all(const request& each) const {
  if (!newest_) return false;
  if (each.names.empty())
    return std::all_of(newest_->begin(), newest_->end(), [](const auto& one) { return one.second->value.has_value(); });
  return std::all_of(each.names.begin(), each.names.end(), [this](const std::string& name) {
    const auto at = newest_->find(name);
    return at == newest_->end() || at->second->value.has_value();
  });
}

bool foxglove_parameters::take(frame& to) {
  more_ = take_request(to) || take_updates(to);
  return more_;
}

bool foxglove_parameters::take_request(frame& to) {
  const auto now = clock::now();
  const auto due =
      std::find_if(requests_.begin(), requests_.end(), [&](const request& each) { return is_due(each, now); });
  if (due == requests_.end()) return false;
  parameter_list list;
  const auto add = [&](const std::string& name) {
    if (const auto set = due->in_force.find(name); set != due->in_force.end()) return list.add(name, set->second);
    if (!newest_) return;
    const auto known = newest_->find(name);
    if (known != newest_->end() && known->second->value) list.add(name, *known->second->value);
  };
  for (const std::string& each : std::set(due->names.begin(), due->names.end())) add(each);
  if (due->names.empty() && newest_)
    for (const auto& [name, each] : *newest_) add(name);
  to = {.head = values_text(list, due->id)};
  requests_.erase(due);
  return true;
}

bool foxglove_parameters::take_updates(frame& to) {
  if (!updates_due_ || !newest_) return false;
  parameter_list list;
  for (const auto& [name, each] : *newest_) {
    if (!each->value || !follows(name)) continue;
    std::uint64_t& told = told_[name];
    if (told == each->change) continue;
    if (list.is_full()) break;
    list.add(name, *each->value);
    told = each->change;
  }
  std::erase_if(told_, [&](const auto& each) {
    if (list.is_full() || newest_->contains(each.first)) return false;
    list.add_gone(each.first);
    return true;
  });
  updates_due_ = list.is_full();
  if (list.empty()) return false;
  to = {.head = values_text(list, std::nullopt)};
  return true;
}

}  // namespace orc::web
