#include "core/links/link_follower.h"

#include <algorithm>
#include <utility>

#include "base/network/host_addresses.h"

namespace orc::detail {

link_follower::link_follower(subscription_spec wanted, transport_set allowed,
                             std::shared_ptr<const transport_list> transports, std::string open_address, inbox& samples,
                             wait_point& waiting, monotonic::time_point now)
    : samples_(samples),
      waiting_(waiting),
      open_address_(std::move(open_address)),
      listen_openly_at_(open_address_.empty() ? monotonic::time_point::max()
                        : wanted.alone        ? now
                                              : now + broker_answers_within),
      selector_(std::move(wanted), allowed, std::move(transports)) {}

void link_follower::update(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                           std::optional<obstacle> why_not, monotonic::time_point now) {
  selector_.look_in(run_directory);
  if (state.publication) {
    listen_openly_at_ = monotonic::time_point::max();
    follow(state.publication->publication, state.publication->endpoints, std::move(why_not), now);
  } else if (publication_ == wire::id{}) {
    if (!open_address_.empty() && !link_) listen_openly(now);
  } else if (pushed || obstacle_) {
    obstacle_.reset();
    departure_.begin(now);
    selector_.try_no_more();
    if (auto chosen = selector_.step(now)) adopt(std::move(*chosen), now);
    waiting_.ring();
  }
  // Not pushed: a broker that has just started may not know the publication yet. The state of the link is more
  // reliable. With an obstacle there is none.
}

void link_follower::follow(const wire::id& publication, const std::vector<wire::endpoint>& endpoints,
                           std::optional<obstacle> why_not, monotonic::time_point now) {
  const bool same = publication == publication_;
  if (same && departure_.is_said()) {
    departure_.forget();
    waiting_.ring();
  }
  if (same && !why_not && endpoints == endpoints_ && (link_ || selector_.aiming())) return;
  if (!same) {
    if (link_) samples_.save(*link_);
    take_over(publication, endpoints);
    drop_link();
    last_end_.clear();
    departure_.forget();
    publication_ = publication;
  }
  endpoints_ = endpoints;
  if (why_not) return keep_away(*std::move(why_not));
  if (obstacle_) waiting_.ring();
  obstacle_.reset();
  const bool link_stays = link_ && std::find(endpoints_.begin(), endpoints_.end(), linked_to_) != endpoints_.end();
  if (!link_stays) look_for_link(pace_.book(now));  // a link that is up serves until the new one is up
}

// The numbers of the samples go on where the same publication does: the broker may forget it, and know it again, while
// it is heard over multicast.
void link_follower::take_over(const wire::id& next, const std::vector<wire::endpoint>& endpoints) {
  const auto newest = samples_.newest();
  if (!next) {
    followed_before_ = publication_;
    return selector_.followed_before(publication_, endpoints_);
  }
  const bool was_open = !publication_;
  subscriber_link::heard heard;
  if (was_open && link_)
    heard = link_->heard_of(next, endpoints);
  else if (was_open && next == followed_before_)
    heard.newest = newest;
  if (heard.newest == 0 || heard.newest != newest || heard.lost != 0)
    samples_.begin_publication(heard.newest, heard.lost);
}

void link_follower::keep_away(obstacle&& why) {
  obstacle_ = std::move(why);
  selector_.stop();
  end_link();
  waiting_.ring();
}

void link_follower::judge(std::optional<obstacle> why_not, monotonic::time_point now) {
  if (!obstacle_) return;
  if (why_not) return keep_away(*std::move(why_not));
  obstacle_.reset();
  waiting_.ring();
  look_for_link(pace_.book(now));
}

// The broker knows no publication: receives from any sender on the channel, such as LCM programs.
void link_follower::listen_openly(monotonic::time_point now) {
  listen_openly_at_ = monotonic::time_point::max();
  follow({}, {{wire::transport::multicast, open_address_}}, std::nullopt, now);
}

void link_follower::stand_aside() noexcept {
  listen_openly_at_ = monotonic::time_point::max();
  selector_.stop();
  end_link();
  departure_.forget();
  obstacle_.reset();
  endpoints_.clear();
  publication_ = followed_before_ = {};
}

void link_follower::resume(monotonic::time_point now) noexcept {
  if (!open_address_.empty()) listen_openly_at_ = now;
}

void link_follower::step(monotonic::time_point now) {
  if (now >= listen_openly_at_) listen_openly(now);
  if (auto chosen = selector_.step(now)) adopt(std::move(*chosen), now);
  serve_link();
  watch_path(now);
  look_at_types();
  departure_.look(now, samples_.received());
  if (departure_.is_said()) {
    const bool overdue = departure_.is_overdue(now);
    if (overdue && !proves_publication()) selector_.stop();
    if (has_ended() || (overdue && !proves_publication())) {
      end_link();
      if (!open_address_.empty() && !selector_.waits()) listen_openly(now);
    }
  } else if (link_ && has_ended()) {
    replace_link(now);
  }
}

void link_follower::serve_link() {
  if (!link_ || link_->control_fd() < 0) return;
  link_->service();
  waiting_.look_for_alerts();
  if (!link_->has_more()) return;
  samples_.look_again();
  if (waiting_.is_awaited()) waiting_.ring();  // it came in other memory than awaited
}

// The path may be gone long before the connection ends. The link stays until there is another one, because the path may
// also return. All subscriptions check at the same time, so that they cost one turn.
void link_follower::watch_path(monotonic::time_point now) {
  if (!link_ || !checks_path_ || now < next_look_at_path_) return;
  next_look_at_path_ = now - now.time_since_epoch() % path_interval + path_interval;
  if (!is_uprooted_ && link_->path_answers(now)) {
    if (std::exchange(is_silent_, false)) selector_.stop();
  } else if (!selector_.aiming()) {
    look_for_link(now);
    is_silent_ = true;
  }
}

void link_follower::network_changed(monotonic::time_point now) {
  selector_.network_changed();
  if (link_) link_->network_changed();
  is_uprooted_ = link_ && checks_path_ && !has_own_address(link_->fd());
  if (!is_uprooted_) return;
  look_for_link(now);
  is_silent_ = true;
}

// Over multicast the senders' types are known only when they are heard.
void link_follower::look_at_types() {
  auto problem = link_ ? link_->type_problem() : selector_.type_problem();
  if (!problem && !type_problem_) return;
  if (problem && type_problem_ && problem->message() == type_problem_->message()) return;
  has_type_news_ = !type_problem_;  // not for each sender: any program can send
  type_problem_ = std::move(problem);
  waiting_.ring();
}

bool link_follower::has_ended() const noexcept {
  return !link_ || link_->state() == link_state::lost || link_->state() == link_state::refused;
}

void link_follower::replace_link(monotonic::time_point now) {
  samples_.save(*link_);
  last_end_ = "the link (" + address_text(linked_to_) + ") ended: " + end_text(link_->why_ended());
  drop_link();
  // A link that ends at once must not keep both sides busy.
  const bool short_lived = now - linked_at_ < link_selector::patience;
  look_for_link(short_lived ? now + link_selector::patience : pace_.book(now));
}

void link_follower::adopt(link_selector::choice&& chosen, monotonic::time_point now) {
  if (!waiting_.can_watch(*chosen.link)) return look_for_link(pace_.book(now));
  end_link();
  link_ = std::move(chosen.link);
  samples_.begin_link(*link_);
  linked_at_ = now;
  linked_to_ = std::move(chosen.where);
  reason_ = std::move(chosen.reason);
  public_reason_ = std::move(chosen.public_reason);
  checks_path_ = chosen.checks_path;
  sees_end_ = chosen.sees_end;
  last_end_.clear();
  if (chosen.first) samples_.accept(std::move(*chosen.first));
  waiting_.watch(*link_);
}

void link_follower::end_link() noexcept {
  if (link_) samples_.save(*link_);
  drop_link();
}

void link_follower::drop_link() noexcept {
  if (!link_) return;
  is_uprooted_ = false;
  malformed_ += link_->malformed();
  waiting_.forget(std::exchange(link_, nullptr));
}

void link_follower::look_for_link(monotonic::time_point from) {
  is_silent_ = false;
  selector_.aim(publication_, endpoints_, samples_.newest(), from);
}

void link_follower::stop() noexcept {
  selector_.stop();
  drop_link();
}

bool link_follower::is_connected() const noexcept {
  return link_ && (!departure_.is_said() || departure_.sends_on()) && link_->state() == link_state::connected;
}

bool link_follower::is_linked() const noexcept {
  return is_connected() || (proves_publication() && link_->state() == link_state::connected);
}

std::string link_follower::reason(monotonic::time_point now) const {
  if (is_connected()) return with_remarks(reason_);
  if (obstacle_) return obstacle_->reason;
  if (type_problem_) return type_problem_->message();
  if (!may_find_one()) return "no publisher";
  if (!selector_.aiming()) return link_ ? "the link ended: " + end_text(link_->why_ended()) : "the link ended";
  const auto notes = selector_.notes(now);
  return last_end_.empty() ? notes : last_end_ + "; " + notes;
}

std::string link_follower::with_remarks(std::string reason) const {
  if (const auto remark = link_->remark(); !remark.empty()) reason += " (" + remark + ")";
  if (type_problem_) reason += "; " + type_problem_->message();
  return reason;
}

std::string link_follower::public_reason() const {
  if (is_connected()) return with_remarks(public_reason_);
  if (obstacle_) return obstacle_->reason;
  if (type_problem_) return type_problem_->message();
  if (!may_find_one()) return "no publisher";
  return selector_.aiming() ? selector_.public_notes() : "the link ended";
}

std::optional<error> link_follower::failure() const { return link_ ? std::nullopt : selector_.failure(); }

void link_follower::append_fds(std::vector<int>& to) const {
  selector_.append_fds(to);
  if (link_ && link_->control_fd() >= 0 && link_->state() == link_state::connected) to.push_back(link_->control_fd());
}

monotonic::time_point link_follower::next_step(monotonic::time_point now) const {
  auto next = std::min(selector_.next_step().value_or(monotonic::time_point::max()), listen_openly_at_);
  if (link_ && checks_path_) next = std::min(next, next_look_at_path_);
  if (const auto look = departure_.next_look(now); look && (selector_.waits() || link_)) next = std::min(next, *look);
  return next;
}

}  // namespace orc::detail
