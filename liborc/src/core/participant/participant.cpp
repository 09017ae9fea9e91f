#include "core/participant/participant.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/files/run_dir.h"
#include "base/network/endpoint_check.h"
#include "core/participant/option_checks.h"
#include "core/participant/with_environment.h"

namespace orc::detail {

namespace {

constexpr std::chrono::nanoseconds max_withdrawal = std::chrono::seconds(1);
// How long request_topic waits for the check of the types when it does not wait for the link.
constexpr std::chrono::nanoseconds max_check = std::chrono::milliseconds(500);

constexpr std::chrono::nanoseconds look_again = std::chrono::milliseconds(100);

[[nodiscard]] result again(const char* first) {
  return {errc::bad_argument, std::string("the topic was declared with other options; ") + first + " it first"};
}

}  // namespace

participant::participant(participant_options given) : generation_(fork_generation()) {
  auto completed = with_environment(std::move(given));
  if (!completed) {
    started_ = completed.error();
    return;
  }
  options_ = *std::move(completed);
  if (auto parsed = wire::name_space::parse(options_.name_space)) names_ = *std::move(parsed);
  if (options_.broker_timeout.count() < 0) {
    started_ = negative("broker_timeout");
    return;
  }
  auto acquired = process::acquire();
  if (!acquired) {
    started_ = acquired.error();
    return;
  }
  process_ = *std::move(acquired);
  transports_ = std::make_shared<const transport_list>(make_transports(process_->local_publications(), options_));
  if (started_ = available(options_.transports, *transports_); !started_) return;
  housekeeping_ = std::make_unique<housekeeping>(process_->context(), options_);
  started_ = housekeeping_->started();
}

participant::participant(result started, wire::name_space names) noexcept
    : names_(std::move(names)), generation_(fork_generation()), started_(std::move(started)) {}

participant::~participant() {
  housekeeping_.reset();  // first: it says goodbye and drops the topics
  std::vector<std::shared_ptr<publication>> leaving;
  topics_.for_each([&](topic_table::entry& entry) {
    if (auto p = entry.set_sender(nullptr)) {
      try {
        leaving.push_back(p);
      } catch (const std::bad_alloc&) {
        p->close();  // without a farewell
      }
    }
    if (const auto s = entry.set_receiver(nullptr)) s->close();
  });
  publication::end_all(leaving);
}

bool participant::alone() const noexcept { return options_.broker == without_broker; }

result participant::ready() const {
  if (forked()) return errc::forked;
  return started_;
}

result participant::register_topic(std::string_view topic, const topic_options& options) {
  if (auto ok = ready(); !ok) return ok;
  if (auto ok = names_.check(topic); !ok) return ok;
  if (auto ok = check_options(options, *transports_, alone()); !ok) return ok;
  topic_options chosen = options;
  topic_table::entry& entry = topics_.find_or_make(topic);
  std::shared_ptr<publication> p;
  {
    const std::lock_guard lock(setup_mutex_);
    p = entry.as_publication();
    if (p && !p->was_made_with(chosen)) return again("unregister_topic");
    if (!p) {
      if (chosen.transports.empty()) chosen.transports = options_.transports;
      if (chosen.multicast.empty()) chosen.multicast = options_.multicast;
      p = std::make_shared<publication>(std::string(topic), std::move(chosen), transports_);
      housekeeping_->add(p);
      entry.set_sender(p);
    }
  }
  result done = outcome_of(p->announcement());
  if (!done && p->announcement().is_refused()) {
    done = outcome_of(p->announcement());
    forget(entry, p);
  }
  return done;
}

result participant::request_topic(std::string_view topic, const request_options& options) {
  if (auto ok = ready(); !ok) return ok;
  if (auto ok = names_.check(topic); !ok) return ok;
  if (auto ok = check_options(options, *transports_); !ok) return ok;
  const deadline until(options.connected_within);
  topic_table::entry& entry = topics_.find_or_make(topic);
  std::shared_ptr<subscription> s;
  {
    const std::lock_guard lock(setup_mutex_);
    s = entry.as_subscription();
    if (s && !s->was_made_with(options)) return again("release_topic");
    if (!s) {
      const auto allowed = options.transports.empty() ? options_.transports : options.transports;
      const bool open = allowed.contains(transport::multicast) || (alone() && allowed.empty());
      if (alone() && !open) return without_multicast(std::string(topic));
      s = std::make_shared<subscription>(std::string(topic), options, allowed, transports_, housekeeping_->bell(),
                                         options_.multicast, open, alone());
      housekeeping_->add(s);
      entry.set_receiver(s);
    }
  }
  result done = outcome_of(s->announcement());
  if (!done && s->announcement().is_refused()) {
    done = outcome_of(s->announcement());
    forget(entry, s);
  }
  if (!done) return done;
  if (options.connected_within.count() == 0)
    return s->wait_checked(deadline(std::min(options_.broker_timeout, max_check)));
  done = s->wait_connected(until);
  if (done.code() == errc::timed_out)
    return {errc::timed_out, "no link to topic " + std::string(topic) + " within " + text_of(options.connected_within) +
                                 " (" + s->link().reason + "); the request stays"};
  return done;
}

result participant::outcome_of(const announcement& announced) const {
  result done = announced.wait(deadline(options_.broker_timeout));
  if (options_.broker_timeout.count() > 0) {
    const auto is_open = [&] { return done.code() == errc::timed_out; };
    while (is_open() && housekeeping_->looks_for_slow_broker()) done = announced.wait(deadline(look_again));
    const auto trip = housekeeping_->broker_round_trip();
    if (is_open() && trip >= slow_round_trip) done = announced.wait(deadline(round_trips_more * trip));
  }
  if (done.code() != errc::timed_out) return done;
  if (auto why = housekeeping_->broker_availability(); !why) return why;
  return {errc::no_broker, "the broker at " + housekeeping_->broker_endpoint() + " did not answer within " +
                               text_of(options_.broker_timeout)};
}

std::shared_ptr<const announcement> participant::forget(topic_table::entry& entry,
                                                        const std::shared_ptr<publication>& p) {
  std::shared_ptr<const announcement> told;
  {
    const std::lock_guard lock(setup_mutex_);
    if (entry.as_publication() != p) return nullptr;
    entry.set_sender(nullptr);
    told = housekeeping_->remove(p);
  }
  p->announcement().withdrawn();
  publication::end_all({p});
  return told;
}

void participant::forget(topic_table::entry& entry, const std::shared_ptr<subscription>& s) {
  const std::lock_guard lock(setup_mutex_);
  if (entry.as_subscription() != s) return;
  entry.set_receiver(nullptr);
  housekeeping_->remove(s);
  s->announcement().withdrawn();
  s->close();
}

result participant::unregister_topic(std::string_view topic) {
  if (auto ok = ready(); !ok) return ok;
  topic_table::entry* const entry = topics_.find(topic);
  const auto p = entry != nullptr ? entry->as_publication() : nullptr;
  if (!p) return errc::not_registered;
  const auto told = forget(*entry, p);
  // The next program that registers the topic must not hear that we hold it. The withdrawal takes effect, late or not.
  if (told) (void)told->wait(deadline(std::min(options_.broker_timeout, max_withdrawal)));
  return {};
}

result participant::release_topic(std::string_view topic) {
  if (auto ok = ready(); !ok) return ok;
  topic_table::entry* const entry = topics_.find(topic);
  const auto s = entry != nullptr ? entry->as_subscription() : nullptr;
  if (!s) return errc::not_requested;
  forget(*entry, s);
  return {};
}

std::shared_ptr<publication> participant::restore_publication(std::string_view topic, const topic_options& options) {
  topic_table::entry& entry = topics_.find_or_make(topic);
  const std::lock_guard lock(setup_mutex_);
  auto p = entry.as_publication();
  if (!p) {
    p = std::make_shared<publication>(std::string(topic), options, std::make_shared<const transport_list>());
    entry.set_sender(p);
  }
  return p;
}

std::shared_ptr<subscription> participant::restore_subscription(std::string_view topic,
                                                                const request_options& options) {
  topic_table::entry& entry = topics_.find_or_make(topic);
  const std::lock_guard lock(setup_mutex_);
  auto s = entry.as_subscription();
  if (!s) {
    s = std::make_shared<subscription>(std::string(topic), options, transport_set(),
                                       std::make_shared<const transport_list>(), std::make_shared<doorbell>(),
                                       std::string(), false, false);
    entry.set_receiver(s);
  }
  return s;
}

void participant::drop_publication(std::string_view topic) noexcept {
  topic_table::entry* const entry = topics_.find(topic);
  if (const auto p = entry != nullptr ? entry->set_sender(nullptr) : nullptr) p->close();
}

void participant::drop_subscription(std::string_view topic) noexcept {
  topic_table::entry* const entry = topics_.find(topic);
  if (const auto s = entry != nullptr ? entry->set_receiver(nullptr) : nullptr) s->close();
}

std::shared_ptr<publication> participant::publication_of(std::string_view topic) const noexcept {
  const topic_table::entry* const entry = topics_.find(topic);
  return entry != nullptr ? entry->as_publication() : nullptr;
}

std::shared_ptr<subscription> participant::subscription_of(std::string_view topic) const noexcept {
  const topic_table::entry* const entry = topics_.find(topic);
  return entry != nullptr ? entry->as_subscription() : nullptr;
}

std::string participant::broker_endpoint() const {
  return forked() || !housekeeping_ ? std::string() : housekeeping_->broker_endpoint();
}

}  // namespace orc::detail
