#include "core/trace/tracer.h"

#include <algorithm>

#include "base/clock.h"
#include "core/participant/participant.h"
#include "core/publication/publication.h"
#include "core/subscription/subscription.h"
#include "transport/frame.h"

namespace orc::detail {

namespace {

using wire::trace_head;
using wire::trace_kind;

constexpr std::size_t max_descriptors = 64;  // bits of a readiness event

std::atomic<std::uint32_t> threads{0};

// Numbers threads in the order of their first call.
[[nodiscard]] std::uint32_t this_thread() noexcept {
  thread_local const std::uint32_t ordinal = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return ordinal;
}

[[nodiscard]] trace_head head_of(trace_kind kind, std::uint32_t number) noexcept {
  trace_head head;
  head.at_ns = monotonic::now().time_since_epoch().count();
  head.kind = kind;
  head.thread = this_thread();
  head.number = number;
  return head;
}

[[nodiscard]] std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

[[nodiscard]] std::uint8_t code(errc status) noexcept { return static_cast<std::uint8_t>(status); }

// Codes alone have a sentence too: only what the call added is kept.
[[nodiscard]] std::string sentence_of(const result& outcome) {
  if (outcome) return {};
  std::string text = outcome.error().message();
  return text == describe(outcome.code()) ? std::string() : text;
}

void append(std::string& to, std::string_view part) {
  const auto length = static_cast<std::uint32_t>(part.size());
  to.append(reinterpret_cast<const char*>(&length), sizeof length).append(part);
}

}  // namespace

expected<std::unique_ptr<tracer>> tracer::make(const std::string& path) {
  std::unique_ptr<tracer> made(new tracer);
  auto file = trace_log::create(path, [self = made.get()](const std::string& text) { self->warn(text); });
  if (!file) return file.error();
  made->log_ = *std::move(file);
  return made;
}

// With the lock, so that a participant's callback has returned before end() has.
void tracer::warn(const std::string& text) {
  const std::lock_guard lock(telling_);
  const auto hears = std::find_if(listeners_.begin(), listeners_.end(), [](const listener& each) { return each.log; });
  tell(hears != listeners_.end() ? hears->log : log_callback(), log_level::warning, text);
}

std::uint32_t tracer::number(trace_number& of) noexcept {
  std::uint32_t known = of.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const std::uint32_t fresh = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
  return of.compare_exchange_strong(known, fresh, std::memory_order_relaxed) ? fresh : known;
}

void tracer::add(trace_kind kind, std::uint32_t number, const result& outcome) noexcept {
  trace_head head = head_of(kind, number);
  head.status = code(outcome.code());
  try {
    log_->add(head, {}, sentence_of(outcome));
  } catch (const std::bad_alloc&) {
    log_->add(head);
  }
}

// ---- participants ----

void tracer::note_participant(const participant& made) {
  trace_head head = head_of(trace_kind::participant, number(made.number()));
  head.status = code(made.started().code());
  log_->add(head, {}, made.started() ? std::string(made.names().text()) : sentence_of(made.started()));
}

std::unique_ptr<participant> tracer::make_participant(participant_options options) {
  const log_callback log = options.log;
  auto made = std::make_unique<participant>(std::move(options));
  {
    const std::lock_guard lock(telling_);
    listeners_.push_back({made.get(), log});
  }
  {
    const std::lock_guard working(working_);
    if (participants_++ == 0) log_->work();
  }
  note_participant(*made);
  return made;
}

// The thread of the log ends with the last participant, so that no thread of ours runs when the process ends. Until
// then it may have something to tell.
void tracer::end(std::unique_ptr<participant> ended) noexcept {
  const participant* const was = ended.get();
  const std::uint32_t its = number(ended->number());
  ended.reset();
  add(trace_kind::participant_end, its, {});
  {
    const std::lock_guard working(working_);
    if (--participants_ == 0) log_->rest();
  }
  const std::lock_guard lock(telling_);
  listeners_.remove_if([&](const listener& each) { return each.of == was; });
}

std::uint64_t tracer::note_type(const type_description& type) {
  if (type.empty()) return 0;
  const std::uint64_t hash = hash_of(type);
  const std::lock_guard lock(mutex_);
  if (!types_.insert(hash).second) return hash;
  std::string parts;
  for (const std::string* const part : {&type.name, &type.schema_encoding, &type.message_encoding, &type.schema})
    append(parts, *part);
  trace_head head = head_of(trace_kind::type, 0);
  head.sequence = hash;
  log_->add(head, as_bytes(parts));
  return hash;
}

result tracer::register_topic(participant& by, std::string_view topic, const topic_options& options) {
  const std::uint64_t type = note_type(options.type);
  result done = by.register_topic(topic, options);
  const auto made = by.publication_of(topic);
  trace_head head = head_of(trace_kind::register_topic, made ? number(made->number()) : 0);
  head.status = code(done.code());
  head.sequence = type;
  log_->add(head, as_bytes(topic), sentence_of(done));
  return done;
}

result tracer::request_topic(participant& by, std::string_view topic, const request_options& options) {
  const std::uint64_t type = note_type(options.type);
  result done = by.request_topic(topic, options);
  const auto made = by.subscription_of(topic);
  trace_head head = head_of(trace_kind::request_topic, made ? number(made->number()) : 0);
  head.status = code(done.code());
  head.sequence = type;
  log_->add(head, as_bytes(topic), sentence_of(done));
  return done;
}

result tracer::unregister_topic(participant& by, std::string_view topic) {
  result done = by.unregister_topic(topic);
  trace_head head = head_of(trace_kind::unregister_topic, number(by.number()));
  head.status = code(done.code());
  log_->add(head, as_bytes(topic), sentence_of(done));
  return done;
}

result tracer::release_topic(participant& by, std::string_view topic) {
  result done = by.release_topic(topic);
  trace_head head = head_of(trace_kind::release_topic, number(by.number()));
  head.status = code(done.code());
  log_->add(head, as_bytes(topic), sentence_of(done));
  return done;
}

std::string tracer::broker_endpoint(const participant& by) {
  std::string found = by.broker_endpoint();
  log_->add(head_of(trace_kind::broker_endpoint, by.number().load()), as_bytes(found));
  return found;
}

// ---- receiving ----

// What a program finds when it polls several descriptors is not visible here. But a descriptor that is readable stays
// so until its subscription is received from, so those that it may have found are readable now.
void tracer::note_readiness() noexcept {
  pollfd all[max_descriptors];
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    count = std::min(descriptors_.size(), max_descriptors);
    std::copy_n(descriptors_.begin(), count, all);
  }
  if (poll(all, count, 0) <= 0) return;
  trace_head head = head_of(trace_kind::readiness, 0);
  for (std::size_t each = 0; each < count; ++each) {
    if (all[each].revents == POLLIN) head.sequence |= std::uint64_t{1} << each;
  }
  log_->add(head);
}

