#include "network/chaos_mesh.h"

#include <csignal>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "network/streams.h"
#include "support/wait_until.h"

namespace orc::test {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t count = four_brokers::count;
const std::string& own_broker = four_brokers::own_broker;
constexpr std::size_t parameter_host = 0, tuner_host = 2;

constexpr int max_age_ms = 100;
// Of a busy machine, between ORC's look at the clock and the test's.
constexpr int age_slack_ms = under_sanitizer ? 1000 : 100;
// What works needs no time of its own, but the processors may be busy.
constexpr milliseconds at_once{under_sanitizer ? 10'000 : 2'000};
constexpr std::uint64_t more_samples = 10;

std::string service(std::size_t host) { return "arm" + std::to_string(host); }

child_process started(const lab_host& on, std::vector<std::string> words) {
  auto line = on.here();
  line.insert(line.end(), words.begin(), words.end());
  return child_process(std::move(line));
}

// Of what runs behind nsenter, which stops by itself when its child does.
void stop(const child_process& program) { (void)::kill(inner_pid(program), SIGSTOP); }
void go_on(const child_process& program) {
  (void)::kill(program.pid(), SIGCONT);
  (void)::kill(inner_pid(program), SIGCONT);
}

}  // namespace

chaos_mesh::chaos_mesh(lab& hosts) : hosts_(hosts), brokers_(hosts), servers_(count) {
  brokers_.boot_all();
  for (std::size_t host = 0; host < count; ++host) {
    start_server(host);
    if (servers_[host]->read_line() != "ready") throw std::runtime_error("no server");
    nodes_.push_back(node_on(hosts[host], own_broker, {"ORC_MULTICAST=udpm://239.255.76.67:7667?ttl=1"}));
    claimants_.push_back(node_on(hosts[host], own_broker));
    const std::string number = std::to_string(host);
    start_stream(*nodes_[host], "pose" + number, "tcp");
    start_stream(*nodes_[host], "scan" + number, "multicast");
    nodes_[host]->must("register command" + number + " tcp control 0");
    nodes_[host]->must("stream command" + number + " 100 50 0");
  }
  follow_all();
  for (std::size_t n = 0; n < 2 * count; ++n) {
    const std::size_t from = n % count;
    const std::size_t to = (from + 1 + n / count) % count;
    clients_.push_back(
        std::make_unique<chaos_calls>("client on host" + std::to_string(from) + " of " + service(to), hosts[from],
                                      std::vector<std::string>{program("orc_test_call_peer"), "pace", own_broker,
                                                               service(to), "tcp", std::to_string((n + 1) * 1'000'000)},
                                      (n + 1) * 1'000'000));
  }
  parameters_ = started(hosts[parameter_host], {program("orc_test_parameter_peer"), own_broker, "tcp"});
  if (parameters_->read_line() != "ready") throw std::runtime_error("no parameters");
  clients_.push_back(std::make_unique<chaos_calls>(
      "parameters", hosts[tuner_host],
      std::vector<std::string>{program("orc_test_call_peer"), "tune", own_broker, "pid", "tcp"}, 1));
}

void chaos_mesh::start_server(std::size_t host) {
  servers_[host] =
      started(hosts_[host], {program("orc_test_call_peer"), "serve", own_broker, service(host), "tcp", log_.path()});
}

void chaos_mesh::follow_all() {
  for (std::size_t from = 0; from < count; ++from) {
    const std::string number = std::to_string(from);
    const auto add = [&](const std::string& topic, std::size_t distance, const std::string& request, bool is_command) {
      const std::size_t to = (from + distance) % count;
      nodes_[to]->must("request " + topic + " " + request);
      nodes_[to]->must("collect " + topic);
      streams_.push_back({topic, from, to, is_command});
    };
    add("pose" + number, 1, "tcp 0 1000 20000", false);
    add("pose" + number, 2, "tcp 1 0 20000", false);
    add("command" + number, 1, "tcp 1 0 20000 " + std::to_string(max_age_ms), true);
    add("command" + number, 3, "tcp 0 1000 20000 " + std::to_string(max_age_ms), true);
    for (std::size_t distance = 1; distance < count; ++distance)
      add("scan" + number, distance, "multicast 0 1000 20000", false);
  }
  for (auto& each : streams_) {
    auto& node = *nodes_[each.to];
    if (!hears_more(node, each.topic, 1)) throw std::runtime_error(each.topic + " does not arrive");
    each.at_first = node.stats(each.topic);
  }
}

