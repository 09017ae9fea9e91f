#include "tools/view/system_meter.h"

#include <algorithm>
#include <map>
#include <utility>

#include <unistd.h>

#include "base/process/process_identity.h"

namespace orc::view {

namespace {

[[nodiscard]] bool is_this_process(const participant_state& who) {
  static const std::string here = detail::host_identity();
  return who.pid == static_cast<std::uint32_t>(getpid()) && who.host == here;
}

// The sums of participants and hosts, filled topic by topic.
class sums {
 public:
  explicit sums(const std::vector<participant_state>& participants) {
    participants_.reserve(participants.size());
    for (const participant_state& each : participants) {
      index_.emplace(each.id, participants_.size());
      participants_.push_back({.participant = each});
    }
  }

  void add(const topic_figures& topic) {
    for (const publication_figures& each : topic.shared_by) add_sent(each.publisher.id, each);
    if (topic.shared_by.empty() && topic.publisher) add_sent(topic.publisher->id, topic);
    for (const subscription_figures& each : topic.subscriptions) {
      participant_figures* const by = find(each.subscriber.id);
      if (by == nullptr) continue;
      traffic in;
      in.received_hz = each.rate_hz.value_or(0);
      in.received_bytes_per_s = each.bytes_per_s.value_or(0);
      if (!each.own) {
        in.missed_per_s = each.missed_per_s.value_or(0);
        in.missed = each.missed;
      }
      ++by->subscribed;
      by->sum += in;
    }
  }

  void finish(system_figures& into) {
    std::map<std::string, host_figures> hosts;
    for (const participant_figures& each : participants_) {
      host_figures& on = hosts[each.participant.host];
      on.id = each.participant.host;
      ++on.participants;
      on.published += each.published;
      on.subscribed += each.subscribed;
      on.sum += each.sum;
    }
    for (auto& [id, host] : hosts) into.hosts.push_back(std::move(host));
    into.participants = std::move(participants_);
  }

 private:
  template <class Figures>
  void add_sent(const std::string& publisher, const Figures& of) {
    participant_figures* const by = find(publisher);
    if (by == nullptr) return;
    traffic out;
    out.sent_hz = of.rate_hz.value_or(0);
    out.sent_bytes_per_s = of.bytes_per_s.value_or(0);
    out.dropped_per_s = of.dropped_per_s.value_or(0);
    out.dropped = of.dropped;
    ++by->published;
    by->sum += out;
  }
  [[nodiscard]] participant_figures* find(const std::string& id) {
    const auto at = index_.find(id);
    return at == index_.end() ? nullptr : &participants_[at->second];
  }

