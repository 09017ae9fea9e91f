#include "transport/shm/shm_subscriber_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/threads/spinning.h"

namespace orc::detail::shm {

namespace {

constexpr std::uint32_t own_pins = 2;  // one in the subscription's queue, one to replace it
constexpr int max_packets = 16;        // per visit
constexpr unsigned max_times_overtaken = 100;
constexpr auto preparing_patience =
    std::chrono::seconds(3);  // with a publication that reports each second that it prepares

}  // namespace

shm_subscriber_link::shm_subscriber_link(unique_fd socket, const subscription_spec& spec)
    : socket_(std::make_shared<const shared_socket>(std::move(socket))),
      publication_(spec.publication),
      subscription_(spec.id),
      depth_(spec.delivery.depth),
      pins_(
          static_cast<std::uint32_t>(std::min<std::size_t>(spec.options.max_messages + own_pins, max_pins_of_reader))),
      seen_(spec.newest) {
  if (!say(packet_kind::hello)) lose(link_state::lost);
}

// Messages may keep the socket open, and so keep their slots.
shm_subscriber_link::~shm_subscriber_link() { (void)say(packet_kind::goodbye); }

bool shm_subscriber_link::say(packet_kind kind, std::uint32_t generation) noexcept {
  packet p{.kind = kind, .publication = publication_, .subscription = subscription_};
  p.pins = pins_;
  p.depth = depth_;
  p.generation = generation;
  return send_packet(socket_->get(), p) == delivered::yes;
}

// ---- samples ----

bool shm_subscriber_link::try_recv(sample& out, pick which) noexcept {
  exhausted_ = false;
  if (!view_) service();
  if (!view_) return false;
  if (alert_) rest_alert();
  while (!awaits_segment_ && has_moved()) {  // [S1]
    awaits_segment_ = true;                  // until use()
    service();
  }
  const segment& in = *view_->in;
  if (in.newest() <= seen_) return false;
  auto* const pin = view_->by->free_pin(draining_ ? 0 : 1);
  if (pin == nullptr) {
    exhausted_ = true;
    return false;
  }
  pinned_sample sample;
  const found outcome = pin_sample(in, *pin, seen_, depth_ != 0 ? pick::next : which, sample);
  if (outcome != found::sample) {
    // One of our publishers that makes us retry has sent meanwhile.
    const bool stuck = outcome == found::overtaken && std::exchange(overtaken_at_, in.newest()) == in.newest();
    if (outcome == found::nonsense || (stuck && ++times_overtaken_ > max_times_overtaken)) {
      count_malformed();
      lose(link_state::lost);
    }
    return false;
  }
  times_overtaken_ = 0;
  seen_ = sample.header.sequence;
  if (depth_ != 0) page().taken.store(seen_, std::memory_order_release);  // [R7]
  out.sequence = sample.header.sequence;
  out.stamp_ns = sample.header.stamp_ns;
  out.buffer = pinned_buffer(view_, sample, *pin);
  return true;
}

bool shm_subscriber_link::has_more() const noexcept { return view_ && view_->in->newest() > seen_; }

// ---- waiting ----

bool shm_subscriber_link::is_news() const noexcept {
  return view_->in->newest() > seen_ || (!awaits_segment_ && has_moved());
}

bool shm_subscriber_link::arm() noexcept {
  ticket_ = page().word.load();                // [W1]
  page().wants.fetch_or(reader_page::sleeps);  // [W2]
  if (!is_news()) return true;                 // [W3]
  disarm();
  return false;
}

void shm_subscriber_link::disarm() noexcept { page().wants.fetch_and(~reader_page::sleeps); }  // [W5]

void shm_subscriber_link::sleep(const deadline& until) noexcept {
  const auto left = until.left();
  futex_wait(page().word, ticket_, left ? &*left : nullptr, futex_scope::shared);  // [W4]
}

void shm_subscriber_link::wake() noexcept { page().ring(); }

void shm_subscriber_link::before_look_out() noexcept {
  if (looked_at_ != view_) looked_at_ = view_;
  seen_by_look_out_ = seen_;
  looks_for_move_ = !awaits_segment_;
  ticket_ = page().word.load();
}

bool shm_subscriber_link::look_out(const deadline& until) noexcept {
  const segment_header& header = looked_at_->in->header();
  const auto& word = page().word;
  for (;;) {
    for (int n = 0; n < looks_per_clock; ++n) {
      if (header.newest.load(std::memory_order_acquire) > seen_by_look_out_ ||
          (looks_for_move_ && header.moved.load(std::memory_order_relaxed) != 0) ||
          word.load(std::memory_order_relaxed) != ticket_)
        return true;
      pause();
    }
    if (until.passed()) return false;
  }
}

// ---- the publication ----

void shm_subscriber_link::service() noexcept {
  received_packet p;
  for (int n = 0; n < max_packets && state() != link_state::lost && state() != link_state::refused; ++n) {
    switch (receive_packet(socket_->get(), p, true)) {
      case received::packet: handle(p); break;
      case received::malformed: count_malformed(); break;
      case received::nothing: return;
      case received::closed: lose(link_state::lost, link_end::cause::closed); return;
    }
  }
}

void shm_subscriber_link::handle(received_packet& p) noexcept {
  if (p.packet.subscription != subscription_) return count_malformed();
  if (p.packet.publication != publication_) return lose(link_state::refused, link_end::cause::other_publication);
  if (p.packet.kind == packet_kind::refused) return lose(link_state::refused, link_end::cause::no_room);
  switch (p.packet.kind) {
    case packet_kind::welcome: return welcome(p);
    case packet_kind::preparing: expected_at_ = monotonic::now(); return;
    case packet_kind::segment:
      if (!view_) return count_malformed();
      if (!use(p, view_->by)) lose(link_state::lost);  // it would get no more samples; a new link may
      return;
    case packet_kind::alert:
      if (!view_ || alert_) return count_malformed();
      if (!p.fds[0]) return lose(link_state::lost);
      alert_ = std::move(p.fds[0]);
      page().wants.fetch_or(reader_page::wants_alert);
      return;
    default: count_malformed();
  }
}

bool shm_subscriber_link::is_expected() const noexcept {
  return state() == link_state::connecting && expected_at_ != monotonic::time_point{} &&
         monotonic::now() - expected_at_ < preparing_patience;
}

void shm_subscriber_link::welcome(const received_packet& p) noexcept {
  if (view_) return count_malformed();
  mapping page = map_writable(p.fds[1].get(), sizeof(reader_page));
  if (!page) return lose(link_state::refused, link_end::cause::unusable);
  try {
    auto mine = std::make_shared<attachment>(socket_, std::move(page), pins_);
    page_ = &mine->page();
    if (!use(p, std::move(mine))) return lose(link_state::refused, link_end::cause::unusable);
  } catch (const std::bad_alloc&) {
    return lose(link_state::refused, link_end::cause::unusable);
  }
  newest_at_join_ = p.packet.newest;
  if (newest_at_join_ != 0 && (seen_ == 0 || p.packet.starts_at_newest)) seen_ = newest_at_join_ - 1;
  state_.store(link_state::connected, std::memory_order_release);
}

bool shm_subscriber_link::use(const received_packet& p, std::shared_ptr<attachment> by) noexcept try {
  auto fresh = segment::map(p.fds[0].get(), std::uint64_t{p.packet.pages} * page_size);
  if (!fresh) return false;
  view_ = std::make_shared<const view>(view{std::move(by), std::move(fresh)});  // [S2]
  awaits_segment_ = false;
  if (!say(packet_kind::attached, p.packet.generation)) lose(link_state::lost);  // [S3]
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// ---- a descriptor for the user's event loop ----

void shm_subscriber_link::want_alerts() noexcept {
  if (alert_) return;
  if (!say(packet_kind::want_alert)) lose(link_state::lost);
}

// Empties the descriptor and asks for the next byte, before it looks for samples, so that a later sample sends one. The
// byte may come a little after the wish is gone, and is then still to be read.
void shm_subscriber_link::rest_alert() noexcept {
  auto& wants = page().wants;
  const bool told = (wants.load() & reader_page::wants_alert) == 0;
  if (told) ++alert_bytes_;
  char byte = 0;
  ssize_t n = 0;
  while (alert_bytes_ != 0 && (n = ::recv(alert_.get(), &byte, sizeof byte, MSG_DONTWAIT)) > 0) --alert_bytes_;
  if (alert_bytes_ != 0 && n == 0) lose(link_state::lost);
  if (told) wants.fetch_or(reader_page::wants_alert);
}

}  // namespace orc::detail::shm