const child_process& chaos_mesh::process_of(const fault& what) const {
  switch (what.kind) {
    case fault_kind::broker_stopped: return brokers_.process(what.host);
    case fault_kind::server_stopped: return *servers_[what.host];
    case fault_kind::client_stopped: return clients_[what.host]->process();
    case fault_kind::node_stopped: return nodes_[what.host]->process();
    case fault_kind::claimant_stopped: return claimants_[what.host]->process();
    default: throw std::logic_error("no program stops");
  }
}

void chaos_mesh::begin(const fault& what) {
  const std::size_t host = what.host;
  switch (what.kind) {
    case fault_kind::carrier: return hosts_.cut(host, outage::carrier);
    case fault_kind::silent: return hosts_.cut(host, outage::silent);
    case fault_kind::ip: return hosts_.cut(host, outage::ip);
    case fault_kind::reject: return hosts_.cut(host, outage::reject);
    case fault_kind::reset: return hosts_.cut(host, outage::reset);
    case fault_kind::deaf: return hosts_.cut(host, outage::deaf);
    case fault_kind::mute: return hosts_.cut(host, outage::mute);
    case fault_kind::path: return hosts_.cut_between(host, what.other, outage::ip);
    case fault_kind::path_deaf: return hosts_.cut_between(host, what.other, outage::deaf);
    case fault_kind::path_mute: return hosts_.cut_between(host, what.other, outage::mute);
    case fault_kind::slow:
      // Less than what the host sends: packets wait for up to 300 ms, and some are dropped.
      (void)hosts_[host].sh("tc qdisc add dev eth0 root tbf rate 400kbit burst 3kb latency 300ms");
      return;
    case fault_kind::address: return hosts_.move(host, "10.78.0." + std::to_string(100 + host));
    case fault_kind::plugged: (void)hosts_[host].sh("ip link set eth0 down"); return;
    case fault_kind::broker_killed: return brokers_.kill(host);
    case fault_kind::server_killed: servers_[host]->kill(); return;
    default: stop(process_of(what));
  }
}

void chaos_mesh::end(const fault& what) {
  const std::size_t host = what.host;
  switch (what.kind) {
    case fault_kind::slow: (void)hosts_[host].sh("tc qdisc del dev eth0 root"); return;
    case fault_kind::address: return hosts_.move(host, hosts_[host].address());
    case fault_kind::plugged: return hosts_.plug_again(host);
    case fault_kind::broker_killed: return brokers_.boot(host);
    case fault_kind::server_killed: return start_server(host);
    default: break;
  }
  if (what.is_of_network())
    hosts_.mend(host);
  else
    go_on(process_of(what));
}

void chaos_mesh::claim(std::size_t host) {
  claimants_[host]->tell("register one" + std::to_string(round_) + " tcp");
  claims_[host] = true;
}

std::string chaos_mesh::wrong_with(const stream& one, std::uint64_t received_before) {
  auto& node = *nodes_[one.to];
  const auto received = [&] { return node.stats(one.topic).received - received_before; };
  const bool flows = wait_until([&] { return received() >= more_samples; }, at_once);
  const auto now = node.stats(one.topic);
  const auto progress = nodes_[one.from]->progress(one.topic);
  std::string wrong;
  if (!flows) wrong += std::to_string(received()) + " new samples, the link: " + node.ask("link " + one.topic) + "; ";
  if (now.backwards != 0) wrong += std::to_string(now.backwards) + " samples came twice or late; ";
  if (now.corrupt != 0) wrong += "corrupt samples; ";
  if (now.restarts != 0) wrong += "another publication; ";
  if (progress.failed != 0) wrong += std::to_string(progress.failed) + " sends failed; ";
  const auto expected = now.last_value - one.at_first.last_value - (now.received - one.at_first.received);
  const auto counted = now.missed - one.at_first.missed;
  if (counted != expected)
    wrong += "missed() counts " + std::to_string(counted) + " instead of " + std::to_string(expected) + "; ";
  // A publisher that is stopped in send() has read the time before.
  const auto allowed_ms = max_age_ms + age_slack_ms + progress.slowest_us / 1000;
  const auto oldest_ms = one.is_command ? std::stol(node.ask("oldest " + one.topic)) / 1000 : 0;
  if (oldest_ms > allowed_ms) wrong += "one was " + std::to_string(oldest_ms) + " ms old; ";
  if (wrong.empty()) return wrong;
  return one.topic + " of host" + std::to_string(one.from) + " on host" + std::to_string(one.to) + ": " + wrong;
}

