#include "core/link_selector.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/route.h"

namespace orc::detail {

void link_selector::aim(const wire::id& publication, const std::vector<wire::endpoint>& endpoints, std::uint64_t newest,
                        monotonic::time_point from) {
  if (publication != wanted_.publication) wanted_.secret = wire::id::random().lo;
  wanted_.publication = publication;
  wanted_.newest = newest;
  endpoints_ = in_order_of_route(endpoints);
  aiming_ = true;
  rounds_ = 0;
  begin();
  look_again_ = from;
}

void link_selector::stop() noexcept {
  aiming_ = false;
  candidates_.clear();
}

void link_selector::begin() {
  candidates_.clear();
  notes_.clear();
  public_notes_.clear();
  failure_.reset();
  next_kind_ = 0;
  next_endpoint_ = 0;
  crowded_ = 0;
  look_again_ = {};
}

std::optional<link_selector::choice> link_selector::step(monotonic::time_point now) {
  if (auto found = finished()) return found;
  if (!aiming_ || now < look_again_) return std::nullopt;
  look_again_ = now + patience;
  if (std::any_of(candidates_.begin(), candidates_.end(), [](const auto& each) { return each.link->is_expected(); }))
    return std::nullopt;
  if (next_kind_ == transports_->size()) {
    if (candidates_.empty())
      begin();
    else
      ask_again();
    rounds_ = std::min(rounds_ + 1, quick_rounds);
  }
  const int crowded_before = crowded_;
  while (start_next()) {
    if (auto found = finished()) return found;
    if (crowded_ != crowded_before || !candidates_.empty()) break;
  }
  const auto unanswered = rounds_ < quick_rounds ? patience : pause;
  look_again_ = now + (crowded_ != crowded_before ? crowd_pause : unanswered);
  return std::nullopt;
}

// Tries the next endpoint that the publication offers. False: there is none left.
bool link_selector::start_next() {
  while (next_kind_ < transports_->size()) {
    const auto this_one = std::pair(next_kind_, next_endpoint_);
    const transport_kind& kind = *(*transports_)[next_kind_];
    const auto of_kind = [&](const auto& each) { return each.transport == kind.name(); };
    const auto first = endpoints_.begin() + static_cast<std::ptrdiff_t>(next_endpoint_);
    const auto offered = std::find_if(first, endpoints_.end(), of_kind);
    const bool allowed = allowed_.empty() || allowed_.contains(static_cast<transport>(kind.name()));
    // Over tcp each address of the publication's host is a way of its own.
    if (allowed && offered != endpoints_.end() && std::any_of(offered + 1, endpoints_.end(), of_kind)) {
      next_endpoint_ = static_cast<std::size_t>(offered + 1 - endpoints_.begin());
    } else {
      next_endpoint_ = 0;
      ++next_kind_;
    }
    if (!allowed) {
      note(kind.name(), "not asked for");
      continue;
    }
    if (offered == endpoints_.end()) {
      note(kind.name(), "not offered");
      continue;
    }
    auto made = kind.subscribe(wanted_, *offered);
    if (const auto* const failed = std::get_if<error>(&made)) {
      if (failed->code() == errc::timed_out && crowded_ < most_crowded) {
        ++crowded_;
        std::tie(next_kind_, next_endpoint_) = this_one;
        return true;
      }
      note_failure(kind.name(), failed->message());
      failure_ = *failed;
      return true;
    }
    candidates_.push_back({*offered, std::move(std::get<std::unique_ptr<subscriber_link>>(made)), &kind});
    return true;
  }
  return false;
}

// Over a network what was sent first may be lost, and come again much later than the path does.
void link_selector::ask_again() {
  std::vector<std::pair<wire::endpoint, const transport_kind*>> silent;
  for (const auto& each : candidates_) {
    const bool repeats = each.kind->can().cross_host && !each.kind->can().lossy;
    const std::pair asked(each.where, each.kind);
    const bool known = std::find(silent.begin(), silent.end(), asked) != silent.end();
    if (repeats && each.link->state() == link_state::connecting && !known) silent.push_back(asked);
  }
  for (const auto& [where, kind] : silent) {
    auto made = kind->subscribe(wanted_, where);
    auto* const link = std::get_if<std::unique_ptr<subscriber_link>>(&made);
    if (link == nullptr) continue;
    const auto is_there = [&there = where](const auto& each) { return each.where == there; };
    if (std::count_if(candidates_.begin(), candidates_.end(), is_there) >= most_asked)
      candidates_.erase(std::find_if(candidates_.begin(), candidates_.end(), is_there));  // the oldest
    candidates_.push_back({where, std::move(*link), kind});
  }
}

// They would end it when they introduce themselves.
std::vector<link_selector::candidate>::iterator link_selector::drop_others_there(
    std::vector<candidate>::iterator keep) {
  const auto kept = keep->link;
  const auto there = keep->where;
  std::erase_if(candidates_, [&](const auto& each) { return each.where == there && each.link != kept; });
  return std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& each) { return each.link == kept; });
}

std::optional<link_selector::choice> link_selector::finished() {
  for (auto each = candidates_.begin(); each != candidates_.end();) {
    sample first;
    const bool was_introduced = each->link->is_introduced();
    const bool has_first = each->link->try_recv(first);
    if (!was_introduced && each->link->is_introduced()) each = drop_others_there(each);
    const auto state = each->link->state();
    if (state == link_state::refused || (state == link_state::lost && !has_first)) {
      note_failure(each->where.transport, state == link_state::lost
                                              ? "nobody answers there"
                                              : "another publication answered there, or it has no room");
      each = candidates_.erase(each);
      if (next_kind_ < transports_->size()) look_again_ = {};  // the next one at once, but no second round
      continue;
    }
    // Worth waiting for: what comes later in the list is not better.
    if (each->link->is_expected()) return std::nullopt;
    if (state == link_state::connected || has_first) {
      for (auto before = candidates_.begin(); before != each; ++before) {
        if (before->where != each->where) note_failure(before->where.transport, "no answer");
      }
      note(each->where.transport, "the publication answered");
      if (const auto remark = each->link->remark(); !remark.empty()) {
        notes_ += " (" + remark + ")";
        public_notes_ += " (" + remark + ")";
      }
      choice chosen{nullptr, each->where, notes_, public_notes_, std::nullopt};
      chosen.link = std::move(each->link);  // last: the copies may fail for want of memory
      if (has_first) chosen.first = std::move(first);
      stop();
      return chosen;
    }
    ++each;
  }
  return std::nullopt;
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

void link_selector::note(wire::transport t, std::string_view why, std::string_view for_others) {
  const auto append = [t](std::string& to, std::string_view what) {
    if (!to.empty()) to += "; ";
    to += wire::name_of(t);
    to += ": ";
    to += what;
  };
  append(notes_, why);
  append(public_notes_, for_others);
}

void link_selector::note_failure(wire::transport t, std::string_view why) {
  note(t, why, t == wire::transport::inproc ? why : "not reachable");
}

}  // namespace orc::detail
