#include "core/links/link_selector.h"

#include <algorithm>
#include <utility>

#include "core/links/route.h"

namespace orc::detail {

void link_selector::aim(const wire::id& publication, const std::vector<wire::endpoint>& endpoints, std::uint64_t newest,
                        monotonic::time_point from) {
  if (publication != wanted_.publication) wanted_.secret = wire::id::random().lo;
  wanted_.publication = publication;
  wanted_.newest = newest;
  list_endpoints(in_order_of_route(endpoints));
  aiming_ = true;
  rounds_ = 0;
  begin();
  look_again_ = from;
}

void link_selector::list_endpoints(const std::vector<wire::endpoint>& endpoints) {
  candidates_.clear();
  endpoints_.clear();
  for (const auto& kind : *transports_) {
    if (!allowed_.empty() && !allowed_.contains(static_cast<transport>(kind->name()))) {
      endpoints_.push_back({.where = {kind->name(), {}}, .stands = endpoint_state::standing::not_asked_for});
      continue;
    }
    // Over tcp each address of the publication's host is an endpoint of its own.
    const auto listed = endpoints_.size();
    for (const auto& each : endpoints) {
      const bool known =
          std::any_of(endpoints_.begin(), endpoints_.end(), [&](const auto& one) { return one.where == each; });
      if (each.transport == kind->name() && !known) endpoints_.push_back({.where = each, .kind = kind.get()});
    }
    if (endpoints_.size() == listed)
      endpoints_.push_back({.where = {kind->name(), {}}, .stands = endpoint_state::standing::not_offered});
  }
}

void link_selector::stop() noexcept {
  aiming_ = false;
  candidates_.clear();
}

void link_selector::begin() {
  candidates_.clear();
  failure_.reset();
  next_endpoint_ = 0;
  crowded_ = 0;
  look_again_ = {};
}

std::optional<link_selector::choice> link_selector::step(monotonic::time_point now) {
  if (auto found = finished(now)) return found;
  if (!aiming_ || now < look_again_) return std::nullopt;
  look_again_ = now + patience;
  if (std::any_of(candidates_.begin(), candidates_.end(), [](const auto& each) { return each.link->is_expected(); }))
    return std::nullopt;
  if (next_endpoint_ == endpoints_.size()) {
    if (candidates_.empty())
      begin();
    else
      ask_again(now);
    rounds_ = std::min(rounds_ + 1, quick_rounds);
  }
  const int crowded_before = crowded_;
  while (start_next(now)) {
    if (auto found = finished(now)) return found;
    if (crowded_ != crowded_before || !candidates_.empty()) break;
  }
  const auto unanswered = rounds_ < quick_rounds ? patience : pause;
  look_again_ = now + (crowded_ != crowded_before ? crowd_pause : unanswered);
  return std::nullopt;
}

// Tries the next endpoint of the publication. False: there is none left.
bool link_selector::start_next(monotonic::time_point now) {
  while (next_endpoint_ < endpoints_.size()) {
    const std::size_t this_one = next_endpoint_++;
    endpoint_state& next = endpoints_[this_one];
    if (next.kind == nullptr) continue;
    auto made = next.kind->subscribe(wanted_, next.where);
    if (!made) {
      next.fail(made.error().message());
      if (made.error().code() == errc::timed_out && crowded_ < max_crowded) {
        ++crowded_;
        next_endpoint_ = this_one;
        return true;
      }
      failure_ = made.error();
      return true;
    }
    next.ask(now);
    candidates_.push_back({this_one, *std::move(made)});
    return true;
  }
  return false;
}

// A new connection finds a restored path much sooner than one that waits to repeat its first message.
void link_selector::ask_again(monotonic::time_point now) {
  std::vector<std::size_t> silent;
  for (const auto& each : candidates_) {
    const bool known = std::find(silent.begin(), silent.end(), each.endpoint) != silent.end();
    if (endpoints_[each.endpoint].kind->can().repeats_late && each.link->state() == link_state::connecting && !known)
      silent.push_back(each.endpoint);
  }
  for (const std::size_t which : silent) {
    auto made = endpoints_[which].kind->subscribe(wanted_, endpoints_[which].where);
    if (!made) continue;
    const auto is_there = [which](const auto& each) { return each.endpoint == which; };
    if (std::count_if(candidates_.begin(), candidates_.end(), is_there) >= max_asked)
      candidates_.erase(std::find_if(candidates_.begin(), candidates_.end(), is_there));  // the oldest
    endpoints_[which].ask(now);
    candidates_.push_back({which, *std::move(made)});
  }
}

// Drops the other connections to the same place: their hello would make the publication end this one.
std::vector<link_selector::candidate>::iterator link_selector::drop_others_there(
    std::vector<candidate>::iterator keep) {
  const auto kept = keep->link;
  const auto there = keep->endpoint;
  std::erase_if(candidates_, [&](const auto& each) { return each.endpoint == there && each.link != kept; });
  return std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& each) { return each.link == kept; });
}