message tracer::recv(subscription& from, std::chrono::nanoseconds timeout, pick which) noexcept {
  if (descriptor_count_.load(std::memory_order_relaxed) > 1) note_readiness();
  message found = from.recv(timeout, which);
  trace_head head = head_of(trace_kind::receive, number(from.number()));
  head.status = code(found.status());
  head.flags = which == pick::next ? 1 : 0;
  head.sequence = found.sequence();
  head.stamp_ns = found.stamp_ns();
  head.missed = found.missed();
  log_->add(head, found.bytes());
  return found;
}

int tracer::fd(subscription& from) noexcept {
  const int found = from.fd();
  trace_head head = head_of(trace_kind::descriptor, number(from.number()));
  head.status = code(found < 0 ? errc::no_descriptors : errc::ok);
  if (found >= 0) {
    const std::lock_guard lock(mutex_);
    const auto known =
        std::find_if(descriptors_.begin(), descriptors_.end(), [&](const pollfd& each) { return each.fd == found; });
    head.sequence = static_cast<std::uint64_t>(known - descriptors_.begin());
    try {
      if (known == descriptors_.end()) descriptors_.push_back({found, POLLIN, 0});
      descriptor_count_ = static_cast<unsigned>(descriptors_.size());
    } catch (const std::bad_alloc&) {
      head.sequence = max_descriptors;
    }
  }
  log_->add(head);
  return found;
}

