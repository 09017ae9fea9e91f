#include "core/publication.h"

#include <algorithm>
#include <cstring>

#include "core/clock.h"
#include "core/process.h"

namespace orc::detail {

namespace {

constexpr auto retirement = std::chrono::seconds(10);

template <typename Links, typename Value>
[[nodiscard]] Value sum(const Links& links, Value (publisher_link::*of)() const noexcept) noexcept {
  Value total{};
  for (const auto& link : links) total += ((*link).*of)();
  return total;
}

}  // namespace

publication::publication(std::string topic, topic_options options, std::shared_ptr<const transport_list> transports,
                         std::shared_ptr<doorbell> housekeeping_bell)
    : topic_(std::move(topic)),
      options_(std::move(options)),
      transports_(std::move(transports)),
      housekeeping_bell_(std::move(housekeeping_bell)),
      generation_(fork_generation()),
      bulk_(options_.expected_size >= bulk_size) {}

result publication::send(const void* data, std::size_t size) noexcept {
  if (data == nullptr && size != 0) return errc::bad_argument;
  sample_buffer buffer = allocate_frame(size);
  if (!buffer) return errc::no_memory;
  if (size != 0) std::memcpy(buffer.payload(), data, size);
  return publish(std::move(buffer));
}

result publication::send(message&& msg) noexcept {
  if (!msg) return errc::bad_argument;
  sample_buffer buffer = std::move(message_access::buffer(msg));
  message_access::clear(msg, errc::nothing_new);
  return publish(std::move(buffer));
}

result publication::send(orc::loan&& filled) noexcept {
  if (!filled) return errc::bad_argument;
  return publish(std::move(message_access::buffer(filled)));
}

orc::loan publication::lend(std::size_t size) noexcept {
  if (closed_.load(std::memory_order_relaxed) || generation_ != fork_generation()) return {};
  return orc::loan(allocate_frame(size));
}

result publication::publish(sample_buffer&& buffer) noexcept {
  if (generation_ != fork_generation()) return errc::forked;
  const std::size_t size = buffer.size();
  sample replaced;  // freed after the lock is
  bool urgent = false;
  bool outgrown = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return errc::closed;
    const std::uint64_t sequence = sent_.load(std::memory_order_relaxed) + 1;
    sample fresh{std::move(buffer), sequence, realtime_ns()};
    if (is_unique(fresh.buffer)) write_header(fresh.buffer, {fresh.sequence, fresh.stamp_ns});
    for (const auto& link : links_) {
      link->commit(fresh);
      urgent = urgent || link->urgent();
    }
    for (const auto& link : retiring_) link->commit(fresh);
    replaced = std::exchange(last_, std::move(fresh));
    sent_.store(sequence, std::memory_order_relaxed);
    bytes_.store(bytes_.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
    outgrown = !bulk_ && size >= bulk_size && !outgrown_.exchange(true);
  }
  // Each once per transition; the housekeeping takes notice and arms it again.
  const bool noticed = watched_.load(std::memory_order_relaxed) && watched_.exchange(false);
  const bool newly_urgent = urgent && !urgency_known_.exchange(true);
  if (outgrown || noticed || newly_urgent) housekeeping_bell_->ring();
  return {};
}

std::size_t publication::readers() const noexcept {
  if (generation_ != fork_generation()) return 0;
  const std::lock_guard lock(mutex_);
  return sum(links_, &publisher_link::readers) + sum(retiring_, &publisher_link::readers);
}

void publication::close() noexcept {
  std::vector<std::unique_ptr<publisher_link>> links;
  std::vector<std::unique_ptr<publisher_link>> retiring;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  links.swap(links_);
  retiring.swap(retiring_);
  last_.buffer.reset();
}

bool publication::offers(transport t) const noexcept {
  return options_.transports.empty() || options_.transports.contains(t);
}

result publication::open(const network_place& place) {
  if (auto done = advertise_all(place, bulk_); !done) return done;
  opened_ = true;
  return {};
}

bool publication::has_link(wire::transport name, bool bulk) const noexcept {
  const std::lock_guard lock(mutex_);  // a user may be closing the publication
  return std::any_of(links_.begin(), links_.end(), [&](const auto& link) {
    return link->where().transport == name && (name == wire::transport::inproc || link->where().bulk == bulk);
  });
}

result publication::advertise_all(const network_place& place, bool bulk) {
  std::vector<std::unique_ptr<publisher_link>> opened;
  for (const auto& kind : *transports_) {
    const auto name = static_cast<transport>(kind->name());
    // inproc serves every size and is opened once; a tcp port is opened for others only, or when asked for.
    if (has_link(kind->name(), bulk) || !offers(name)) continue;
    if (name == transport::tcp && !place.offer_tcp && !options_.transports.contains(name)) continue;
    if (name == transport::ipc && place.directory.empty())
      return {place.directory_problem.code(), place.directory_problem.message()};
    auto made = kind->advertise({.topic = topic_,
                                 .id = id_,
                                 .bulk = bulk,
                                 .directory = place.directory,
                                 .listen_remote = place.remote,
                                 .advertise = place.advertise});
    if (const auto* const failed = std::get_if<error>(&made)) return {failed->code(), failed->message()};
    opened.push_back(std::move(std::get<std::unique_ptr<publisher_link>>(made)));
  }
  const std::lock_guard lock(mutex_);
  if (closed_) return errc::closed;
  for (auto& link : opened) {
    link->service(last_.buffer ? &last_ : nullptr);
    if (link->where().transport == wire::transport::inproc && last_.buffer) link->commit(last_);
    links_.push_back(std::move(link));
  }
  return {};
}

// The new links come first, then the broker tells the subscribers, and the old links serve until they have moved.
bool publication::grow(const network_place& place) {
  if (!outgrown_.load(std::memory_order_relaxed) || !opened_) return false;
  if (!advertise_all(place, true)) return false;  // tried again at the next turn
  const std::lock_guard lock(mutex_);
  const auto small = std::stable_partition(links_.begin(), links_.end(), [](const auto& link) {
    return link->where().bulk || link->where().transport == wire::transport::inproc;
  });
  retiring_.insert(retiring_.end(), std::make_move_iterator(small), std::make_move_iterator(links_.end()));
  links_.erase(small, links_.end());
  retire_at_ = monotonic::now() + retirement;
  bulk_ = true;
  outgrown_.store(false);
  return true;
}

wire::register_topic publication::registration() const {
  wire::register_topic registration{.topic = topic_, .publication = id_, .endpoints = {}, .type = std::nullopt};
  if (const auto& t = options_.type; !t.name.empty() || !t.encoding.empty() || t.hash != 0 || !t.schema.empty())
    registration.type = wire::type_description{t.name, t.encoding, t.hash, t.schema};
  const std::lock_guard lock(mutex_);
  for (const auto& link : links_) registration.endpoints.push_back(link->where());
  return registration;
}

wire::publication_counters publication::counters() const noexcept {
  const std::lock_guard lock(mutex_);
  return {.publication = id_,
          .sampled_ns = static_cast<std::uint64_t>(monotonic::now().time_since_epoch().count()),
          .sent = sent_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .dropped = sum(links_, &publisher_link::dropped) + sum(retiring_, &publisher_link::dropped),
          .readers = static_cast<std::uint32_t>(sum(links_, &publisher_link::readers) +
                                                sum(retiring_, &publisher_link::readers))};
}

bool publication::service() noexcept {
  const std::lock_guard lock(mutex_);
  sample* const last = last_.buffer ? &last_ : nullptr;
  bool urgent = false;
  for (const auto* const links : {&links_, &retiring_}) {
    for (const auto& link : *links) {
      link->service(last);
      urgent = urgent || link->urgent();
    }
  }
  if (!retiring_.empty() && (monotonic::now() >= retire_at_ || sum(retiring_, &publisher_link::readers) == 0))
    retiring_.clear();
  urgency_known_.store(urgent);
  return urgent;
}

void publication::append_fds(std::vector<int>& to) const {
  const std::lock_guard lock(mutex_);
  for (const auto& link : links_) to.push_back(link->fd());
  for (const auto& link : retiring_) to.push_back(link->fd());
  std::erase(to, -1);
}

}  // namespace orc::detail