  std::unordered_map<std::string, std::size_t> index_;
  std::vector<participant_figures> participants_;
};

void add(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void offer(std::vector<orc::transport>& all, const std::vector<endpoint>& endpoints) {
  for (const endpoint& each : endpoints)
    if (std::find(all.begin(), all.end(), each.transport) == all.end()) all.push_back(each.transport);
}

void count(std::vector<transport_use>& uses, orc::transport used) {
  const auto at = std::find_if(uses.begin(), uses.end(), [&](const auto& each) { return each.transport >= used; });
  if (at != uses.end() && at->transport == used)
    ++at->subscriptions;
  else
    uses.insert(at, {used, 1});
}

}  // namespace

traffic& traffic::operator+=(const traffic& other) noexcept {
  sent_hz += other.sent_hz;
  sent_bytes_per_s += other.sent_bytes_per_s;
  received_hz += other.received_hz;
  received_bytes_per_s += other.received_bytes_per_s;
  missed_per_s += other.missed_per_s;
  dropped_per_s += other.dropped_per_s;
  missed += other.missed;
  dropped += other.dropped;
  return *this;
}

template <class Meter>
Meter& system_meter::meter_of(by_id<Meter>& all, const std::string& id) {
  followed<Meter>& found = all[id];
  found.round = round_;
  return found.meter;
}

subscription_figures system_meter::figures_of(subscription_state&& subscription) {
  subscription_figures figures;
  figures.subscriber = std::move(subscription.participant);
  figures.own = is_this_process(figures.subscriber);
  if (auto& counters = subscription.counters) {
    subscription_meter& meter = meter_of(subscriptions_, subscription.id);
    meter.take(*counters);
    figures.transport = counters->transport;
    figures.reason = std::move(counters->reason);
    figures.rate_hz = meter.rate_hz();
    figures.bytes_per_s = meter.bytes_per_s();
    figures.missed_per_s = meter.missed_per_s();
    figures.received = counters->received;
    figures.missed = counters->missed;
    figures.malformed = counters->malformed;
    figures.stale = counters->stale;
    if (counters->sample_age_ns) figures.sample_age = std::chrono::nanoseconds(*counters->sample_age_ns);
  }
  figures.id = std::move(subscription.id);
  return figures;
}

publication_figures system_meter::figures_of(publication_state&& publication) {
  publication_figures figures;
  bool measured = false;
  if (const auto& counters = publication.counters) {
    publication_meter& meter = meter_of(publications_, publication.id);
    meter.take(*counters);
    measured = meter.is_measured();
    figures.rate_hz = meter.rate_hz();
    figures.bytes_per_s = meter.bytes_per_s();
    figures.jitter = meter.jitter();
    figures.age = meter.age();
    figures.dropped_per_s = meter.dropped_per_s();
    figures.sent = counters->sent;
    figures.bytes = counters->bytes;
    figures.dropped = counters->dropped;
    figures.readers = counters->readers;
  }
  // Only the broker of its own host has the counters of a publication.
  rates_known_ = rates_known_ && (measured || !publication.host_name.empty());
  figures.id = std::move(publication.id);
  figures.host_name = std::move(publication.host_name);
  figures.stale = publication.stale;
  figures.publisher = std::move(publication.participant);
  figures.type = std::move(publication.type);
  figures.endpoints = std::move(publication.endpoints);
  return figures;
}

topic_figures system_meter::figures_of(topic_state&& topic) {
  topic_figures figures;
  figures.name = std::move(topic.name);
  figures.subscribers = topic.subscription_count;
  if (topic.publication) {
    std::vector<publication_figures> all;
    all.push_back(figures_of(std::move(*topic.publication)));
    for (publication_state& each : topic.others) all.push_back(figures_of(std::move(each)));
    for (const publication_figures& each : all) {
      add(figures.rate_hz, each.rate_hz);
      add(figures.bytes_per_s, each.bytes_per_s);
      add(figures.dropped_per_s, each.dropped_per_s);
      if (each.age) figures.age = std::min(figures.age.value_or(*each.age), *each.age);
      figures.sent += each.sent;
      figures.bytes += each.bytes;
      figures.dropped += each.dropped;
      figures.readers = std::max(figures.readers, each.readers);
      offer(figures.offered, each.endpoints);
    }
    if (!topic.shared) figures.jitter = all.front().jitter;
    figures.publication = all.front().id;
    figures.publisher = all.front().publisher;
    figures.host_name = all.front().host_name;
    figures.stale = all.front().stale;
    figures.type = all.front().type;
    figures.endpoints = all.front().endpoints;
    if (topic.shared) figures.shared_by = std::move(all);
  }
  figures.subscriptions.reserve(topic.subscriptions.size());
  for (subscription_state& each : topic.subscriptions) {
    const auto& by = figures.subscriptions.emplace_back(figures_of(std::move(each)));
    if (by.transport) count(figures.transports, *by.transport);
    if (by.own) continue;
    figures.missed += by.missed;
    add(figures.missed_per_s, by.missed_per_s);
  }
  return figures;
}

void system_meter::forget_what_is_gone() {
  const auto gone = [this](const auto& each) { return each.second.round != round_; };
  std::erase_if(publications_, gone);
  std::erase_if(subscriptions_, gone);
}

system_figures system_meter::take(snapshot now) {
  ++round_;
  rates_known_ = true;
  system_figures made{.taken = now.taken, .broker = std::move(now.broker)};
  sums per_participant(now.participants);
  made.topics.reserve(now.topics.size());
  for (topic_state& each : now.topics) per_participant.add(made.topics.emplace_back(figures_of(std::move(each))));
  per_participant.finish(made);
  forget_what_is_gone();
  return made;
}

}  // namespace orc::view
