// The public classes. Each call checks for fork() and then calls the core.
#include <new>
#include <utility>

#include "core/participant.h"
#include "orc.h"

namespace orc {

// ---- participant ----

participant::participant() : participant(participant_options{}) {}
participant::participant(participant_options options)
    : participant_(std::make_unique<detail::participant>(std::move(options))) {}
participant::participant(participant&&) noexcept = default;

participant& participant::operator=(participant&& other) noexcept {
  participant ended(std::move(*this));
  participant_ = std::move(other.participant_);
  return *this;
}

participant::~participant() {
  // After fork() its sockets, threads and locks belong to the parent.
  if (participant_ && participant_->forked()) (void)participant_.release();
}

result participant::register_topic(std::string_view topic, const topic_options& options) try {
  return participant_ ? participant_->register_topic(topic, options) : errc::closed;
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

result participant::request_topic(std::string_view topic, const request_options& options) try {
  return participant_ ? participant_->request_topic(topic, options) : errc::closed;
} catch (const std::bad_alloc&) {
  return errc::no_memory;
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
message participant::recv_msg(std::string_view topic, int timeout_ms) noexcept {
  return usable() == errc::ok ? subscriber(topic).recv(timeout_ms) : message(usable());
}
message participant::recv_next(std::string_view topic, int timeout_ms) noexcept {
  return usable() == errc::ok ? subscriber(topic).recv_next(timeout_ms) : message(usable());
}
loan participant::loan(std::string_view topic, std::size_t size) noexcept { return publisher(topic).loan(size); }

publisher participant::publisher(std::string_view topic) noexcept {
  return usable() == errc::ok ? orc::publisher(participant_->publication_of(topic)) : orc::publisher();
}

subscriber participant::subscriber(std::string_view topic) noexcept {
  return usable() == errc::ok ? orc::subscriber(participant_->subscription_of(topic)) : orc::subscriber();
}

errc participant::usable() const noexcept {
  if (!participant_) return errc::closed;
  return participant_->forked() ? errc::forked : errc::ok;
}

result participant::unregister_topic(std::string_view topic) try {
  return participant_ ? participant_->unregister_topic(topic) : errc::closed;
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}
result participant::release_topic(std::string_view topic) try {
  return participant_ ? participant_->release_topic(topic) : errc::closed;
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}
std::string participant::broker_endpoint() const {
  return participant_ ? participant_->broker_endpoint() : std::string();
}

// ---- publisher ----

publisher::publisher() noexcept = default;
publisher::publisher(std::shared_ptr<detail::publication> publication) noexcept
    : publication_(std::move(publication)) {}
publisher::~publisher() = default;
publisher::publisher(const publisher&) noexcept = default;
publisher::publisher(publisher&&) noexcept = default;
publisher& publisher::operator=(const publisher&) noexcept = default;
publisher& publisher::operator=(publisher&&) noexcept = default;

result publisher::send(const void* data, std::size_t size) noexcept {
  return publication_ ? publication_->send(data, size) : errc::not_registered;
}
result publisher::send(message&& msg) noexcept {
  return publication_ ? publication_->send(std::move(msg)) : errc::not_registered;
}
loan publisher::loan(std::size_t size) noexcept { return publication_ ? publication_->lend(size) : orc::loan(); }
result publisher::send(orc::loan&& filled) noexcept {
  return publication_ ? publication_->send(std::move(filled)) : errc::not_registered;
}
std::size_t publisher::readers() const noexcept { return publication_ ? publication_->readers() : 0; }
result publisher::wait_readers(std::size_t count, int timeout_ms) noexcept {
  return publication_ ? publication_->wait_readers(count, timeout_ms) : errc::not_registered;
}

// ---- subscriber ----

subscriber::subscriber() noexcept = default;
subscriber::subscriber(std::shared_ptr<detail::subscription> subscription) noexcept
    : subscription_(std::move(subscription)) {}
subscriber::~subscriber() = default;
subscriber::subscriber(const subscriber&) noexcept = default;
subscriber::subscriber(subscriber&&) noexcept = default;
subscriber& subscriber::operator=(const subscriber&) noexcept = default;
subscriber& subscriber::operator=(subscriber&&) noexcept = default;

message subscriber::recv(int timeout_ms) noexcept {
  return subscription_ ? subscription_->recv(timeout_ms) : message(errc::not_requested);
}
message subscriber::recv_next(int timeout_ms) noexcept {
  return subscription_ ? subscription_->recv(timeout_ms, detail::pick::next) : message(errc::not_requested);
}
int subscriber::fd() noexcept { return subscription_ ? subscription_->fd() : -1; }
bool subscriber::connected() const noexcept { return subscription_ && subscription_->connected(); }
result subscriber::wait_connected(int timeout_ms) noexcept {
  return subscription_ ? subscription_->wait_connected(timeout_ms) : errc::not_requested;
}
link_info subscriber::link() const { return subscription_ ? subscription_->link() : link_info{}; }

}  // namespace orc
