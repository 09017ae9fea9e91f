#include "core/broker/broker_search.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/files/broker_trust.h"
#include "base/files/run_dir.h"
#include "base/network/endpoint_check.h"
#include "base/network/host_addresses.h"
#include "core/links/route.h"

namespace orc::detail {

namespace {

constexpr std::string_view ipc_scheme = "ipc://";

constexpr std::chrono::milliseconds until_looked_up{10};
constexpr std::chrono::seconds looked_up_again_after{1};
constexpr int round_trips_to_join = 6;  // TCP, the greetings of ZMTP, Welcome and Hello
constexpr const char* no_such_host = "no such host";

[[nodiscard]] bool nothing_there(const std::string& endpoint) {
  if (endpoint.starts_with(ipc_scheme)) return ::access(endpoint.c_str() + ipc_scheme.size(), F_OK) != 0;
  const auto there = numbers_in(endpoint);
  if (!there) return false;
  const auto by = route_to(endpoint);
  if (!by || by->leaves_host) return !by;  // other hosts are not asked, because that may take long
  return connection_problem(*there, std::chrono::milliseconds(0)) == ECONNREFUSED;
}

}  // namespace

broker_search::broker_search(zmq::context_t& context, const std::string& endpoint)
    : context_(context), named_(broker_is_named(endpoint)) {
  for (const auto& each : broker_candidates(endpoint)) candidates_.push_back({each, {}});
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!names_a_host(candidates_[i].endpoint)) addresses_.push_back({i, candidates_[i].endpoint});
  }
}

bool broker_search::step(monotonic::time_point now) {
  take_addresses();
  if (now < until_) return false;
  if (has_choice() && is_connected() && std::exchange(may_stay_, false)) {
    stay(now + max_patience);
    return false;
  }
  if (next_ == 0) look_up(now);
  until_ = now + (addresses_.empty() && names_.is_under_way() ? until_looked_up : patience);
  for (std::size_t tried = 0; tried < addresses_.size(); ++tried) {
    const address& which = addresses_[next_];
    next_ = (next_ + 1) % addresses_.size();
    const auto its_time = std::max(time_for_one_, round_trips_to_join * round_trip_);
    if (next_ == 0) time_for_one_ = std::min(2 * time_for_one_, max_patience);
    if (leave_out(which)) continue;
    until_ = now + its_time;
    // It is the only one that may answer, and libzmq keeps trying by itself.
    at_ = which.candidate;
    if (!connection_.is_open() || which.endpoint != endpoint()) {
      connection_.open(context_, which.endpoint, round_trip_);
      may_stay_ = true;
    }
    break;
  }
  return true;
}

// Looks names up anew in each round, because their addresses change.
void broker_search::look_up(monotonic::time_point now) {
  if (names_.is_under_way() || (asked_ != monotonic::time_point{} && now - asked_ < looked_up_again_after)) return;
  const auto is_name = [](const candidate& each) { return names_a_host(each.endpoint); };
  if (std::none_of(candidates_.begin(), candidates_.end(), is_name)) return;
  std::vector<std::string> all;
  for (const auto& each : candidates_) all.push_back(each.endpoint);
  asked_ = now;
  names_.ask(std::move(all));
}

void broker_search::take_addresses() {
  const auto found = names_.try_take();
  if (!found) return;
  std::vector<address> addresses;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    for (const auto& each : (*found)[i]) addresses.push_back({i, each});
    candidates_[i].problem = (*found)[i].empty() ? no_such_host : std::string();
    if (!(*found)[i].empty()) continue;
    // A name server may be away for longer than the broker: keep the known addresses.
    std::copy_if(addresses_.begin(), addresses_.end(), std::back_inserter(addresses),
                 [i](const auto& each) { return each.candidate == i; });
  }
  if (addresses == addresses_) return;
  if (addresses_.empty()) until_ = {};
  addresses_ = std::move(addresses);
  next_ = 0;
}

bool broker_search::leave_out(const address& which) {
  auto& why = candidates_[which.candidate].problem;
  why = named_ ? std::string() : why_distrusted(which.endpoint);
  if (!why.empty()) why += ": ignored";
  return !why.empty() || (has_choice() && nothing_there(which.endpoint));
}

void broker_search::reconnect(monotonic::time_point now) {
  if (!connection_.is_open()) return;
  stay(now + patience);
  connection_.open(context_, std::string(endpoint()), round_trip_);
  may_stay_ = true;
}

void broker_search::expect_round_trip(std::chrono::milliseconds trip, monotonic::time_point now) {
  if (trip <= round_trip_) return;
  round_trip_ = trip;
  if (trip > broker_connection::longest_usual_round_trip && !is_connected()) reconnect(now);
}

void broker_search::restart() noexcept {
  if (has_choice()) connection_.close();
  look_back_later({});
  next_ = 0;
  until_ = {};
  time_for_one_ = patience;
  asked_ = {};
  (void)names_.try_take();  // drops the result of an earlier search
}

// One after the other, a connection at a time. A connection that comes up keeps its turn.
void broker_search::look_back(monotonic::time_point now) {
  if (now < next_look_back()) return;
  look_back_at_ = now + std::max(look_back_interval, round_trips_to_join * round_trip_);
  take_addresses();
  look_up(now);
  const auto is_earlier = [this](const address& each) { return each.candidate < at_; };
  const auto count = static_cast<std::size_t>(std::count_if(addresses_.begin(), addresses_.end(), is_earlier));
  if (earlier_.is_connected()) return;
  for (std::size_t tried = 0; tried < count; ++tried) {
    const address& which = addresses_[next_earlier_++ % count];
    if (leave_out(which)) continue;
    earlier_at_ = which.candidate;
    if (!earlier_.is_open() || which.endpoint != earlier_.endpoint())
      earlier_.open(context_, which.endpoint, round_trip_);
    return;
  }
  earlier_.close();
}

void broker_search::look_back_later(monotonic::time_point at) noexcept {
  earlier_.close();
  look_back_at_ = at;
}

broker_connection broker_search::go_back() noexcept {
  at_ = earlier_at_;
  look_back_at_ = {};
  return std::exchange(connection_, std::exchange(earlier_, broker_connection()));
}

std::string broker_search::candidates(const std::vector<std::string>& findings) const {
  std::string all;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const candidate& each = candidates_[i];
    if (!all.empty()) all += ", ";
    all += each.endpoint;
    const std::string& found = i < findings.size() && !findings[i].empty() ? findings[i] : each.problem;
    if (!found.empty()) all += " (" + found + ")";
  }
  return all;
}

}  // namespace orc::detail
