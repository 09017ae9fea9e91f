#include "tools/orc/record/record_follower.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "orc/calls/call_record.h"
#include "orc/schema.h"
#include "tools/orc/text.h"
#include "wire/name_pattern.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

// A broker takes so many patterns in one watch.
constexpr std::size_t patterns_per_watch = 16;

// The recorder may not run for a while, because the machine is busy: so long a queue should bridge it. Shared memory
// keeps the queue in the publisher's memory, so large samples get a short one.
constexpr std::size_t queue_bytes = std::size_t{16} << 20;
constexpr std::size_t least_depth = 8;
constexpr std::size_t most_depth = 8192;
constexpr std::size_t default_depth = 1024;  // of a topic whose samples nobody has seen yet

// Messages that a subscription over shared memory may hold: all that there are, but for the one that is being received
// and the last one, with a reserve.
constexpr std::size_t max_messages = 60;
constexpr std::size_t most_pinned = 50;

constexpr std::size_t most_described = 128;  // of a shared topic whose descriptions are kept: twice those at a time

constexpr auto ask_interval = 100ms;  // for what the broker does not know yet
constexpr auto patience = 1500ms;     // then a source is recorded with what is known of its type
constexpr auto link_interval = 500ms;
constexpr auto last_broker_timeout = 500ms;  // while somebody waits for the end
constexpr auto silence = 2s;                 // then it is worth saying that no broker answers

std::vector<directory_watch> watches_of(const record_options& options, const directory& from) {
  std::vector<directory_watch> made;
  std::vector<std::string> patterns = options.topics;
  if (patterns.empty()) patterns.emplace_back("**");
  for (std::size_t i = 0; i < patterns.size(); i += patterns_per_watch) {
    watch_options wanted;
    const auto begin = patterns.begin() + static_cast<std::ptrdiff_t>(i);
    wanted.topics.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min(patterns_per_watch, patterns.size() - i)));
    made.push_back(from.watch(wanted));
  }
  return made;
}

participant_options participant_of(const record_options& options) {
  participant_options own;
  own.broker = options.broker;
  own.name = "orc record";
  own.name_space = wire::no_name_space;
  own.broker_timeout = 500ms;
  return own;
}

recording::channel channel_of(const std::string& topic, const publication_state& from, type_description type,
                              bool is_shared = false) {
  recording::channel made;
  made.topic = topic;
  made.type = std::move(type);
  if (from.id.empty()) return made;
  made.metadata["orc.publication"] = from.id;
  made.metadata["orc.publisher"] = from.participant.name;
  made.metadata["orc.pid"] = std::to_string(from.participant.pid);
  made.metadata["orc.keep_last"] = from.keep_last ? "true" : "false";
  if (is_shared) made.metadata["orc.shared"] = "true";
  return made;
}

}  // namespace

record_follower::record_follower(const record_options& options, const detail::stop_signal& stop, record_receiver& to,
                                 std::function<void(const std::string&)> note)
    : options_(options),
      note_(std::move(note)),
      to_(to),
      directory_(broker_directory(options.broker, stop)),
      watches_(watches_of(options, directory_)),
      participant_(participant_of(options)) {}

std::vector<int> record_follower::fds() const {
  std::vector<int> all;
  for (const auto& each : watches_)
    if (const int fd = each.fd(); fd >= 0) all.push_back(fd);
  return all;
}

result record_follower::step() {
  const auto now = clock::now();
  due_ = now + 1s;
  for (directory_watch& each : watches_) {
    directory_change change;
    result next;
    while ((next = each.next_change(change, 0))) take(change);
    if (next.code() == errc::bad_argument) return next;
    if (next.code() == errc::refused) note_(escaped(next.error().message()));
  }
  if (!has_broker_ && !lost_ && now - begun_ > silence) {
    lost_ = true;
    note_("no broker answers: waits for one");
  }
  for (auto& [name, each] : topics_)
    if (!describe(each, name)) due_ = std::min(due_, clock::now() + ask_interval);
  if (now >= look_at_links_at_) look_at_links();
  due_ = std::min(due_, look_at_links_at_);
  return {};
}

void record_follower::finish() {
  watches_.clear();
  directory_ = directory({.broker = options_.broker, .broker_timeout = last_broker_timeout});
}

void record_follower::take(const directory_change& change) {
  using kind = directory_change::kind;
  if (change.what == kind::complete) {
    if (std::exchange(lost_, false)) note_("the broker is back");
    has_broker_ = true;
  } else if (change.what == kind::broker_lost) {
    if (!std::exchange(lost_, true)) note_("the broker does not answer: known topics go on, new ones have to wait");
  } else if (change.what == kind::topic && change.topic.publication) {
    if (wants(change.topic.name)) follow(change.topic);
  } else if (const auto known = topics_.find(change.topic.name); change.what == kind::topic && known != topics_.end()) {
    replace_publishers(known->second, change.topic);
  }
}

