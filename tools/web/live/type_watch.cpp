#include "tools/web/live/type_watch.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto broker_patience = std::chrono::milliseconds(500);  // for one answer of the broker
constexpr auto first_retry = 200ms;     // a schema comes to the broker a little after its topic
constexpr auto slowest_retry = 5000ms;  // if it comes at all

[[nodiscard]] bool is_same_failure(const decoded_type* one, const decoded_type* other) noexcept {
  return one != nullptr && other != nullptr && !one->decoder && !other->decoder && one->problem == other->problem;
}

}  // namespace

type_watch::type_watch(std::string broker) : broker_(std::move(broker)) {
  (void)stop_.fd();
  (void)bell_.fd();
  thread_ = start_thread([this] { run(); });
}

type_watch::~type_watch() {
  stop_.ring();
  thread_.join();
}

std::uint64_t type_watch::ask(const std::string& topic) {
  std::uint64_t wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    wanted = ++topics_[topic].wanted;
    to_ask_.insert(topic);
  }
  bell_.ring();
  return wanted;
}

void type_watch::forget(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  topics_.erase(topic);
  to_ask_.erase(topic);
}

type_watch::answer type_watch::of(const std::string& topic) const {
  const std::lock_guard lock(mutex_);
  const auto at = topics_.find(topic);
  return at == topics_.end() ? answer{} : at->second.is;
}

void type_watch::run() {
  directory from({.broker = broker_, .broker_timeout = broker_patience, .stop_fd = stop_.fd()});
  directory_watch watch = from.watch({.topics = {"**"}});
  for (;;) {
    bell_.clear();
    take_changes(watch);
    ask_broker(from);
    const int watch_fd = watch.fd();
    std::array<pollfd, 3> items{{{stop_.fd(), POLLIN, 0}, {bell_.fd(), POLLIN, 0}, {watch_fd, POLLIN, 0}}};
    ::poll(items.data(), items.size(), wait_ms(watch_fd >= 0));
    if (items[0].revents != 0) return;
  }
}

// Each change of a topic that is followed makes it one to ask about: the answer has the newest state.
void type_watch::take_changes(directory_watch& watch) {
  directory_change change;
  while (watch.next_change(change, 0)) {
    if (change.what != directory_change::kind::topic) continue;
    const std::lock_guard lock(mutex_);
    const auto at = topics_.find(change.topic.name);
    if (at == topics_.end()) continue;
    const auto& publication = change.topic.publication;
    if (publication && is_news(*publication, at->second)) to_ask_.insert(at->first);
  }
}

bool type_watch::is_news(const publication_state& publication, const followed& known) {
  return !known.is.known || known.is.confirmed < known.wanted || publication.id != known.is.publication ||
         publication.type != known.described;
}

void type_watch::ask_broker(directory& from) {
  std::set<std::string> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(to_ask_);
    const auto now = clock::now();
    for (auto& [topic, each] : topics_) {
      if (!each.lacks_schema || now < each.retry_at) continue;
      each.retry_pause = std::min<clock::duration>(each.retry_pause * 2, slowest_retry);
      each.retry_at = now + each.retry_pause;
      asked.insert(topic);
    }
  }
  for (const std::string& topic : asked) {
    std::uint64_t wanted = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto at = topics_.find(topic);
      if (at == topics_.end()) continue;
      wanted = at->second.wanted;
    }
    topic_state state;
    const result answered = from.describe(topic, state);
    if (answered.code() == errc::closed) return;
    if (answered) take_over(from, topic, state.publication, wanted);
    // Without an answer the watch reports the topic when the broker is back. No client should wait until then.
    const std::lock_guard lock(mutex_);
    if (const auto at = topics_.find(topic); at != topics_.end()) at->second.is.asked = wanted;
    if (answered.code() != errc::no_broker) continue;
    for (const std::string& each : asked)
      if (const auto at = topics_.find(each); at != topics_.end()) at->second.is.asked = at->second.wanted;
    return;
  }
}

// A topic without a publication keeps its type: the last sample of the publication that ended may still be shown.
void type_watch::take_over(directory& from, const std::string& topic,
                           const std::optional<publication_state>& publication, std::uint64_t wanted) {
  if (!publication) return;
  bool lacking = false;
  auto type = publication->type ? decoder_of(from, *publication->type, lacking) : nullptr;
  const std::lock_guard lock(mutex_);
  const auto at = topics_.find(topic);
  if (at == topics_.end()) return;
  followed& known = at->second;
  const bool same_type = known.is.known && known.described == publication->type;
  if (lacking && !(same_type && known.lacks_schema)) {
    known.retry_pause = first_retry;
    known.retry_at = clock::now() + first_retry;
  }
  known.is.known = true;
  known.is.confirmed = wanted;
  known.is.publication = publication->id;
  // Another object is another type to who follows the topic.
  if (!same_type || !is_same_failure(known.is.type.get(), type.get())) known.is.type = std::move(type);
  known.described = publication->type;
  known.lacks_schema = lacking;
}

std::shared_ptr<const decoded_type> type_watch::decoder_of(directory& from, const topic_type& type, bool& lacking) {
  std::erase_if(decoders_, [](const auto& each) { return each.second.expired(); });
  if (const auto at = decoders_.find(type.hash); at != decoders_.end())
    if (auto known = at->second.lock()) return known;
  type_description whole;
  const result found = from.find_type(type, whole);
  if (found) {
    auto made = decoded(whole);
    decoders_[type.hash] = made;
    return made;
  }
  lacking = found.code() == errc::unknown_type || found.code() == errc::no_broker;
  auto failed = std::make_shared<decoded_type>();
  failed->name = type.name;
  failed->encoding = type.message_encoding;
  failed->hash = type.hash;
  failed->problem = found.error().message();
  return failed;
}

int type_watch::wait_ms(bool watches) const {
  auto next = clock::time_point::max();
  const auto now = clock::now();
  if (!watches) next = now + first_retry;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [topic, each] : topics_)
      if (each.lacks_schema) next = std::min(next, each.retry_at);
  }
  if (next == clock::time_point::max()) return -1;
  return next <= now ? 0 : static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count());
}

}  // namespace orc::web
