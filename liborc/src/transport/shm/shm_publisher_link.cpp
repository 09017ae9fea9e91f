#include "transport/shm/shm_publisher_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "transport/shm/lent_slot.h"
#include "transport/shm/peer.h"

namespace orc::detail::shm {

namespace {

constexpr int packets_per_visit = 4;                 // what is left shows at the next one
constexpr auto patience = std::chrono::seconds(30);  // for somebody who does not acknowledge a hand-over

}  // namespace

shm_publisher_link::shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where)
    : door_(std::move(door)),
      publication_(spec.id),
      expected_size_(spec.expected_size),
      history_(static_cast<std::uint32_t>(spec.history)),
      memory_(spec.memory),
      where_(std::move(where)) {}

shm_publisher_link::~shm_publisher_link() {
  // For everybody, also when a forked child holds copies of the descriptors.
  for (const auto& each : all_) ::shutdown(each->socket.get(), SHUT_RDWR);
}

// For subscribers to come: a new generation costs more than addresses, but what is locked is memory.
std::uint32_t shm_publisher_link::pins_in_advance() const noexcept { return memory_.lock ? 10 : 32; }

result shm_publisher_link::reserve() {
  if (expected_size_ == 0) return {};
  auto made =
      slot_writer::make(slot_writer::shape_for({expected_size_, history_, pins_in_advance()}), ++generation_, memory_);
  if (const auto* const failed = std::get_if<error>(&made)) return {failed->code(), failed->message()};
  writer_ = std::get<std::shared_ptr<slot_writer>>(std::move(made));
  return {};
}

// ---- out ----

sample_buffer shm_publisher_link::try_loan(std::size_t payload_size) noexcept {
  if (readers() == 0 || !make_room(payload_size) || !writer_->may_lend()) return {};
  const auto slot = free_slot(payload_size);
  if (!slot) return {};
  writer_->lend(*slot);
  return lent_buffer(writer_, *slot, payload_size);
}

std::optional<std::uint32_t> shm_publisher_link::free_slot(std::uint64_t size) noexcept {
  const auto slot = writer_->take(pins_);
  if (!slot || writer_->back(*slot, size)) return slot;
  writer_->put_back(*slot);
  return std::nullopt;
}

void shm_publisher_link::commit(sample& s) noexcept {
  if (readers() == 0) {
    behind_ = false;
    return;
  }
  const wire::sample_header header{s.sequence, s.stamp_ns};
  if (const std::uint32_t* const lent = slot_of(s.buffer, writer_.get())) {
    publish(*lent, s.buffer.size(), header);
  } else if (!try_send(s.buffer.payload(), s.buffer.size(), header)) {
    dropped_.fetch_add(behind_ ? 1 : 0, std::memory_order_relaxed);
    behind_ = true;
  }
}

bool shm_publisher_link::try_send(const void* data, std::size_t size, const wire::sample_header& header) noexcept {
  if (!make_room(size)) return false;
  const auto slot = free_slot(size);
  if (!slot) return false;
  if (size != 0) std::memcpy(writer_->payload(*slot), data, size);
  publish(*slot, size, header);
  return true;
}

void shm_publisher_link::publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept {
  writer_->publish(slot, size, header);
  behind_ = false;
  for (const auto& each : all_) alert(*each);
  writer_->stock(pins_);
}

bool shm_publisher_link::newest(sample& out) noexcept {
  const auto found = writer_->latest();
  writer_->hold(found.slot);
  out = {lent_buffer(writer_, found.slot, found.size), found.header.sequence, found.header.stamp_ns};
  return true;
}

