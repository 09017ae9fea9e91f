#include "tools/web/parameters/parameter_follower.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json_io.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr int change_pause_ms = 30;  // values that come meanwhile are taken together
constexpr auto longest_follower_wait = 500ms;
constexpr std::size_t max_parameter_sample_bytes = 2 * max_parameter_bytes;
constexpr std::size_t max_value_bytes = std::size_t{8} << 20;  // of all samples together

// Of the sample {"value": …} of a parameter's topic.
[[nodiscard]] std::optional<parameter_value> value_in(const message& sample) {
  if (sample.size() > max_parameter_sample_bytes) return std::nullopt;
  const std::string text(reinterpret_cast<const char*>(sample.bytes().data()), sample.size());
  nlohmann::json object;
  if (detail::read_json(text, object) || !object.is_object()) return std::nullopt;
  const auto at = object.find("value");
  parameter_value value;
  if (at == object.end() || !from_json(detail::write_json(*at), value)) return std::nullopt;
  return value;
}

}  // namespace

parameter_follower::parameter_follower(participant& by, directory& from, bool all, std::size_t limit,
                                       std::uint64_t& last_change)
    : by_(by),
      from_(from),
      all_(all),
      limit_(limit),
      topics_(from, std::string(parameter_type_name), all),
      last_change_(last_change) {}

parameter_follower::~parameter_follower() {
  for (const auto& [name, each] : parameters_) (void)by_.release_topic(name);
}

std::shared_ptr<const shown_parameters> parameter_follower::refresh(clock::time_point now) {
  topics_.refresh(now);
  if (topics_.is_due(now)) list(now);
  for (auto& [name, each] : parameters_) take_value(each);
  if (!std::exchange(changed_, false)) return nullptr;
  auto shown = std::make_shared<shown_parameters>();
  for (const auto& [name, each] : parameters_) shown->emplace(name, each.shown);
  return shown;
}

void parameter_follower::list(clock::time_point now) {
  std::vector<parameter_description> found;
  if (!list_parameters(from_, "**", found)) return topics_.failed(now);
  if (!all_) std::erase_if(found, [](const parameter_description& each) { return is_reserved(each.name); });
  topics_.read(now, found.size());
  if (found.size() > limit_) found.resize(limit_);
  std::set<std::string_view> names;
  for (const parameter_description& each : found) names.insert(each.name);
  std::erase_if(parameters_, [&](const auto& each) {
    if (names.contains(each.first)) return false;
    value_bytes_ -= each.second.bytes;
    (void)by_.release_topic(each.first);
    return true;
  });
  changed_ = true;  // also when there are none: the list is known now
  for (parameter_description& each : found) follow(std::move(each));
}

void parameter_follower::follow(parameter_description about) {
  followed& parameter = parameters_[about.name];
  const auto at = topics_.publications().find(about.name);
  const std::string publication = at != topics_.publications().end() ? at->second : "";
  if (parameter.shown && parameter.publication == publication) return;
  parameter.publication = publication;
  if (!parameter.values) parameter.values = by_.request_topic(about.name);  // a request without a broker stays
  auto shown = std::make_shared<shown_parameter>();
  if (parameter.shown) *shown = *parameter.shown;
  shown->about = std::move(about);
  shown->change = ++last_change_;
  parameter.shown = std::move(shown);
}

void parameter_follower::take_value(followed& parameter) {
  const message sample = parameter.values.recv(0);
  if (!sample) return;
  value_bytes_ -= parameter.bytes;
  parameter.bytes = 0;
  // What does not fit is not known, rather than shown as it was.
  auto value = sample.size() <= max_value_bytes - value_bytes_ ? value_in(sample) : std::nullopt;
  if (value) parameter.bytes = sample.size();
  value_bytes_ += parameter.bytes;
  if (parameter.shown->value == value) return;
  auto shown = std::make_shared<shown_parameter>(*parameter.shown);
  shown->value = std::move(value);
  shown->change = ++last_change_;
  parameter.shown = std::move(shown);
  changed_ = true;
}

void parameter_follower::wait(int stop_fd, int order_fd) {
  std::vector<pollfd> items{{stop_fd, POLLIN, 0}, {order_fd, POLLIN, 0}, {topics_.fd(), POLLIN, 0}};
  for (auto& [name, each] : parameters_) items.push_back({each.values.fd(), POLLIN, 0});
  const auto wait = std::clamp<clock::duration>(topics_.next() - clock::now(), 0ms, longest_follower_wait);
  ::poll(items.data(), items.size(), static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
  ::poll(items.data(), items[1].revents != 0 ? 2 : 1, change_pause_ms);
}

}  // namespace orc::web