bool record_follower::wants(const std::string& topic) const {
  if (!is_reserved(topic) || is_call_record_topic(topic)) return true;
  return std::ranges::any_of(options_.topics,
                             [&](const std::string& each) { return is_reserved(each) && wire::matches(each, topic); });
}

void record_follower::follow(const topic_state& topic) {
  const auto found = topics_.find(topic.name);
  std::shared_ptr<record_subscription> subscription =
      found == topics_.end() ? subscribe(topic) : found->second.subscription;
  if (!subscription) return;
  followed& each = topics_[topic.name];
  each.subscription = std::move(subscription);
  if (each.publication.id != topic.publication->id) {
    const std::lock_guard lock(each.subscription->mutex);
    each.subscription->published = {topic.publication->id, record_moment::now().wall_ns};
  }
  replace(each, *topic.publication);
  replace_publishers(each, topic);
  // Asked for now, it is known when the first sample comes.
  type_description ignored;
  if (topic.publication->type) (void)find_type(*topic.publication->type, ignored);
  for (const publication_state& other : topic.others)
    if (other.type) (void)find_type(*other.type, ignored);
}

void record_follower::replace(followed& topic, const publication_state& found) {
  if (topic.publication.id != found.id) topic.former = std::move(topic.publication);
  topic.publication = found;
}

void record_follower::replace_publishers(followed& topic, const topic_state& found) {
  if (found.publication) topic.is_shared = found.shared;
  for (auto& [id, each] : topic.publishers) each.is_gone = true;
  if (found.publication && found.shared) {
    topic.publishers[found.publication->id] = {*found.publication, false};
    for (const publication_state& each : found.others) topic.publishers[each.id] = {each, false};
  }
  // Those that are gone may still be in samples that wait for their types.
  if (topic.publishers.size() > most_described)
    std::erase_if(topic.publishers, [](const auto& each) { return each.second.is_gone; });
  const std::int64_t now = record_moment::now().steady_ns;
  record_subscription& from = *topic.subscription;
  const std::lock_guard lock(from.mutex);
  if (from.own.source && topic.is_shared && !from.own.source->has_ended_before(now)) from.own.source->set_ended(now);
  for (auto& [number, each] : from.publishers) {
    const auto known = topic.publishers.find(each.info.id);
    const bool is_gone = known == topic.publishers.end() || known->second.is_gone;
    // After a restart of the broker, publishers come back one after the other.
    if (!is_gone)
      each.stream.source->set_ended(0);
    else if (!each.stream.source->has_ended_before(now))
      each.stream.source->set_ended(now);
  }
}

std::shared_ptr<record_subscription> record_follower::subscribe(const topic_state& topic) {
  request_options wish;
  wish.conflate = 0;
  wish.depth = options_.depth != 0 ? options_.depth : depth_for(topic.name);
  wish.max_messages = max_messages;
  wish.type_check = type_check::off;
  subscriber from = participant_.request_topic(topic.name, wish);
  if (!from) {
    if (failed_.insert(topic.name).second)
      note_("cannot record '" + topic.name + "': " + escaped(from.error().message()));
    return nullptr;
  }
  auto made = std::make_shared<record_subscription>(topic.name, std::move(from), most_pinned);
  made->published = {topic.publication->id, record_moment::now().wall_ns};
  if (const result asked = to_.add(made); !asked) {
    (void)participant_.release_topic(topic.name);
    if (failed_.insert(topic.name).second) note_(asked.error().message());
    return nullptr;
  }
  failed_.erase(topic.name);
  return made;
}

std::size_t record_follower::depth_for(const std::string& topic) {
  topic_state state;
  if (!directory_.describe(topic, state) || !state.publication || !state.publication->counters ||
      state.publication->counters->sent == 0)
    return default_depth;
  const auto& counters = *state.publication->counters;
  const std::uint64_t size = std::max<std::uint64_t>(counters.bytes / counters.sent, 1);
  // A publisher in shared memory makes it a power of two: not of more bytes.
  return std::bit_floor(std::clamp<std::size_t>(queue_bytes / size, least_depth, most_depth));
}

