#include "core/publication/publication.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/copy.h"
#include "base/process/fork_generation.h"

namespace orc::detail {

namespace {

constexpr int farewell_ms = 300;
constexpr auto min_pause = std::chrono::milliseconds(1000);  // between attempts to open the links
constexpr auto max_pause = std::chrono::milliseconds(5000);
constexpr std::size_t copied_under_lock = 16 * 1024;

template <typename Links, typename Value>
[[nodiscard]] Value sum(const Links& links, Value (publisher_link::*of)() const noexcept) noexcept {
  Value total{};
  for (const auto& link : links) total += ((*link).*of)();
  return total;
}

}  // namespace

publication::publication(std::string topic, topic_options options, std::shared_ptr<const transport_list> transports)
    : topic_(std::move(topic)),
      type_(describe(options.type)),
      options_(without_type(std::move(options))),
      transports_(std::move(transports)),
      generation_(fork_generation()) {}

bool publication::was_made_with(const topic_options& again) const noexcept {
  const topic_options none;
  return (again.transports.empty() || again.transports == options_.transports) &&
         (again.expected_size == 0 || again.expected_size == options_.expected_size) &&
         (again.history == none.history || again.history == options_.history) &&
         (again.memory == none.memory || again.memory == options_.memory) &&
         (again.multicast.empty() || again.multicast == options_.multicast) &&
         (again.type.empty() || (type_ && again.type == type_->description)) &&
         (again.keep_last == none.keep_last || again.keep_last == options_.keep_last) &&
         (again.priority == none.priority || again.priority == options_.priority) &&
         (again.shared == none.shared || again.shared == options_.shared);
}

result publication::send(const void* data, std::size_t size, std::int64_t stamp_ns) noexcept {
  if (data == nullptr && size != 0) return errc::bad_argument;
  if (size <= copied_under_lock)
    return publish({}, {static_cast<const std::byte*>(size != 0 ? data : ""), size}, stamp_ns);
  if (generation_ != fork_generation()) return errc::forked;
  sample_buffer memory = lent(size);
  if (!memory) return publish({}, {static_cast<const std::byte*>(data), size}, stamp_ns);
  copy_bytes(memory.payload(), static_cast<const std::byte*>(data), size);
  return publish(std::move(memory), {}, stamp_ns);
}

result publication::send(message&& msg) noexcept {
  if (!msg) return errc::bad_argument;
  sample_buffer buffer = std::move(message_access::buffer(msg));
  message_access::clear(msg, errc::nothing_new);
  // Another publication's memory is only on loan, so keep and send a copy.
  if (buffer.kind()->share == nullptr) return send(buffer.payload(), buffer.size());
  return publish(std::move(buffer));
}

result publication::send(orc::loan&& filled) noexcept {
  if (!filled) return errc::bad_argument;
  return publish(std::move(message_access::buffer(filled)));
}

orc::loan publication::lend(std::size_t size) noexcept {
  if (closed_.load(std::memory_order_relaxed) || generation_ != fork_generation()) return {};
  sample_buffer memory = lent(size);
  return orc::loan(memory ? std::move(memory) : allocate_frame(size));
}

// Shared memory comes after inproc. Its slots serve readers over inproc as well, by a copy.
sample_buffer publication::lent(std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  (void)last();
  for (auto link = links_.rbegin(); link != links_.rend(); ++link) {
    if (auto memory = (*link)->try_loan(size)) return memory;
  }
  return {};
}

result publication::publish(sample_buffer&& buffer, std::span<const std::byte> source, std::int64_t stamp_ns) noexcept {
  if (generation_ != fork_generation()) return errc::forked;
  sample_buffer replaced;  // a large frame takes long to free, so after the unlock
  const std::lock_guard lock(mutex_);
  if (closed_) return errc::closed;
  const std::size_t size = source.data() != nullptr ? source.size() : buffer.size();
  if (size > largest_) return too_large(size);
  const std::int64_t now_ns = realtime_ns();
  const bool same_memory = !buffer && last_.buffer.size() == size && owns_alone(last_.buffer);
  if (!same_memory) {
    replaced = std::exchange(last_.buffer, std::move(buffer));
    if (!is_frame(replaced)) replaced.reset();  // a slot, which is free for the sample after this one
  }
  last_.sequence = sent_.load(std::memory_order_relaxed) + 1;
  last_.stamp_ns = stamp_ns != 0 ? stamp_ns : now_ns;
  last_.source = source;
  deliver(last_);
  count(size, now_ns);
  const bool link_keeps_it = last_.source.data() != source.data();
  if (link_keeps_it || fill(last_)) return {};
  last_ = {};
  return errc::no_memory;
}

// Without memory for a copy, those that join later get none.
sample* publication::last() noexcept {
  if (!fill(last_)) last_ = {};
  return last_.buffer ? &last_ : nullptr;
}

// Links without readers get the sample last, because they may share a copy. Meanwhile readers work with the sample.
void publication::deliver(sample& fresh) noexcept {
  std::uint64_t without_readers = 0;  // by index, because a reader may join at any time
  for (std::size_t n = 0; n < links_.size(); ++n) {
    if (links_[n]->readers() != 0)
      links_[n]->commit(fresh);
    else
      without_readers |= std::uint64_t{1} << n;
  }
  for (std::size_t n = 0; without_readers != 0; ++n, without_readers >>= 1) {
    if ((without_readers & 1) != 0) links_[n]->commit(fresh);
  }
}

void publication::count(std::size_t size, std::int64_t sent_ns) noexcept {
  sent_.store(sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bytes_.store(bytes_.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
  intervals_.add(sent_ns);
}

result publication::too_large(std::size_t size) const noexcept try {
  const auto narrow = std::find_if(links_.begin(), links_.end(),
                                   [&](const auto& link) { return link->max_sample_bytes() == largest_; });
  return {errc::bad_argument, "a sample of " + std::to_string(size) + " bytes is too large for " +
                                  std::string(wire::name_of((*narrow)->where().transport)) + ": " +
                                  std::to_string(largest_) + " at most"};
} catch (const std::bad_alloc&) {
  return errc::bad_argument;  // without the text
}

std::size_t publication::readers() const noexcept {
  if (generation_ != fork_generation()) return 0;
  const std::lock_guard lock(mutex_);
  return sum(links_, &publisher_link::readers);
}

result publication::wait_readers(std::size_t count, std::chrono::nanoseconds timeout) noexcept {
  if (timeout.count() < 0) return errc::bad_argument;
  const deadline until(timeout);
  for (;;) {
    const auto ticket = joined_->ticket();
    if (generation_ != fork_generation()) return errc::forked;
    if (closed_) return errc::closed;
    if (readers() >= count) return {};
    if (until.passed()) return errc::timed_out;
    joined_->wait(ticket, until);
  }
}

void publication::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  joined_->ring();
}

bool publication::farewell() noexcept { return serve_links().behind; }

unfinished publication::serve_links() noexcept {
  unfinished now;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    const auto before = sum(links_, &publisher_link::readers);
    for (const auto& link : links_) {
      unfinished one = link->service(last());
      now.behind = now.behind || one.behind;
      now.pause = std::max(now.pause, one.pause);
      if (!now.work) now.work = std::move(one.work);
    }
    more = sum(links_, &publisher_link::readers) > before;
  }
  if (more) joined_->ring();
  if (now.work) now.work->step();
  return now;
}

void publication::close() noexcept {
  std::vector<std::unique_ptr<publisher_link>> links;
  sample last;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  links.swap(links_);
  last = std::move(last_);
  joined_->ring();
}

void publication::end_all(const std::vector<std::shared_ptr<publication>>& leaving) noexcept {
  for (const auto& each : leaving) each->end();
  const deadline until(farewell_ms);
  for (;;) {
    bool behind = false;
    for (const auto& each : leaving) behind = each->farewell() || behind;
    if (!behind || until.passed()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const auto& each : leaving) each->close();
}

transport_set publication::open_transports() const noexcept {
  const std::lock_guard lock(mutex_);  // a user may be closing the publication
  transport_set open;
  for (const auto& link : links_) open.insert(static_cast<transport>(link->where().transport));
  return open;
}

publication_spec publication::spec_at(const network_scope& scope) const {
  return {.topic = topic_,
          .id = id_,
          .options = options_,
          .directory = scope.directory,
          .listen_remote = scope.remote,
          .ports = scope.ports,
          .alone = scope.alone,
          .lacking = lacking_,
          .joined = joined_,
          .type = type_};
}

result publication::open(const network_scope& scope) {
  left_out_.clear();
  const auto placed = transports_to_open(*transports_, options_.transports, open_transports(), scope, topic_);
  if (!placed) return placed.error();
  std::vector<std::unique_ptr<publisher_link>> opened;
  std::string left_out;
  const publication_spec spec = spec_at(scope);
  for (const transport_kind* const kind : *placed) {
    auto made = kind->advertise(spec);
    if (!made) {
      if (!can_do_without(*kind, options_.transports, made.error())) return made.error();
      left_out += (left_out.empty() ? "topic " + topic_ + " is not offered over " : "; and not over ") +
                  std::string(wire::name_of(kind->name())) + ": " + made.error().message();
      continue;
    }
    opened.push_back(*std::move(made));
  }
  addresses_ = scope.addresses;
  const std::lock_guard lock(mutex_);
  if (closed_) return errc::closed;
  for (auto& link : opened) {
    link->service(last());
    largest_ = std::min(largest_, link->max_sample_bytes());
    links_.push_back(std::move(link));
  }
  opened_ = true;
  left_out_ = std::move(left_out);
  joined_->ring();  // a new link may have readers
  return {};
}

bool publication::set_addresses(const std::vector<std::string>& addresses) {
  if (!opened_ || addresses_ == addresses) return false;
  addresses_ = addresses;
  return true;
}

bool publication::close_outdated() {
  std::vector<std::unique_ptr<publisher_link>> outdated;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  for (auto each = links_.begin(); each != links_.end();) {
    if (!(*each)->is_outdated()) {
      ++each;
      continue;
    }
    (void)last();
    outdated.push_back(std::move(*each));
    each = links_.erase(each);
  }
  if (!outdated.empty()) opened_ = false;
  if (!opened_) next_attempt_ = {};  // the reason of the failure may be gone
  return !outdated.empty();
}

bool publication::put_off(const error& why, monotonic::time_point now) {
  pause_ = std::clamp(pause_ * 2, min_pause, max_pause);
  next_attempt_ = now + pause_;
  const std::string text = why.message();
  return std::exchange(put_off_why_, text) != text;
}

wire::register_topic publication::registration() const {
  wire::register_topic registration{.topic = topic_,
                                    .publication = id_,
                                    .endpoints = {},
                                    .type = std::nullopt,
                                    .keep_last = options_.keep_last,
                                    .shared = options_.shared};
  if (type_) registration.type = type_->reference;
  const std::lock_guard lock(mutex_);
  for (const auto& link : links_) link->append_endpoints(registration.endpoints, addresses_);
  return registration;
}

wire::publication_counters publication::counters() noexcept {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = monotonic::now().time_since_epoch().count();
  const interval_meter::report timing = intervals_.take(now_ns, realtime_ns());
  return {.publication = id_,
          .sampled_ns = static_cast<std::uint64_t>(now_ns),
          .sent = sent_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .dropped = sum(links_, &publisher_link::dropped),
          .readers = static_cast<std::uint32_t>(sum(links_, &publisher_link::readers)),
          .last_sent_ns = static_cast<std::uint64_t>(timing.newest_ns),
          .jitter_ns = timing.jitter_ns};
}

void publication::service() noexcept {
  const auto pause = serve_links().pause;
  resume_ = pause == monotonic::duration::zero() ? monotonic::time_point{} : monotonic::now() + pause;
}

void publication::append_fds(std::vector<int>& to) const {
  const std::lock_guard lock(mutex_);
  for (const auto& link : links_) {
    if (link->fd() >= 0) to.push_back(link->fd());
  }
}

}  // namespace orc::detail
