#include "core/participant.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

namespace orc::detail {

namespace {

constexpr std::size_t longest_queue = 65536;
constexpr int longest_withdrawal_ms = 1000;

// "ipc,tcp" -> {ipc, tcp}; names that are none are left out.
[[nodiscard]] transport_set transports_from(std::string_view list) {
  transport_set set;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (const auto named = wire::transport_named(list.substr(0, comma)); named && *named != wire::transport::none)
      set.insert(static_cast<transport>(*named));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return set;
}

[[nodiscard]] std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Subscribers get a number: looking up a name may take seconds, which only its owner should wait for. What cannot be
// looked up here may mean something elsewhere, but not to them.
[[nodiscard]] std::string resolved(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  char text[NI_MAXHOST] = "";
  ::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  ::freeaddrinfo(found);
  return text;
}

[[nodiscard]] participant_options with_environment(participant_options options) {
  if (options.advertise.empty()) options.advertise = environment("ORC_ADVERTISE");
  if (options.transports.empty()) options.transports = transports_from(environment("ORC_TRANSPORTS"));
  return options;
}

[[nodiscard]] result check(std::string_view topic) {
  if (auto problem = wire::topic_name_problem(topic); !problem.empty()) return {errc::bad_name, std::move(problem)};
  return {};
}

}  // namespace

participant::participant(participant_options options)
    : options_(with_environment(std::move(options))), generation_(fork_generation()) {
  if (!options_.advertise.empty()) {
    const std::string number = resolved(options_.advertise);
    if (number.empty()) {
      started_ = {errc::bad_argument, "the address to advertise, " + options_.advertise +
                                          " (ORC_ADVERTISE), is no IPv4 address or known name"};
      return;
    }
    options_.advertise = number;
  }
  auto acquired = process::acquire();
  if (const auto* const failed = std::get_if<error>(&acquired)) {
    started_ = {failed->code(), failed->message()};
    return;
  }
  process_ = std::get<std::shared_ptr<process>>(std::move(acquired));
  transports_ = std::make_shared<const transport_list>(make_transports(process_));
  housekeeping_ = std::make_unique<housekeeping>(process_->context(), options_);
  started_ = housekeeping_->started();
}

participant::~participant() {
  housekeeping_.reset();  // first: it says goodbye and lets go of the topics
  std::vector<std::shared_ptr<publication>> leaving;
  topics_.for_each([&](topic_table::entry& entry) {
    if (auto p = entry.set_sender(nullptr)) leaving.push_back(std::move(p));
    if (const auto s = entry.set_receiver(nullptr)) s->close();
  });
  publication::end_all(leaving);
}

result participant::ready() const {
  if (forked()) return errc::forked;
  return started_;
}

result participant::register_topic(std::string_view topic, const topic_options& options) {
  if (auto ok = ready(); !ok) return ok;
  if (auto ok = check(topic); !ok) return ok;
  if (options.type.schema.size() > wire::max_schema_bytes)
    return {errc::bad_argument, "the schema has " + std::to_string(options.type.schema.size()) + " bytes; " +
                                    std::to_string(wire::max_schema_bytes) + " are allowed"};
  topic_table::entry& entry = topics_.find_or_make(topic);
  std::shared_ptr<publication> p;
  {
    const std::lock_guard lock(setup_mutex_);
    p = entry.sender();
    if (!p) {
      topic_options chosen = options;
      if (chosen.transports.empty()) chosen.transports = options_.transports;
      p = std::make_shared<publication>(std::string(topic), std::move(chosen), transports_);
      entry.set_sender(p);
      housekeeping_->add(p);
    }
  }
  result done = outcome_of(p->announcement());
  if (!done && done.code() != errc::no_broker) forget(entry, p);
  return done;
}

result participant::request_topic(std::string_view topic, const request_options& options) {
  if (auto ok = ready(); !ok) return ok;
  if (auto ok = check(topic); !ok) return ok;
  if (options.conflate != 0 && options.conflate != 1)
    return {errc::bad_argument, "conflate is 0 or 1, not " + std::to_string(options.conflate)};
  if (options.conflate == 0 && (options.depth == 0 || options.depth > longest_queue))
    return {errc::bad_argument,
            "a queue has 1 to " + std::to_string(longest_queue) + " places, not " + std::to_string(options.depth)};
  if (options.connected_within_ms < -1) return {errc::bad_argument, "connected_within_ms is -1 or more"};
  const deadline until(options.connected_within_ms);
  topic_table::entry& entry = topics_.find_or_make(topic);
  std::shared_ptr<subscription> s;
  {
    const std::lock_guard lock(setup_mutex_);
    s = entry.receiver();
    if (!s) {
      const auto allowed = options.transports.empty() ? options_.transports : options.transports;
      s = std::make_shared<subscription>(std::string(topic), options, allowed, transports_, housekeeping_->bell());
      entry.set_receiver(s);
      housekeeping_->add(s);
    }
  }
  result done = outcome_of(s->announcement());
  if (!done && done.code() != errc::no_broker) forget(entry, s);
  if (!done || options.connected_within_ms == 0) return done;
  done = s->wait_connected(until.left_ms());
  if (done.code() == errc::timed_out)
    return {errc::timed_out, "no link to topic " + std::string(topic) + " within " +
                                 std::to_string(options.connected_within_ms) + " ms (" + s->link().reason +
                                 "); the request stays"};
  return done;
}

result participant::outcome_of(const announcement& announced) const {
  if (options_.broker_timeout_ms < -1) return {errc::bad_argument, "broker_timeout_ms is -1 or more"};
  result done = announced.wait(deadline(options_.broker_timeout_ms));
  if (done.code() != errc::timed_out) return done;
  if (auto why = housekeeping_->broker_availability(); !why) return why;
  return {errc::no_broker, "the broker at " + housekeeping_->broker_endpoint() + " did not answer within " +
                               std::to_string(options_.broker_timeout_ms) + " ms"};
}

std::shared_ptr<const announcement> participant::forget(topic_table::entry& entry,
                                                        const std::shared_ptr<publication>& p) {
  std::shared_ptr<const announcement> told;
  {
    const std::lock_guard lock(setup_mutex_);
    if (entry.sender() != p) return nullptr;
    entry.set_sender(nullptr);
    told = housekeeping_->remove(p);
  }
  publication::end_all({p});
  return told;
}

void participant::forget(topic_table::entry& entry, const std::shared_ptr<subscription>& s) {
  const std::lock_guard lock(setup_mutex_);
  if (entry.receiver() != s) return;
  entry.set_receiver(nullptr);
  housekeeping_->remove(s);
  s->close();
}

result participant::unregister_topic(std::string_view topic) {
  if (auto ok = ready(); !ok) return ok;
  topic_table::entry* const entry = topics_.find(topic);
  const auto p = entry != nullptr ? entry->sender() : nullptr;
  if (!p) return errc::not_registered;
  const auto told = forget(*entry, p);
  // Whoever registers the topic next must not be told that we hold it. Late or not, it is withdrawn.
  const bool brief = options_.broker_timeout_ms >= 0 && options_.broker_timeout_ms < longest_withdrawal_ms;
  if (told) (void)told->wait(deadline(brief ? options_.broker_timeout_ms : longest_withdrawal_ms));
  return {};
}

result participant::release_topic(std::string_view topic) {
  if (auto ok = ready(); !ok) return ok;
  topic_table::entry* const entry = topics_.find(topic);
  const auto s = entry != nullptr ? entry->receiver() : nullptr;
  if (!s) return errc::not_requested;
  forget(*entry, s);
  return {};
}

std::shared_ptr<publication> participant::sender(std::string_view topic) const noexcept {
  const topic_table::entry* const entry = topics_.find(topic);
  return entry != nullptr ? entry->sender() : nullptr;
}

std::shared_ptr<subscription> participant::receiver(std::string_view topic) const noexcept {
  const topic_table::entry* const entry = topics_.find(topic);
  return entry != nullptr ? entry->receiver() : nullptr;
}

std::string participant::broker_endpoint() const {
  return forked() || !housekeeping_ ? std::string() : housekeeping_->broker_endpoint();
}

}  // namespace orc::detail
