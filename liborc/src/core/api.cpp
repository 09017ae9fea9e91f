// The public classes. Each call checks for fork() and then calls the core, or the interceptor while there is one.
#include <new>
#include <utility>

#include "base/clock.h"
#include "core/participant/participant.h"
#include "core/publication/publication.h"
#include "core/subscription/subscription.h"
#include "core/trace/interceptor.h"
#include "orc.h"

namespace orc {

namespace {

using detail::interceptor;

[[nodiscard]] std::unique_ptr<detail::participant> make_participant(participant_options options) {
  interceptor::start(options.log);
  if (const auto refused = interceptor::refusal()) return std::make_unique<detail::participant>(result(*refused));
  if (interceptor* const instead = interceptor::current()) return instead->make_participant(std::move(options));
  return std::make_unique<detail::participant>(std::move(options));
}

// closed: another thread withdrew the topic meanwhile.
template <class Handle, class End>
[[nodiscard]] Handle handle(std::shared_ptr<End> end, result done) {
  if (!end && done) done = errc::closed;
  return {std::move(end), std::move(done)};
}

}  // namespace

// ---- participant ----

participant::participant() : participant(participant_options{}) {}
participant::participant(participant_options options) : participant_(make_participant(std::move(options))) {}
participant::participant(std::unique_ptr<detail::participant> made) noexcept : participant_(std::move(made)) {}
participant::participant(participant&&) noexcept = default;

participant& participant::operator=(participant&& other) noexcept {
  participant ended(std::move(*this));
  participant_ = std::move(other.participant_);
  full_names_ = other.full_names_;
  return *this;
}

participant::~participant() {
  // After fork() its sockets, threads and locks belong to the parent.
  if (participant_ && participant_->forked()) (void)participant_.release();
  if (!participant_) return;
  participant_->components().end();
  if (interceptor* const instead = interceptor::current()) instead->end(std::move(participant_));
}

publisher participant::register_topic(std::string_view topic, const topic_options& options) try {
  if (!participant_) return {nullptr, errc::closed};
  const std::string name = resolve(topic);
  interceptor* const instead = interceptor::current();
  result done = instead != nullptr ? instead->register_topic(*participant_, name, options)
                                   : participant_->register_topic(name, options);
  const bool stays = done || done.code() == errc::no_broker;
  return handle<orc::publisher>(stays ? participant_->publication_of(name) : nullptr, std::move(done));
} catch (const std::bad_alloc&) {
  return {nullptr, errc::no_memory};
}

subscriber participant::request_topic(std::string_view topic, const request_options& options) try {
  if (!participant_) return {nullptr, errc::closed};
  const std::string name = resolve(topic);
  interceptor* const instead = interceptor::current();
  result done = instead != nullptr ? instead->request_topic(*participant_, name, options)
                                   : participant_->request_topic(name, options);
  const bool stays =
      done || done.code() == errc::no_broker || done.code() == errc::timed_out || done.code() == errc::type_mismatch;
  return handle<orc::subscriber>(stays ? participant_->subscription_of(name) : nullptr, std::move(done));
} catch (const std::bad_alloc&) {
  return {nullptr, errc::no_memory};
}

publisher participant::register_command(std::string_view topic, const topic_options& options) try {
  if (options.priority == priority::bulk)
    return {nullptr, {errc::bad_argument, "a command does not wait behind other traffic: leave priority out"}};
  topic_options chosen = options;
  chosen.keep_last = false;
  const transport_set over = options.transports;
  if (over.empty() || over.contains(transport::tcp) || over.contains(transport::multicast))
    chosen.priority = priority::control;
  return register_topic(topic, std::as_const(chosen));
} catch (const std::bad_alloc&) {
  return {nullptr, errc::no_memory};
}

subscriber participant::request_command(std::string_view topic, std::chrono::nanoseconds max_age,
                                        const request_options& options) try {
  const auto wrong = [](const char* why) { return orc::subscriber(nullptr, {errc::bad_argument, why}); };
  if (max_age.count() <= 0) return wrong("a command has a max_age above 0: an old one must not be carried out");
  if (options.max_age.count() != 0 && options.max_age != max_age)
    return wrong("the options name another max_age: leave it out");
  if (options.conflate != 1)
    return wrong("a queue of commands is carried out late: leave conflate out, or use a service or request_topic");
  request_options chosen = options;
  chosen.max_age = max_age;
  return request_topic(topic, std::as_const(chosen));
} catch (const std::bad_alloc&) {
  return {nullptr, errc::no_memory};
}

result participant::send_msg(std::string_view topic, const void* data, std::size_t size) noexcept {
  return usable() == errc::ok ? publisher(topic).send(data, size) : usable();
}
result participant::send_msg(std::string_view topic, message&& msg) noexcept {
  return usable() == errc::ok ? publisher(topic).send(std::move(msg)) : usable();
}
result participant::send_msg(std::string_view topic, orc::loan&& filled) noexcept {
  return usable() == errc::ok ? publisher(topic).send(std::move(filled)) : usable();
}
message participant::recv_msg(std::string_view topic, std::chrono::nanoseconds timeout) noexcept {
  return usable() == errc::ok ? subscriber(topic).recv(timeout) : message(usable());
}
message participant::recv_next(std::string_view topic, std::chrono::nanoseconds timeout) noexcept {
  return usable() == errc::ok ? subscriber(topic).recv_next(timeout) : message(usable());
}
loan participant::loan(std::string_view topic, std::size_t size) noexcept { return publisher(topic).loan(size); }

publisher participant::publisher(std::string_view topic) noexcept {
  if (usable() != errc::ok) return {nullptr, usable()};
  wire::name_space::room room;
  auto found = participant_->publication_of(names().resolve(topic, room));
  return found ? orc::publisher(std::move(found), errc::ok) : orc::publisher();
}

subscriber participant::subscriber(std::string_view topic) noexcept {
  if (usable() != errc::ok) return {nullptr, usable()};
  wire::name_space::room room;
  auto found = participant_->subscription_of(names().resolve(topic, room));
  return found ? orc::subscriber(std::move(found), errc::ok) : orc::subscriber();
}

std::string participant::resolve(std::string_view name) const { return names().resolve(name); }

const wire::name_space& participant::names() const noexcept {
  if (participant_ && !full_names_) return participant_->names();
  static const wire::name_space none;
  return none;
}

errc participant::usable() const noexcept {
  if (!participant_) return errc::closed;
  return participant_->forked() ? errc::forked : errc::ok;
}

result participant::unregister_topic(std::string_view topic) try {
  if (!participant_) return errc::closed;
  const std::string name = resolve(topic);
  if (interceptor* const instead = interceptor::current()) return instead->unregister_topic(*participant_, name);
  return participant_->unregister_topic(name);
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}
result participant::release_topic(std::string_view topic) try {
  if (!participant_) return errc::closed;
  const std::string name = resolve(topic);
  if (interceptor* const instead = interceptor::current()) return instead->release_topic(*participant_, name);
  return participant_->release_topic(name);
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}
std::string participant::broker_endpoint() const {
  if (!participant_) return {};
  if (interceptor* const instead = interceptor::current()) return instead->broker_endpoint(*participant_);
  return participant_->broker_endpoint();
}

// ---- publisher ----

publisher::publisher() noexcept = default;
publisher::publisher(std::shared_ptr<detail::publication> publication, orc::result registered) noexcept
    : publication_(std::move(publication)), registered_(std::move(registered)) {}
publisher::~publisher() = default;
publisher::publisher(const publisher&) noexcept = default;
publisher::publisher(publisher&&) noexcept = default;
publisher& publisher::operator=(const publisher&) noexcept = default;
publisher& publisher::operator=(publisher&&) noexcept = default;

orc::result publisher::send(const void* data, std::size_t size) noexcept {
  if (!publication_) return errc::not_registered;
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->send(*publication_, data, size, 0);
  return publication_->send(data, size);
}
orc::result publisher::send(const void* data, std::size_t size, std::int64_t stamp_ns) noexcept {
  if (!publication_) return errc::not_registered;
  if (stamp_ns < 1) return errc::bad_argument;
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->send(*publication_, data, size, stamp_ns);
  return publication_->send(data, size, stamp_ns);
}
orc::result publisher::send(message&& msg) noexcept {
  if (!publication_) return errc::not_registered;
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->send(*publication_, std::move(msg));
  return publication_->send(std::move(msg));
}
loan publisher::loan(std::size_t size) noexcept {
  if (!publication_) return orc::loan();
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->lend(*publication_, size);
  return publication_->lend(size);
}
orc::result publisher::send(orc::loan&& filled) noexcept {
  if (!publication_) return errc::not_registered;
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->send(*publication_, std::move(filled));
  return publication_->send(std::move(filled));
}
std::size_t publisher::readers() const noexcept {
  if (!publication_) return 0;
  if (interceptor* const instead = interceptor::current()) return instead->readers(*publication_);
  return publication_->readers();
}
orc::result publisher::wait_readers(std::size_t count, std::chrono::nanoseconds timeout) noexcept {
  if (!publication_) return errc::not_registered;
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->wait_readers(*publication_, count, timeout);
  return publication_->wait_readers(count, timeout);
}

// ---- subscriber ----

subscriber::subscriber() noexcept = default;
subscriber::subscriber(std::shared_ptr<detail::subscription> subscription, orc::result requested) noexcept
    : subscription_(std::move(subscription)), requested_(std::move(requested)) {}
subscriber::~subscriber() = default;
subscriber::subscriber(const subscriber&) noexcept = default;
subscriber::subscriber(subscriber&&) noexcept = default;
subscriber& subscriber::operator=(const subscriber&) noexcept = default;
subscriber& subscriber::operator=(subscriber&&) noexcept = default;

message subscriber::recv(std::chrono::nanoseconds timeout) noexcept {
  if (!subscription_) return message(errc::not_requested);
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->recv(*subscription_, timeout, detail::pick::newest);
  return subscription_->recv(timeout);
}
message subscriber::recv_next(std::chrono::nanoseconds timeout) noexcept {
  if (!subscription_) return message(errc::not_requested);
  if (interceptor* const instead = interceptor::current()) [[unlikely]]
    return instead->recv(*subscription_, timeout, detail::pick::next);
  return subscription_->recv(timeout, detail::pick::next);
}
int subscriber::fd() noexcept {
  if (!subscription_) return -1;
  if (interceptor* const instead = interceptor::current()) return instead->fd(*subscription_);
  return subscription_->fd();
}
bool subscriber::connected() const noexcept {
  if (!subscription_) return false;
  if (interceptor* const instead = interceptor::current()) return instead->connected(*subscription_);
  return subscription_->connected();
}
orc::result subscriber::wait_connected(std::chrono::nanoseconds timeout) noexcept {
  if (!subscription_) return errc::not_requested;
  if (interceptor* const instead = interceptor::current()) return instead->wait_connected(*subscription_, timeout);
  return subscription_->wait_connected(timeout);
}
orc::result subscriber::check_type() const noexcept {
  if (!subscription_) return errc::not_requested;
  if (interceptor* const instead = interceptor::current()) return instead->check_type(*subscription_);
  return subscription_->check_type();
}
link_info subscriber::link() const {
  if (!subscription_) return {};
  if (interceptor* const instead = interceptor::current()) return instead->link(*subscription_);
  return subscription_->link();
}

std::vector<publisher_info> subscriber::publishers() const {
  if (!subscription_) return {};
  if (interceptor* const instead = interceptor::current();
      instead != nullptr && !instead->unseen("subscriber::publishers"))
    return {};
  return subscription_->publishers();
}
publisher_info subscriber::publisher_of(const message& of) const {
  if (!subscription_ || of.publisher() == 0) return {};
  if (interceptor* const instead = interceptor::current();
      instead != nullptr && !instead->unseen("subscriber::publisher_of"))
    return {};
  return subscription_->publisher(of.publisher());
}

// ---- clock ----

std::int64_t monotonic_ns() noexcept {
  interceptor::start();
  interceptor* const instead = interceptor::current();
  return instead != nullptr ? instead->monotonic_ns() : detail::monotonic::now().time_since_epoch().count();
}

}  // namespace orc