std::string chaos_mesh::wrong_with_map(const std::string& topic, std::optional<std::size_t> of) const {
  std::string seen;
  const bool agree = wait_until(
      [&] {
        seen.clear();
        std::set<wire::id> publications;
        std::set<std::string> owners;
        bool whole = true;
        for (std::size_t by = 0; by < count; ++by) {
          const auto found = brokers_.seen(by, topic).publication;
          const std::string owner = !found                     ? "none"
                                    : found->host_name.empty() ? four_brokers::name(by)
                                                               : found->host_name;
          whole = whole && found && !found->stale;
          if (found) publications.insert(found->publication);
          owners.insert(owner);
          seen += " " + owner + (found && found->stale ? " (stale)" : "");
        }
        return whole && publications.size() == 1 && owners.size() == 1 &&
               (!of || owners.contains(four_brokers::name(*of)));
      },
      at_once);
  return agree ? "" : "the map has " + topic + " at:" + seen;
}

std::string chaos_mesh::wrong_with_claims() {
  const std::string name = "one" + std::to_string(round_++);
  const auto claims = std::exchange(claims_, std::vector<bool>(count));
  for (std::size_t host = 0; host < count; ++host) {
    if (claims[host]) (void)claimants_[host]->answer();
  }
  std::string wrong = wrong_with_map(name, {});
  std::string owners;
  int owned = 0;
  for (std::size_t host = 0; host < count; ++host) {
    if (!claims[host]) continue;
    const auto answer = claimants_[host]->ask("register " + name + " tcp");
    owned += answer == "ok" ? 1 : 0;
    owners += " host" + std::to_string(host) + " " + answer + ";";
  }
  if (owned != 1) wrong += " " + name + " is owned by " + std::to_string(owned) + ":" + owners;
  for (std::size_t host = 0; host < count; ++host) {
    if (claims[host]) (void)claimants_[host]->ask("unregister " + name);
  }
  return wrong;
}

std::vector<std::string> chaos_mesh::wrongs() {
  std::vector<std::string> all;
  const auto add = [&](std::string wrong) {
    if (!wrong.empty()) all.push_back(std::move(wrong));
  };
  const long quiet = monotonic_ms();
  std::vector<std::uint64_t> before;
  before.reserve(streams_.size());
  for (const auto& each : streams_) before.push_back(nodes_[each.to]->stats(each.topic).received);
  for (std::size_t n = 0; n < streams_.size(); ++n) add(wrong_with(streams_[n], before[n]));
  for (std::size_t host = 0; host < count; ++host) {
    for (const char* topic : {"pose", "scan", "command", "arm"})
      add(wrong_with_map(topic + std::to_string(host), host));
  }
  for (const auto& each : clients_) add(each->failures(quiet, quiet + 1000));
  add(wrong_with_claims());
  std::optional<std::uint64_t> last;
  for (const std::uint64_t number : log_.read()) {
    if (number == last) add("call " + std::to_string(number) + " was executed twice");
    last = number;
  }
  return all;
}

std::vector<std::string> chaos_mesh::wrongs_at_the_end() {
  std::vector<std::string> all;
  for (const auto& each : clients_) {
    if (auto wrong = each->end(); !wrong.empty()) all.push_back(std::move(wrong));
  }
  const auto executed = log_.read();
  for (std::size_t n = 0; n < 2 * count; ++n) {
    for (const std::uint64_t number : clients_[n]->succeeded()) {
      if (executed.count(number) != 1)
        all.push_back("call " + std::to_string(number) + " succeeded, but was executed " +
                      std::to_string(executed.count(number)) + " times");
    }
  }
  return all;
}

std::string chaos_mesh::counts() {
  std::uint64_t received = 0;
  std::uint64_t missed = 0;
  for (const auto& each : streams_) {
    const auto now = nodes_[each.to]->stats(each.topic);
    received += now.received;
    missed += now.missed;
  }
  std::size_t calls = 0;
  std::size_t succeeded = 0;
  for (const auto& each : clients_) {
    calls += each->ended();
    succeeded += each->succeeded().size();
  }
  std::ostringstream text;
  text << received << " samples received, " << missed << " missed; " << succeeded << " of " << calls
       << " calls succeeded";
  return text.str();
}

}  // namespace orc::test
