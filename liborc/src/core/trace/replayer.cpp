#include "core/trace/replayer.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/clock.h"
#include "core/participant/participant.h"
#include "core/publication/publication.h"
#include "core/subscription/subscription.h"
#include "core/trace/replayed_sample.h"

namespace orc::detail {

namespace {

using wire::trace_event;
using wire::trace_kind;

[[nodiscard]] result outcome(const trace_event& event) {
  const auto code = static_cast<errc>(event.head.status);
  return event.text.empty() ? result(code) : result(code, std::string(event.text));
}

// One that was made has its namespace instead of a sentence.
[[nodiscard]] std::unique_ptr<participant> participant_of(const trace_event& event) {
  if (static_cast<errc>(event.head.status) != errc::ok) return std::make_unique<participant>(outcome(event));
  auto names = wire::name_space::parse(event.text);
  if (!names) return std::make_unique<participant>(result(names.error()));
  return std::make_unique<participant>(result(), *std::move(names));
}

static_assert(sizeof(prediction_info) == 40, "the bytes of the event `link`: schemas/TRACE.md");

// Nothing was predicted, or the trace is older than predictions, when there are no bytes.
[[nodiscard]] prediction_info prediction_of(std::span<const std::byte> bytes) noexcept {
  prediction_info traced;
  if (bytes.size() == sizeof(traced)) std::memcpy(&traced, bytes.data(), sizeof(traced));
  return traced;
}

}  // namespace

std::unique_ptr<replayer> replayer::make(const std::string& path, const std::string& control) {
  std::unique_ptr<replayer> made(new replayer);
  made->started_ = made->turns_.begin(path, control);
  return made;
}

// ---- participants ----

std::unique_ptr<participant> replayer::make_participant(participant_options options) {
  if (!started_) {
    if (options.log) options.log(log_level::error, "ORC_REPLAY: " + started_.error().message());
    return std::make_unique<participant>(started_);
  }
  const auto event = turns_.take({trace_kind::participant, 0, std::string_view("")});
  if (!event) return std::make_unique<participant>(result(errc::closed));
  auto made = participant_of(*event);
  made->number() = event->head.number;
  return made;
}

void replayer::end(std::unique_ptr<participant> ended) noexcept { ended.reset(); }

result replayer::register_topic(participant& by, std::string_view topic, const topic_options& options) {
  const auto event = turns_.take({trace_kind::register_topic, 0, topic});
  if (!event) return errc::closed;
  if (event->head.number != 0) by.restore_publication(topic, options)->number() = event->head.number;
  return outcome(*event);
}

result replayer::request_topic(participant& by, std::string_view topic, const request_options& options) {
  const auto event = turns_.take({trace_kind::request_topic, 0, topic});
  if (!event) return errc::closed;
  if (event->head.number != 0) by.restore_subscription(topic, options)->number() = event->head.number;
  return outcome(*event);
}

result replayer::unregister_topic(participant& by, std::string_view topic) {
  result done = outcome_of({trace_kind::unregister_topic, 0, topic});
  if (done) by.drop_publication(topic);
  return done;
}

result replayer::release_topic(participant& by, std::string_view topic) {
  result done = outcome_of({trace_kind::release_topic, 0, topic});
  if (done) by.drop_subscription(topic);
  return done;
}

std::string replayer::broker_endpoint(const participant& by) {
  const auto event = turns_.take({trace_kind::broker_endpoint, by.number()});
  return event ? std::string(event->bytes_as_text()) : std::string();
}

result replayer::outcome_of(const replay_turns::wanted& call) {
  const auto event = turns_.take(call);
  return event ? outcome(*event) : result(errc::closed);
}

// ---- receiving ----

message replayer::recv(subscription& from, std::chrono::nanoseconds /*timeout*/, pick /*which*/) noexcept try {
  const auto event = turns_.take({trace_kind::receive, from.number()});
  if (!event) return message(errc::closed);
  const auto status = static_cast<errc>(event->head.status);
  if (status != errc::ok) return message(status);
  sample_buffer copy = replayed_sample(event->bytes);
  if (!copy) return message(errc::no_memory);
  return {std::move(copy), event->head.sequence, event->head.stamp_ns, event->head.missed};
} catch (const std::bad_alloc&) {
  return message(errc::no_memory);
}

int replayer::fd(subscription& of) noexcept try {
  const auto event = turns_.take({trace_kind::descriptor, of.number()});
  if (event && event->head.status != 0) return -1;
  return turns_.descriptor(of.number());
} catch (const std::bad_alloc&) {
  return -1;
}

bool replayer::connected(subscription& of) noexcept try {
  const auto event = turns_.take({trace_kind::connected, of.number()});
  return event && event->head.sequence != 0;
} catch (const std::bad_alloc&) {
  return false;
}

result replayer::wait_connected(subscription& of, std::chrono::nanoseconds /*timeout*/) noexcept try {
  return outcome_of({trace_kind::wait_connected, of.number()});
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

result replayer::check_type(subscription& of) noexcept try {
  return outcome_of({trace_kind::check_type, of.number()});
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

link_info replayer::link(subscription& of) {
  const auto event = turns_.take({trace_kind::link, of.number()});
  if (!event) return {};
  return {.connected = (event->head.flags & 1U) != 0,
          .transport = static_cast<transport>(event->head.flags >> 8),
          .reason = std::string(event->text),
          .stale = event->head.sequence,
          .prediction = prediction_of(event->bytes)};
}

// ---- sending ----

result replayer::compare(publication& to, std::span<const std::byte> bytes) {
  return outcome_of({trace_kind::send, to.number(), {}, bytes});
}

result replayer::send(publication& to, const void* data, std::size_t size, std::int64_t) noexcept try {
  const auto* const bytes = static_cast<const std::byte*>(data);
  return compare(to, bytes != nullptr ? std::span(bytes, size) : std::span<const std::byte>());
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

result replayer::send(publication& to, message&& msg) noexcept try {
  const message sent = std::move(msg);
  return compare(to, sent.bytes());
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

result replayer::send(publication& to, orc::loan&& filled) noexcept try {
  orc::loan sent = std::move(filled);
  return compare(to, sent.bytes());
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

loan replayer::lend(publication& to, std::size_t size) noexcept try {
  const auto event = turns_.take({trace_kind::loan, to.number()});
  if (!event || event->head.status != 0) return {};
  return orc::loan(replayed_memory(size));
} catch (const std::bad_alloc&) {
  return {};
}

std::size_t replayer::readers(publication& of) noexcept try {
  const auto event = turns_.take({trace_kind::readers, of.number()});
  return event ? event->head.sequence : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

result replayer::wait_readers(publication& of, std::size_t /*count*/, std::chrono::nanoseconds /*timeout*/) noexcept
    try {
  return outcome_of({trace_kind::wait_readers, of.number()});
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

// ---- clocks ----

std::int64_t replayer::age_ns(std::int64_t stamp_ns) noexcept try {
  const auto event = turns_.take({trace_kind::age, 0});
  return event ? static_cast<std::int64_t>(event->head.sequence) : age_of(stamp_ns);
} catch (const std::bad_alloc&) {
  return age_of(stamp_ns);
}

std::int64_t replayer::monotonic_ns() noexcept try {
  const auto event = turns_.take({trace_kind::clock, 0});
  return event ? static_cast<std::int64_t>(event->head.sequence) : monotonic::now().time_since_epoch().count();
} catch (const std::bad_alloc&) {
  return monotonic::now().time_since_epoch().count();
}

bool replayer::unseen(std::string_view /*call*/) noexcept { return false; }

}  // namespace orc::detail