bool tracer::connected(subscription& of) noexcept {
  trace_head head = head_of(trace_kind::connected, number(of.number()));
  head.sequence = of.connected() ? 1 : 0;
  log_->add(head);
  return head.sequence != 0;
}

result tracer::wait_connected(subscription& of, std::chrono::nanoseconds timeout) noexcept {
  result done = of.wait_connected(timeout);
  add(trace_kind::wait_connected, number(of.number()), done);
  return done;
}

result tracer::check_type(subscription& of) noexcept {
  result found = of.check_type();
  add(trace_kind::check_type, number(of.number()), found);
  return found;
}

link_info tracer::link(subscription& of) {
  link_info found = of.link();
  trace_head head = head_of(trace_kind::link, number(of.number()));
  head.flags = static_cast<std::uint16_t>((found.connected ? 1U : 0U) | static_cast<unsigned>(found.transport) << 8);
  head.sequence = found.stale;
  const bool predicts = found.prediction != prediction_info{};
  log_->add(head, std::as_bytes(std::span(&found.prediction, predicts ? 1 : 0)), found.reason);
  return found;
}

// ---- sending ----

result tracer::send(publication& to, const void* data, std::size_t size, std::int64_t stamp_ns) noexcept {
  const auto* const bytes = static_cast<const std::byte*>(data);
  result done = to.send(data, size, stamp_ns);
  trace_head head = head_of(trace_kind::send, number(to.number()));
  head.status = code(done.code());
  log_->add(head, bytes != nullptr ? std::span(bytes, size) : std::span<const std::byte>());
  return done;
}

// The bytes are not ours after the send, so they are logged before.
result tracer::send(publication& to, message&& msg) noexcept {
  const auto place = log_->begin(head_of(trace_kind::send, number(to.number())), msg.bytes(), {});
  result done = to.send(std::move(msg));
  if (place) {
    log_->set_status(place, code(done.code()));
    log_->complete(place);
  }
  return done;
}

result tracer::send(publication& to, loan&& filled) noexcept {
  const auto place = log_->begin(head_of(trace_kind::send, number(to.number())), filled.bytes(), {});
  result done = to.send(std::move(filled));
  if (place) {
    log_->set_status(place, code(done.code()));
    log_->complete(place);
  }
  return done;
}

loan tracer::lend(publication& to, std::size_t size) noexcept {
  loan found = to.lend(size);
  trace_head head = head_of(trace_kind::loan, number(to.number()));
  head.status = code(found ? errc::ok : errc::no_memory);
  head.sequence = size;
  log_->add(head);
  return found;
}

std::size_t tracer::readers(publication& of) noexcept {
  trace_head head = head_of(trace_kind::readers, number(of.number()));
  head.sequence = of.readers();
  log_->add(head);
  return head.sequence;
}

result tracer::wait_readers(publication& of, std::size_t count, std::chrono::nanoseconds timeout) noexcept {
  result done = of.wait_readers(count, timeout);
  add(trace_kind::wait_readers, number(of.number()), done);
  return done;
}

// ---- clocks ----

std::int64_t tracer::age_ns(std::int64_t stamp_ns) noexcept {
  const std::int64_t age = age_of(stamp_ns);
  trace_head head = head_of(trace_kind::age, 0);
  head.sequence = static_cast<std::uint64_t>(age);
  log_->add(head);
  return age;
}

std::int64_t tracer::monotonic_ns() noexcept {
  trace_head head = head_of(trace_kind::clock, 0);
  head.sequence = static_cast<std::uint64_t>(head.at_ns);
  log_->add(head);
  return head.at_ns;
}

bool tracer::unseen(std::string_view call) noexcept {
  log_->add(head_of(trace_kind::unseen, 0), {}, call);
  return true;
}

}  // namespace orc::detail
