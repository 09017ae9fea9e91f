#include "tools/web/live/followed_topic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t queue_length = 1024;
constexpr int samples_per_visit = 256;  // then other topics have their turn
constexpr auto queue_pause = 8ms;       // samples that come meanwhile are received together
constexpr std::size_t kept_copy_bytes = std::size_t{256} << 10;
constexpr auto request_pause = 1s;
constexpr auto hold_pause = 5ms;
constexpr auto longest_hold = 500ms;

[[nodiscard]] std::int64_t nanoseconds(clock::time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

}  // namespace

followed_topic::followed_topic(std::shared_ptr<topic_feed> feed, participant& from, type_watch& types)
    : feed_(std::move(feed)), from_(from), types_(types) {
  held_for_ = types_.ask(feed_->topic());
}

followed_topic::~followed_topic() {
  held_.reset();
  to_show_.reset();
  if (subscriber_) (void)from_.release_topic(feed_->topic());
  types_.forget(feed_->topic());
}

void followed_topic::receive_as(const reception& how) {
  const bool same_request = subscriber_ && how.every_sample == how_.every_sample;
  how_ = how;
  if (same_request) return;
  if (subscriber_) (void)from_.release_topic(feed_->topic());
  request(clock::now());
}

void followed_topic::request(clock::time_point now) {
  request_options options;
  if (how_.every_sample) {
    options.conflate = 0;
    options.depth = queue_length;
  }
  // The participant does not wait for the broker, so `no_broker` is no failure: the request stays.
  subscriber_ = from_.request_topic(feed_->topic(), options);
  was_up_ = false;
  request_at_ = now + request_pause;
  if (subscriber_) return;
  feed_->set_state({feed_state::kind::waiting, subscriber_.error().message()});
  feed_->announce();
}

std::optional<clock::time_point> followed_topic::receive(clock::time_point now) {
  if (held_ && !release_held(now)) return now + hold_pause;
  int left = how_.every_sample ? samples_per_visit : 1;
  received last = received::something;
  while (left > 0 && last == received::something) {
    last = receive_one(now);
    --left;
  }
  if (to_show_ && now >= show_at_) show(*std::exchange(to_show_, std::nullopt), now);
  if (last == received::held) return now + hold_pause;
  if (last == received::something) return how_.every_sample ? now : now + how_.pause;
  if (to_show_) return std::min(show_at_, now + queue_pause);
  // While samples come, they are received together; then the descriptor wakes.
  if (how_.every_sample && left + 1 < samples_per_visit) return now + queue_pause;
  return std::nullopt;
}

followed_topic::received followed_topic::receive_one(clock::time_point now) {
  message sample = subscriber_.recv(0);
  if (!sample) return received::nothing;
  if (any_ && sample.sequence() == last_sequence_ && sample.stamp_ns() == last_stamp_ns_)
    return received::something;  // the last sample again, from a new link
  if (is_other_publication(sample)) {
    hold(std::move(sample), now);
    return release_held(now) ? received::something : received::held;
  }
  deliver(std::move(sample), now);
  return received::something;
}

bool followed_topic::is_other_publication(const message& sample) const noexcept {
  const bool begins_anew = sample.publisher() == 0 && sample.sequence() <= last_sequence_;
  return !any_ || replaced_ || begins_anew;
}

void followed_topic::hold(message&& sample, clock::time_point now) {
  if (any_) held_for_ = types_.ask(feed_->topic());
  held_ = std::move(sample);
  hold_until_ = now + longest_hold;
  feed_->restart_plots();
}

bool followed_topic::release_held(clock::time_point now) {
  const type_watch::answer answer = types_.of(feed_->topic());
  if (answer.asked < held_for_ && now < hold_until_) return false;
  if (answer.known) take_type(answer);
  publication_ = answer.confirmed >= held_for_ ? answer.publication : "";
  replaced_ = false;
  message sample = *std::exchange(held_, std::nullopt);
  deliver(std::move(sample), now);
  return true;
}

void followed_topic::deliver(message&& sample, clock::time_point now) {
  any_ = true;
  last_sequence_ = sample.sequence();
  last_stamp_ns_ = sample.stamp_ns();
  missed_ += sample.missed();
  if (how_.every_sample && sample.size() <= max_shown_bytes) {
    // A publisher over shared memory that lies could change the bytes while they are decoded.
    copy_.assign(sample.bytes().begin(), sample.bytes().end());
    feed_->plot(copy_, sample.stamp_ns(), nanoseconds(now));
    if (copy_.capacity() > kept_copy_bytes) copy_ = {};
  }
  if (now >= show_at_) {
    to_show_.reset();
    show(sample, now);
  } else {
    to_show_ = std::move(sample);
  }
}

void followed_topic::show(const message& sample, clock::time_point now) {
  auto made = std::make_shared<fed_sample>();
  made->share = feed_->keep(sample.size());
  if (made->share) made->data.assign(sample.bytes().begin(), sample.bytes().end());
  made->size = sample.size();
  made->sequence = sample.sequence();
  made->stamp_ns = sample.stamp_ns();
  made->missed = missed_;
  made->type = type_;
  missed_ = 0;
  show_at_ = now + how_.pause;
  feed_->show(std::move(made));
  feed_->announce();
}

bool followed_topic::take_type(const type_watch::answer& answer) {
  if (type_known_ && answer.type == type_) return false;
  type_known_ = true;
  type_ = answer.type;
  feed_->set_type(type_);
  return true;
}

// The type can be known later than the sample: the broker was away, or did not have the schema yet. The type of
// another publication is not the sample's.
void followed_topic::follow_type() {
  const type_watch::answer answer = types_.of(feed_->topic());
  if (!answer.known) return;
  if (any_) {
    if (publication_.empty() && answer.confirmed >= held_for_) publication_ = answer.publication;
    replaced_ = !publication_.empty() && publication_ != answer.publication;
    if (publication_ != answer.publication) return;
  }
  if (!take_type(answer)) return;
  const auto shown = feed_->newest();
  if (!shown) return;
  auto again = std::make_shared<fed_sample>(*shown);
  again->type = type_;
  feed_->show(std::move(again));
  feed_->announce();
}

void followed_topic::look(clock::time_point now) {
  if (!subscriber_ && now >= request_at_) request(now);
  if (!subscriber_) return;  // its state says why
  if (held_) {
    if (release_held(now)) feed_->announce();
  } else {
    follow_type();
  }
  const bool up = subscriber_.connected();
  if (was_up_ && !up) feed_->restart_plots();
  was_up_ = was_up_ || up;
  feed_state state;
  state.what = up ? feed_state::kind::up : (was_up_ || any_) ? feed_state::kind::gone : feed_state::kind::waiting;
  if (!up) state.message = subscriber_.link().reason;
  if (subscriber_.fd() < 0) state.message = "out of file descriptors: raise the limit (ulimit -n)";
  const auto before = feed_->state_number();
  feed_->set_state(std::move(state));
  if (feed_->state_number() != before) feed_->announce();
}

}  // namespace orc::web