bool record_follower::describe(followed& topic, const std::string& name) {
  record_subscription& from = *topic.subscription;
  const bool publishers_are_known = describe_publishers(topic, name);
  const bool former_is_known = describe_former(topic, name) && publishers_are_known;
  std::shared_ptr<record_source> source;
  std::string before;
  std::string id;
  clock::time_point since;
  {
    const std::lock_guard lock(from.mutex);
    source = from.own.source;
    before = from.id_before;
    id = from.source_id;
    since = from.source_since;
  }
  if (!source || from.described == source->number()) return former_is_known;
  const bool is_late = clock::now() - since > patience;
  if (id.empty()) {
    // The samples are here before the watch reports their publication, or after it: the broker is asked when in doubt.
    if (topic.publication.id == before && !before.empty() && !lost_) {
      topic_state state;
      if (directory_.describe(name, state) && state.publication) replace(topic, *state.publication);
    }
    if (topic.publication.id == before && !is_late) return false;
    const std::lock_guard lock(from.mutex);
    if (from.own.source != source) return false;
    from.source_id = topic.publication.id;
    from.published.id = topic.publication.id;
  } else if (topic.publication.id != id) {
    from.described = source->number();  // its publication is gone: no more can be known of it
    return former_is_known;
  }
  type_description type;
  const bool found = !topic.publication.type || find_type(*topic.publication.type, type);
  if (found) from.described = source->number();
  if (found || is_late)
    source->describe(channel_of(name, topic.publication, std::move(type)), topic.publication.keep_last);
  return found && former_is_known;
}

// The source before the newest one, of which nothing was known when the newest one began.
bool record_follower::describe_former(followed& topic, const std::string& name) {
  record_subscription& from = *topic.subscription;
  std::shared_ptr<record_source> source;
  std::string id;
  bool is_late = false;
  {
    const std::lock_guard lock(from.mutex);
    if (!from.former) return true;
    source = from.former;
    id = from.former_id;
    is_late = clock::now() - from.source_since > patience;
  }
  const publication_state unknown;
  const publication_state& of = topic.publication.id == id ? topic.publication
                                : topic.former.id == id    ? topic.former
                                                           : unknown;
  type_description type;
  if (of.type && !find_type(*of.type, type) && !is_late) return false;
  source->describe(channel_of(name, of, std::move(type)), of.keep_last);
  const std::lock_guard lock(from.mutex);
  from.former.reset();
  return true;
}

bool record_follower::describe_publishers(followed& topic, const std::string& name) {
  record_subscription& from = *topic.subscription;
  std::vector<undescribed> open;
  {
    const std::lock_guard lock(from.mutex);
    for (const auto& [number, each] : from.publishers)
      if (!each.described) open.push_back({number, each.stream.source, each.info, each.since});
  }
  // The samples are here before the watch reports their publications.
  const auto is_new = [&](const undescribed& each) { return !topic.publishers.contains(each.info.id); };
  topic_state state;
  if (!lost_ && std::any_of(open.begin(), open.end(), is_new) && directory_.describe(name, state))
    replace_publishers(topic, state);
  std::size_t done = 0;
  for (const undescribed& each : open) {
    if (!describe_publisher(topic, name, each)) continue;
    ++done;
    const std::lock_guard lock(from.mutex);
    const auto known = from.publishers.find(each.number);
    if (known != from.publishers.end()) known->second.described = true;
  }
  return done == open.size();
}

// True: nothing is left to do for this publisher.
bool record_follower::describe_publisher(followed& topic, const std::string& name, const undescribed& which) {
  const bool is_late = clock::now() - which.since > patience;
  publication_state of;
  const auto known = topic.publishers.find(which.info.id);
  if (known != topic.publishers.end()) {
    of = known->second.publication;
  } else if (is_late) {
    of.id = which.info.id;
    of.participant.name = which.info.name;
    of.participant.pid = which.info.pid;
  } else {
    return false;
  }
  type_description type;
  const bool found = !of.type || find_type(*of.type, type);
  if (found || is_late) which.source->describe(channel_of(name, of, std::move(type), true), of.keep_last);
  if (known == topic.publishers.end() || known->second.is_gone) which.source->set_ended(record_moment::now().steady_ns);
  return found;
}

bool record_follower::find_type(const topic_type& which, type_description& found) {
  if (const auto known = types_.find(which.hash); known != types_.end()) {
    found = known->second;
    return true;
  }
  found = {which.name, which.schema_encoding, which.message_encoding, ""};
  if (which.schema_size == 0 && hash_of(found) == which.hash) return true;
  type_description whole;
  if (lost_ || !directory_.find_type(which, whole)) return false;
  found = whole;
  types_.emplace(which.hash, std::move(whole));
  return true;
}

// Samples in shared memory occupy the publisher's places; others do not.
void record_follower::look_at_links() {
  for (auto& [name, each] : topics_) {
    const link_info link = each.subscription->link.link();
    if (each.is_shared)
      each.subscription->in_shared_memory = true;  // as far as is known: each publisher has a link
    else if (link.connected)
      each.subscription->in_shared_memory = link.transport == transport::shm;
  }
  look_at_links_at_ = clock::now() + link_interval;
}

}  // namespace orc::cli
