// orc doctor: is there a broker where programs look for it?
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/files/broker_trust.h"
#include "base/files/fd_limit.h"
#include "base/files/run_dir.h"
#include "base/network/endpoint_check.h"
#include "base/network/host_addresses.h"
#include "orc/version.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/doctor/doctor.h"
#include "tools/orc/text.h"
#include "wire/broker_endpoint.h"

namespace orc::cli {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds quick{200};

// Of the systemd unit that the package installs.
bool is_service() {
  for (const char* const directory : {"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"})
    if (::access((std::string(directory) + "/orc-broker.service").c_str(), F_OK) == 0) return true;
  return false;
}

std::string how_to_start(const std::vector<std::string>& candidates) {
  if (candidates.size() == 1) return "orc-broker --listen " + shell_word(candidates.front());
  return is_service() ? as_root("systemctl start orc-broker") : "orc-broker";
}

struct answer {
  std::string version;
  double round_trip_ms = 0;
};

// None: somebody listens, but this is no broker.
std::optional<answer> ask(const std::string& endpoint, const detail::stop_signal& stop) {
  auto directory = broker_directory(endpoint, stop);
  broker_state broker;
  if (!directory.broker(broker)) return std::nullopt;  // connects
  const auto before = clock::now();
  if (!directory.broker(broker)) return std::nullopt;
  return answer{broker.version, std::chrono::duration<double, std::milli>(clock::now() - before).count()};
}

void add_answer(const examine& add, const std::string& findings, const answer& from) {
  finding result{
      severity::ok, "broker", findings + " answers in " + fixed(from.round_trip_ms, 2) + " ms: " + from.version, {}};
  if (!from.version.ends_with(std::string(" ") + orc::version())) {
    result.level = severity::note;
    result.found += ", which is of another version than this program (" + std::string(orc::version()) + ")";
  }
  add(std::move(result));
}

// The endpoints to try, in this order: each name of a host once for each of its addresses, in numbers. A name that no
// host has stays. May ask the resolver.
std::vector<std::string> ways_to(const std::vector<std::string>& endpoints) {
  std::vector<std::string> ways;
  for (const auto& each : endpoints) {
    auto numbers = detail::numeric_endpoints(each);
    if (numbers.empty()) numbers.push_back(each);
    ways.insert(ways.end(), numbers.begin(), numbers.end());
  }
  return ways;
}

// Empty when something listens at the ZeroMQ endpoint, or when that cannot be told; otherwise why not: "nothing there",
// "connection refused: ...", "no such host" for a name. Takes at most 200 ms: a missing broker is an answer and not a
// time-out.
std::string why_silent(const std::string& endpoint) {
  if (detail::names_a_host(endpoint)) return "no such host";
  auto found = detail::look_at_endpoint(endpoint, quick, detail::names_are::left_out);
  return found.what == detail::endpoint_finding::kind::failed ? std::move(found.text) : std::string();
}

// For endpoints that were found by searching: why participants ignore this one, because another user could have made
// it. Empty: they do not.
std::string why_ignored(const std::string& endpoint) {
  const std::string distrusted = detail::why_distrusted(endpoint);
  return distrusted.empty() ? distrusted : distrusted + ": ignored";
}

}  // namespace

std::optional<std::string> check_broker(const examine& add, const std::string& endpoint,
                                        const detail::stop_signal& stop) {
  const auto candidates = detail::broker_candidates(endpoint);
  if (candidates.front() == detail::without_broker) {
    add({severity::ok, "broker", "none is wanted (ORC_BROKER=none): programs meet by multicast only", {}});
    return std::nullopt;
  }
  for (const auto& each : candidates) {
    const auto problem = wire::problem_of_broker_endpoint(each);
    if (!problem) continue;
    std::vector<std::string> fixes;
    if (!problem->instead.empty()) fixes.push_back("export ORC_BROKER=" + shell_word(problem->instead));
    add({severity::fail, "broker", problem->text, std::move(fixes)});
    return std::nullopt;
  }
  // libzmq ends the process when it has too few.
  if (!detail::room_for_fds(32)) {
    add({severity::fail, "broker", "not sought: hardly any files may be opened", {"ulimit -n 4096"}});
    return std::nullopt;
  }
  const bool searches = !detail::broker_is_named(endpoint);
  std::string findings;
  for (const std::string& candidate : ways_to(candidates)) {
    if (stop.raised()) return std::nullopt;
    findings += (findings.empty() ? "" : ", ") + candidate;
    std::string silent = why_silent(candidate);
    if (silent.empty() && searches) silent = why_ignored(candidate);
    if (!silent.empty()) {
      findings += " (" + silent + ")";
    } else if (const auto from = ask(candidate, stop)) {
      add_answer(add, findings, *from);
      return candidate;
    } else {
      const auto found =
          detail::look_at_endpoint(candidate, detail::endpoint_check::patience, detail::names_are::looked_up);
      findings += " (" + (found.text.empty() ? "no broker answers there" : found.text) + ")";
    }
  }
  add({severity::fail, "broker", "none answers: " + findings, {how_to_start(candidates)}});
  return std::nullopt;
}

}  // namespace orc::cli
