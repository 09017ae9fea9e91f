#include "core/participant.h"

#include <algorithm>
#include <new>

#include "base/run_dir.h"
#include "core/with_environment.h"
#include "orc/schema.h"
#include "wire/multicast_url.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_queue_depth = 65536;
constexpr std::chrono::nanoseconds max_withdrawal = std::chrono::seconds(1);
constexpr std::size_t max_held_messages = 60;
constexpr std::size_t max_expected_size = std::size_t{1} << 36;
constexpr std::uint8_t max_transports = 32;  // that a transport_set can name
constexpr std::chrono::nanoseconds max_spin = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds max_max_age = std::chrono::days(49);  // the broker is told ms in 32 bits
// How long request_topic waits for the check of the types when it does not wait for the link.
constexpr std::chrono::nanoseconds max_check = std::chrono::milliseconds(500);

// The wire cuts longer texts, which would change the hash.
[[nodiscard]] result check_description(const type_description& type) {
  for (const std::string* const text : {&type.name, &type.schema_encoding, &type.message_encoding}) {
    if (text->size() > wire::max_text)
      return {errc::bad_argument, "a name or an encoding of a type has at most " + std::to_string(wire::max_text) +
                                      " bytes, not " + std::to_string(text->size())};
    if (text->find('\0') != std::string::npos)
      return {errc::bad_argument, "a name or an encoding of a type has a NUL inside"};
  }
  if (type.schema.size() > max_schema_bytes)
    return {errc::bad_argument, "the schema has " + std::to_string(type.schema.size()) + " bytes; " +
                                    std::to_string(max_schema_bytes) + " are allowed"};
  return check_schema(type);
}

[[nodiscard]] result negative(const char* option) {
  return {errc::bad_argument, std::string(option) + " is negative: it is 0 or more, and orc::forever is without limit"};
}

[[nodiscard]] result again(const char* first) {
  return {errc::bad_argument, std::string("the topic was declared with other options; ") + first + " it first"};
}

[[nodiscard]] result only_for(transport t, const char* option) {
  const std::string name(to_string(t));
  return {errc::bad_argument, std::string(option) + " has a meaning over " + name +
                                  " only, which transports leaves out: add " + name + " to them, or leave " + option +
                                  " out"};
}

// Rejects an option whose only transport is missing from the transports that the same call names.
[[nodiscard]] result consistent(const topic_options& options) {
  const topic_options none;
  const auto leaves_out = [&](transport t) { return !options.transports.empty() && !options.transports.contains(t); };
  if (leaves_out(transport::shm) && options.history != none.history) return only_for(transport::shm, "history");
  if (leaves_out(transport::shm) && options.memory != none.memory) return only_for(transport::shm, "memory");
  if (leaves_out(transport::multicast) && !options.multicast.empty())
    return only_for(transport::multicast, "multicast");
  if (options.priority > priority::control) return {errc::bad_argument, "priority is bulk, normal or control"};
  if (options.priority != none.priority && leaves_out(transport::tcp) && leaves_out(transport::multicast))
    return {
        errc::bad_argument,
        "priority has a meaning over tcp and multicast only, which transports leaves out: add one of them, or leave "
        "priority out"};
  return {};
}

[[nodiscard]] result consistent(const request_options& options) {
  const request_options none;
  if (options.transports.empty() || options.transports.contains(transport::shm)) return {};
  if (options.max_messages != none.max_messages) return only_for(transport::shm, "max_messages");
  return {};
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
  if (started_ = available(options_.transports); !started_) return;
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

result participant::available(transport_set wanted) const {
  for (std::uint8_t number = 0; number < max_transports; ++number) {
    const auto t = static_cast<transport>(number);
    const auto name = static_cast<wire::transport>(number);
    if (wanted.contains(t) &&
        std::none_of(transports_->begin(), transports_->end(), [&](const auto& each) { return each->name() == name; }))
      return {errc::bad_argument,
              "this liborc has no transport " + std::to_string(number) + " (" + std::string(to_string(t)) + ")"};
  }
  return {};
}

result participant::register_topic(std::string_view topic, const topic_options& options) {
  if (auto ok = ready(); !ok) return ok;
  if (auto ok = names_.check(topic); !ok) return ok;
  if (auto ok = check_description(options.type); !ok) return ok;
  if (options.history == 0 || options.history > max_queue_depth)
    return {errc::bad_argument, "a history has 1 to " + std::to_string(max_queue_depth) + " samples, not " +
                                    std::to_string(options.history)};
  if (options.expected_size > max_expected_size)
    return {errc::bad_argument, "an expected size has at most " + std::to_string(max_expected_size) + " bytes, not " +
                                    std::to_string(options.expected_size)};
  if (auto ok = available(options.transports); !ok) return ok;
  if (auto ok = consistent(options); !ok) return ok;
  if (alone() && options.shared)
    return {errc::bad_argument,
            "shared needs a broker: without one (none), a topic on multicast is open to every sender anyway"};
  if (const auto url = wire::multicast_url::parse(options.multicast); !url) return url.error();
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
  if (options.conflate != 0 && options.conflate != 1)
    return {errc::bad_argument, "conflate is 0 or 1, not " + std::to_string(options.conflate)};
  if (options.conflate == 1 && options.depth != 0)
    return {errc::bad_argument, "depth is the length of the queue with conflate = 0: set that, or leave depth out"};
  if (options.depth > max_queue_depth)
    return {errc::bad_argument,
            "a queue has 1 to " + std::to_string(max_queue_depth) + " places, not " + std::to_string(options.depth)};
  if (options.connected_within.count() < 0) return negative("connected_within");
  if (options.max_messages == 0 || options.max_messages > max_held_messages)
    return {errc::bad_argument, "max_messages is 1 to " + std::to_string(max_held_messages) + ", not " +
                                    std::to_string(options.max_messages)};
  if (options.spin.count() < 0 || options.spin > max_spin)
    return {errc::bad_argument, "spin is 0 to " + text_of(max_spin) + ", not " + text_of(options.spin)};
  if (options.wait > wait::predictive) return {errc::bad_argument, "wait is block or predictive"};
  if (!(options.cpu_budget > 0 && options.cpu_budget <= 1))
    return {errc::bad_argument, "cpu_budget is a share of a core: above 0 and at most 1"};
  if (options.max_age.count() < 0 || options.max_age > max_max_age)
    return {errc::bad_argument, "max_age is 0 (any age) to 49 days, not " + text_of(options.max_age)};
  if (auto ok = check_description(options.type); !ok) return ok;
  if (options.type_check > type_check::off) return {errc::bad_argument, "type_check is on or off"};
  if (options.newest_of > newest_of::each) return {errc::bad_argument, "newest_of is all or each"};
  if (options.newest_of == newest_of::each && options.conflate == 0)
    return {errc::bad_argument, "newest_of is for conflate = 1: with 0 every sample of each publisher comes anyway"};
  if (auto ok = available(options.transports); !ok) return ok;
  if (auto ok = consistent(options); !ok) return ok;
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