std::optional<link_selector::choice> link_selector::finished(monotonic::time_point now) {
  for (auto each = candidates_.begin(); each != candidates_.end();) {
    sample first;
    const bool was_introduced = each->link->is_introduced();
    const bool has_first = each->link->try_recv(first);
    if (!was_introduced && each->link->is_introduced()) each = drop_others_there(each);
    const auto state = each->link->state();
    if (state == link_state::refused || (state == link_state::lost && !has_first)) {
      endpoints_[each->endpoint].fail(each->link->why_ended());
      each = candidates_.erase(each);
      if (next_endpoint_ < endpoints_.size())
        look_again_ = {};  // tries the next endpoint at once, but begins no second round
      continue;
    }
    // Wait for this one: later endpoints in the list are no better.
    if (each->link->is_expected()) return std::nullopt;
    if (state == link_state::connected || has_first) {
      auto chosen = take(*each, now);
      if (has_first) chosen.first = std::move(first);
      stop();
      return chosen;
    }
    ++each;
  }
  return std::nullopt;
}

link_selector::choice link_selector::take(candidate& found, monotonic::time_point now) {
  endpoints_[found.endpoint].stands = endpoint_state::standing::answered;
  const std::size_t count = found.endpoint + 1;  // later endpoints need no reason
  choice chosen{nullptr,
                endpoints_[found.endpoint].where,
                notes_of_first(count, now),
                public_notes_of_first(count),
                std::nullopt,
                endpoints_[found.endpoint].kind->can().checks_path,
                endpoints_[found.endpoint].kind->can().sees_end};
  chosen.link = std::move(found.link);  // last: the copies may throw std::bad_alloc
  return chosen;
}

bool link_selector::is_reached(std::size_t which) const noexcept {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [which](const auto& each) { return each.endpoint == which && each.link->is_reached(); });
}

std::string link_selector::notes_of_first(std::size_t count, monotonic::time_point now) const {
  std::string all;
  for (std::size_t which = 0; which < count; ++which) {
    if (which != 0) all += "; ";
    all += endpoints_[which].text(now, is_reached(which));
  }
  return all;
}

// One note per transport, because others must not learn even the number of addresses.
std::string link_selector::public_notes_of_first(std::size_t count) const {
  std::string all;
  for (std::size_t which = 0; which < count; ++which) {
    const bool is_last =
        which + 1 == count || endpoints_[which + 1].where.transport != endpoints_[which].where.transport;
    if (!is_last) continue;
    if (!all.empty()) all += "; ";
    all += endpoints_[which].public_text();
  }
  return all;
}

std::optional<error> link_selector::type_problem() const {
  for (const auto& each : candidates_) {
    if (auto problem = each.link->type_problem()) return problem;
  }
  return std::nullopt;
}

std::shared_ptr<upkeep> link_selector::work() noexcept {
  for (const auto& each : candidates_) {
    if (auto work = each.link->work()) return work;
  }
  return nullptr;
}

void link_selector::append_fds(std::vector<int>& to) const {
  for (const auto& each : candidates_) {
    for (const int fd : {each.link->fd(), each.link->control_fd()}) {
      if (fd >= 0) to.push_back(fd);
    }
  }
}

std::optional<monotonic::time_point> link_selector::next_step() const noexcept {
  if (!aiming_) return std::nullopt;
  return look_again_;
}

}  // namespace orc::detail
