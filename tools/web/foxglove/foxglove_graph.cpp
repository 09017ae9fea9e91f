#include "tools/web/foxglove/foxglove_graph.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "tools/web/json_text.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto graph_pause = 200ms;  // the poller itself pauses half a second
constexpr std::size_t frame_bytes = std::size_t{512} << 10;
constexpr std::size_t id_digits = 8;  // that tell participants of the same name apart

class participant_names {
 public:
  [[nodiscard]] const std::string& of(const participant_state& participant) {
    const auto [at, is_new] = names_.try_emplace(participant.id);
    if (!is_new) return at->second;
    at->second = participant.name + " (" + std::to_string(participant.pid) + ")";
    if (!taken_.insert(at->second).second) at->second += " " + participant.id.substr(0, id_digits);
    return at->second;
  }

 private:
  std::map<std::string, std::string> names_;  // by id
  std::set<std::string> taken_;
};

void append_ends(std::string& to, std::string_view topic, std::string_view key, const std::vector<std::string>& ids) {
  if (!to.empty()) to += ',';
  to += R"({"name":)";
  append_quoted(to, topic);
  to += R"(,")";
  to += key;
  to += R"(":[)";
  for (const std::string& each : ids) {
    if (&each != &ids.front()) to += ',';
    append_quoted(to, each);
  }
  to += "]}";
}

// The three lists of an update.
struct update_lists {
  std::string published = {};
  std::string subscribed = {};
  std::string removed = {};

  [[nodiscard]] std::size_t size() const noexcept { return published.size() + subscribed.size() + removed.size(); }
  void add(const std::string& topic, const topic_ends* before, const topic_ends* now) {
    static const topic_ends none;
    if (now == nullptr) {
      if (!removed.empty()) removed += ',';
      append_quoted(removed, topic);
      return;
    }
    const topic_ends& old = before != nullptr ? *before : none;
    if (old.publishers != now->publishers) append_ends(published, topic, "publisherIds", now->publishers);
    if (old.subscribers != now->subscribers) append_ends(subscribed, topic, "subscriberIds", now->subscribers);
  }
};

}  // namespace

connection_graph graph_of(const view::system_figures& figures) {
  connection_graph made;
  participant_names all;
  for (const view::participant_figures& each : figures.participants) (void)all.of(each.participant);
  for (const view::topic_figures& topic : figures.topics) {
    topic_ends& ends = made[topic.name];
    for (const view::publication_figures& each : topic.shared_by) ends.publishers.push_back(all.of(each.publisher));
    if (topic.shared_by.empty() && topic.publisher) ends.publishers.push_back(all.of(*topic.publisher));
    for (const view::subscription_figures& each : topic.subscriptions)
      ends.subscribers.push_back(all.of(each.subscriber));
    std::sort(ends.subscribers.begin(), ends.subscribers.end());
  }
  return made;
}

std::string graph_update_text(const connection_graph& before, const connection_graph& now, std::string& cursor,
                              std::size_t limit) {
  update_lists lists;
  auto old = before.lower_bound(cursor);
  auto is = now.lower_bound(cursor);
  cursor.clear();
  while (old != before.end() || is != now.end()) {
    const bool has_old = old != before.end() && (is == now.end() || old->first <= is->first);
    const bool has_new = is != now.end() && (old == before.end() || is->first <= old->first);
    const std::string& topic = has_new ? is->first : old->first;
    if (lists.size() > limit) {
      cursor = topic;
      break;
    }
    lists.add(topic, has_old ? &old->second : nullptr, has_new ? &is->second : nullptr);
    if (has_old) ++old;
    if (has_new) ++is;
  }
  if (lists.size() == 0) return {};
  return R"({"op":"connectionGraphUpdate","publishedTopics":[)" + lists.published + R"(],"subscribedTopics":[)" +
         lists.subscribed + R"(],"advertisedServices":[],"removedTopics":[)" + lists.removed +
         R"(],"removedServices":[]})";
}

std::shared_ptr<const connection_graph> connection_graphs::newest() {
  (void)from_.refresh();
  auto figures = from_.figures();
  if (figures == figures_) return graph_;
  figures_ = std::move(figures);
  graph_ = figures_ ? std::make_shared<const connection_graph>(graph_of(*figures_)) : nullptr;
  return graph_;
}

clock::time_point foxglove_graph::refresh(clock::time_point now) {
  if (target_) return now;
  if (now < next_) return next_;
  next_ = now + graph_pause;
  auto newest = from_.newest();
  if (!newest || newest == sent_ || *newest == *sent_) return next_;
  target_ = std::move(newest);
  return now;
}

bool foxglove_graph::take(frame& to) {
  if (!target_) return false;
  std::string text = graph_update_text(*sent_, *target_, cursor_, frame_bytes);
  if (cursor_.empty()) sent_ = std::exchange(target_, nullptr);
  if (text.empty()) return false;
  to = {.head = std::move(text)};
  return true;
}

}  // namespace orc::web