void shm_publisher_link::alert(const reader& r) noexcept {
  if (!r.joined()) return;
  const std::uint32_t wants = r.shared().wants.load();
  if ((wants & reader_page::sleeps) != 0) r.shared().ring();  // [C5]
  if ((wants & reader_page::wants_alert) == 0 || !r.alert) return;
  // One byte for each wish that is taken back, and after it: who wakes up by the byte finds the wish gone.
  r.shared().wants.fetch_and(~static_cast<std::uint32_t>(reader_page::wants_alert));
  const char byte = 1;
  if (::send(r.alert.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
    r.shared().wants.fetch_or(reader_page::wants_alert);
}

// True: the segment has slots of at least this size, and enough of them for all subscribers, `joining` included.
bool shm_publisher_link::make_room(std::uint64_t size, const reader* joining) noexcept {
  if (size > largest_sample) return false;
  std::uint32_t pins = joining != nullptr ? joining->pins : 0;
  std::uint32_t depth = joining != nullptr ? joining->depth : 0;
  const bool large_enough = writer_ && size <= writer_->form().capacity();
  if (large_enough && joining == nullptr) return true;
  for (const auto& each : all_) {
    if (!each->joined()) continue;
    pins += each->pins;
    depth = std::max(depth, each->depth);
  }
  slot_writer::needs wanted{.capacity = size, .history = std::max(history_, depth), .pins = pins};
  if (writer_) {
    wanted.capacity = std::max(size, writer_->form().capacity());
    // Samples that grow a little again and again must not move everybody every time.
    if (!large_enough && size >= large_slot) wanted.capacity = std::max(wanted.capacity, size + size / 4);
  } else {
    wanted.capacity = std::max<std::uint64_t>(size, expected_size_);
  }
  const std::uint64_t stride = slot_writer::shape_for(wanted).stride;
  wanted.history = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(wanted.history, 1, std::max<std::uint64_t>(1, max_history_bytes / stride)));
  if (joining != nullptr && (pins > max_pins || pins * stride > max_pinned_bytes)) return false;
  if (large_enough && pins <= slot_writer::pins_of(writer_->form()) && wanted.history <= writer_->form().history())
    return true;
  wanted.pins = memory_.lock ? pins + pins_in_advance() : std::max(pins_in_advance(), 2 * pins);
  return move_to(slot_writer::shape_for(wanted));
}

bool shm_publisher_link::move_to(const shape& s) noexcept try {
  if (!s.makes_sense()) return false;
  auto made = slot_writer::make(s, generation_ + 1, memory_, lock::may);
  if (std::holds_alternative<error>(made)) return false;
  const auto older = std::exchange(writer_, std::get<std::shared_ptr<slot_writer>>(std::move(made)));
  ++generation_;
  if (!older) return true;
  writer_->inherit(*older);                              // [M1]
  for (const auto& each : all_) tell_generation(*each);  // [M2]
  older->move_on();                                      // [M3]
  for (const auto& each : all_) alert(*each);            // [M4]
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Few hand-overs at a time: what waits in a socket that nobody reads is bounded, and so are the descriptors in it.
void shm_publisher_link::tell_generation(reader& r) noexcept {
  if (!r.joined() || r.gone || r.left || r.told == generation_ || r.unacknowledged.size() >= max_unacknowledged) return;
  if (tell(r, packet_kind::segment, {writer_->fd()}) != delivered::yes) return;  // the next visit tries again
  r.told = generation_;
  if (r.unacknowledged.empty()) r.told_at = monotonic::now();
  r.unacknowledged.push_back(generation_);
}

bool shm_publisher_link::behind() const noexcept {
  return behind_ || std::any_of(all_.begin(), all_.end(), [this](const auto& each) {
           return each->joined() && !each->gone && !each->left && each->told != generation_;
         });
}

// ---- in ----

void shm_publisher_link::service(sample* last) noexcept {
  door_.each_event(
      [&](void* who, std::uint32_t events) {
        reader& from = *static_cast<reader*>(who);
        if (!from.left) return receive_some(from, last);
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) drop(from);
      },
      [&] { accept_some(); });
  if (behind_ && last != nullptr) commit(*last);
  if (const auto now = monotonic::now(); now >= next_sweep_) {
    next_sweep_ = now + std::chrono::seconds(1);
    sweep(now);
  }
  after_change();
}

void shm_publisher_link::accept_some() noexcept {
  for (int n = 0; n < visitor::most_accepted; ++n) {
    if (all_.size() >= max_connections) return door_.pause();
    auto fresh = std::unique_ptr<reader>(new (std::nothrow) reader);
    if (!fresh) return door_.pause();
    fresh->socket = door_.accept();
    if (!fresh->socket) return;
    fresh->process = process_of(fresh->socket.get());
    const auto same = std::count_if(all_.begin(), all_.end(),
                                    [&](const auto& each) { return each->process == fresh->process && !each->gone; });
    const bool a_crowd = fresh->process != 0 && same >= static_cast<std::ptrdiff_t>(max_connections_of_process);
    try {
      if (a_crowd || !may_share_memory(fresh->socket.get(), where_.address)) {
        refuse(*fresh);
        continue;
      }
      all_.push_back(std::move(fresh));
    } catch (const std::bad_alloc&) {
      return door_.pause();
    }
    if (!door_.watch(all_.back()->socket.get(), all_.back().get())) all_.pop_back();
  }
}

void shm_publisher_link::receive_some(reader& from, sample* last) noexcept {
  received_packet p;
  for (int n = 0; n < packets_per_visit && !from.gone && !from.left; ++n) {
    switch (receive_packet(from.socket.get(), p, false)) {
      case received::packet: handle(from, p.packet, last); break;
      case received::malformed: count_malformed(); break;
      case received::nothing: return;
      case received::closed: return drop(from);
    }
    if (from.guest.talks_too_much()) {
      count_malformed();
      part_with(from);
    }
  }
}

// It is told by the end of the stream. Its messages may be in use still: until it closes the socket their slots are not
// used again.
void shm_publisher_link::part_with(reader& r) noexcept {
  if (!r.joined()) return drop(r);
  r.left = changed_ = true;
  ::shutdown(r.socket.get(), SHUT_WR);
  door_.mute(r.socket.get(), &r);
}

void shm_publisher_link::handle(reader& from, const packet& p, sample* last) noexcept {
  if (p.kind == packet_kind::hello && !from.joined()) {
    try {
      return welcome(from, p, last);
    } catch (const std::bad_alloc&) {
      return refuse(from);
    }
  }
  if (!from.joined() || p.subscription != from.subscription) return count_malformed();
  switch (p.kind) {
    case packet_kind::attached:
      if (from.unacknowledged.empty() || p.generation != from.unacknowledged.front()) return count_malformed();
      from.unacknowledged.erase(from.unacknowledged.begin());
      from.told_at = monotonic::now();
      from.guest.excuse();
      return tell_generation(from);
    case packet_kind::want_alert: return give_alert(from);
    case packet_kind::goodbye: return part_with(from);
    default: count_malformed();
  }
}

void shm_publisher_link::welcome(reader& from, const packet& hello, sample* last) {
  from.subscription = hello.subscription;
  const bool asks_for_too_much = hello.pins == 0 || hello.pins > most_pins || hello.depth > most_history;
  if (hello.publication != publication_ || readers() >= max_readers || asks_for_too_much) return refuse(from);
  from.pins = hello.pins;
  from.depth = hello.depth;
  if (!make_room(last != nullptr ? last->buffer.size() : 0, &from)) return refuse(from);
  auto page = make_shared_memory(page_size, others::read_and_write);
  if (std::holds_alternative<error>(page)) return refuse(from);
  pins_.reserve(all_.size());
  from.page = std::get<shared_memory>(std::move(page));
  pins_.push_back({&from.shared(), from.pins});
  if (last != nullptr && writer_->newest() < last->sequence)  // sent while nobody read from here
    (void)try_send(last->buffer.payload(), last->buffer.size(), {last->sequence, last->stamp_ns});
  from.told = generation_;
  from.told_at = monotonic::now();
  from.unacknowledged.reserve(max_unacknowledged);
  from.unacknowledged.push_back(generation_);
  changed_ = true;
  if (tell(from, packet_kind::welcome, {writer_->fd(), from.page.fd.get()}) != delivered::yes) return drop(from);
  from.page.fd.reset();
}

void shm_publisher_link::give_alert(reader& to) noexcept {
  if (to.alert) return count_malformed();
  to.wants_alert = true;
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;  // the next sweep
  unique_fd ours(ends[0]);
  const unique_fd theirs(ends[1]);
  if (tell(to, packet_kind::alert, {theirs.get()}) != delivered::yes) return;
  to.alert = std::move(ours);
  to.wants_alert = false;
}

delivered shm_publisher_link::tell(reader& to, packet_kind kind, std::initializer_list<int> fds) noexcept {
  packet p{.kind = kind, .publication = publication_, .subscription = to.subscription};
  p.generation = generation_;
  p.newest = writer_ ? writer_->newest() : 0;
  return send_packet(to.socket.get(), p, fds);
}

void shm_publisher_link::refuse(reader& from) noexcept {
  (void)tell(from, packet_kind::refused);
  drop(from);
}

void shm_publisher_link::sweep(monotonic::time_point now) noexcept {
  for (const auto& each : all_) {
    if (each->gone || each->left) continue;
    if (!each->joined()) {
      if (each->guest.is_overdue(now)) drop(*each);
    } else if (!each->unacknowledged.empty() && now - each->told_at >= patience) {
      part_with(*each);
    } else {
      tell_generation(*each);
      if (each->wants_alert) give_alert(*each);
    }
  }
  door_.resume();
}

void shm_publisher_link::after_change() noexcept {
  if (!changed_) return;
  changed_ = false;
  std::erase_if(all_, [&](const auto& each) {
    if (each->gone) door_.forget(each->socket.get());
    return each->gone;
  });
  std::size_t count = 0;
  pins_.clear();  // keeps its memory
  for (const auto& each : all_) {
    if (!each->joined()) continue;
    pins_.push_back({&each->shared(), each->pins});
    if (!each->left) ++count;
  }
  readers_.store(count, std::memory_order_relaxed);
}

}  // namespace orc::detail::shm
