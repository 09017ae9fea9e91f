#include "network/lab.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/wait_until.h"

namespace orc::test {

using namespace std::string_literals;

namespace {

// Runs as the first process of a host. Its pid outside is what /proc says while that is still the outer one.
constexpr const char* init_script = R"(
cut -d' ' -f4 /proc/self/stat
mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir /run/user || exit 1
hostname "$1" && ip link set lo up || exit 1
echo ready
exec sleep infinity
)";

std::string port(std::size_t host) { return "port" + std::to_string(host); }

// In one nft command, so that it takes effect at once.
std::string firewall(const std::string& from, const std::string& to, outage how) {
  const std::string verdict = how == outage::reject  ? "reject"
                              : how == outage::reset ? "meta l4proto tcp reject with tcp reset"
                                                     : "drop";
  const auto chain = [&](const std::string& hook, const std::string& packets) {
    return "chain " + hook + " { type filter hook " + hook + " priority 0; " + packets + " " + verdict + "; }; ";
  };
  return "nft 'table inet lab { " + (how == outage::mute ? "" : chain("input", from)) +
         (how == outage::deaf ? "" : chain("output", to)) + "}'";
}

}  // namespace

std::string to_string(outage how) {
  switch (how) {
    case outage::carrier: return "carrier";
    case outage::silent: return "silent";
    case outage::ip: return "IP level";
    case outage::reject: return "REJECT";
    case outage::reset: return "reset";
    case outage::deaf: return "deaf";
    case outage::mute: return "mute";
  }
  return {};
}

lab_host::lab_host(std::size_t number, std::string address)
    : number_(number),
      address_(std::move(address)),
      init_({"unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child=KILL", "--", "sh", "-c",
             init_script, "sh", "lab" + std::to_string(number)}) {
  const auto pid = init_.read_line();
  const auto ready = init_.read_line();
  if (!pid || ready != "ready") throw std::runtime_error("no namespaces: " + pid.value_or("") + ready.value_or(""));
  pid_ = std::stoi(*pid);
}

// --root: the tests may run in a chroot, where the working directory is lost. setpriv: nsenter's child would outlive
// it.
std::vector<std::string> lab_host::here() const {
  return {"nsenter", "--target",  std::to_string(pid_),       "--all", "--root", "--", "setpriv", "--pdeathsig", "KILL",
          "env",     "--chdir=/", "XDG_RUNTIME_DIR=/run/user"};
}

std::string lab_host::sh(const std::string& command) const {
  auto words = here();
  for (const char* word : {"sh", "-ec", command.c_str()}) words.emplace_back(word);
  child_process child(std::move(words));
  child.close_input();
  std::string output = child.read_all();
  if (child.wait() != 0) throw std::runtime_error(command + ": " + output);
  return output;
}

std::unique_ptr<lab> lab::make(std::size_t hosts, std::string& why) try {
  if (::geteuid() != 0) {
    why = "network namespaces need root";
    return nullptr;
  }
  if (!run_command({"nft", "--version"}, why)) return nullptr;
  std::unique_ptr<lab> made(new lab);
  made->switch_ = std::make_unique<lab_host>(99, "");
  made->switch_->sh("ip link add br0 type bridge mcast_snooping 0 && ip link set br0 up");
  for (std::size_t i = 0; i < hosts; ++i) {
    const auto& host = made->hosts_.emplace_back(std::make_unique<lab_host>(i, "10.78.0." + std::to_string(i + 1)));
    if (!made->plug(*host, why)) return nullptr;
  }
  return made;
} catch (const std::runtime_error& e) {
  why = e.what();
  return nullptr;
}

bool lab::plug(const lab_host& host, std::string& why, const std::vector<std::string>& index) const {
  std::vector<std::string> words{"ip", "link", "add", "eth0"};
  words.insert(words.end(), index.begin(), index.end());
  for (const auto& word : {"netns"s, std::to_string(host.pid()), "type"s, "veth"s, "peer"s, "name"s,
                           port(host.number()), "netns"s, std::to_string(switch_->pid())})
    words.push_back(word);
  if (!run_command(words, why)) return false;
  switch_->sh("ip link set " + port(host.number()) + " master br0 up");
  // nodad: usable at once. Without IPv6 in the kernel the tests of IPv6 say so.
  host.sh("ip addr add " + host.address() + "/24 dev eth0 && ip link set eth0 up && " +
          "ip route add 224.0.0.0/4 dev eth0 && (ip addr add " + host.address_v6() + "/64 dev eth0 nodad || true)");
  return true;
}

void lab::plug_again(std::size_t host, bool same_index) const {
  std::vector<std::string> index;
  if (same_index) index = {"index", hosts_.at(host)->sh("ip -o link show eth0 | cut -d: -f1 | tr -d '\\n'")};
  hosts_.at(host)->sh("ip link del eth0");
  std::string why;
  if (!plug(*hosts_.at(host), why, index)) throw std::runtime_error(why);
}

void lab::set_mtu(std::size_t host, int bytes) const {
  const std::string mtu = " mtu " + std::to_string(bytes);
  switch_->sh("ip link set " + port(host) + mtu);
  hosts_.at(host)->sh("ip link set eth0 gso_max_segs 1" + mtu);
}

void lab::move(std::size_t host, const std::string& address) const {
  hosts_.at(host)->sh("ip -4 addr flush dev eth0; ip addr add " + address +
                      "/24 dev eth0; ip route add 224.0.0.0/4 dev eth0");
}

void lab::drop_v4() const {
  for (const auto& each : hosts_) each->sh("ip -4 addr flush dev eth0");
}

void lab::set_names(std::size_t host, const std::string& lines) const {
  hosts_.at(host)->sh("printf '%s\\n' '" + lines + "' > /run/hosts; mount --bind /run/hosts /etc/hosts");
}

void lab::cut(std::size_t host, outage how) const {
  switch (how) {
    case outage::carrier: switch_->sh("ip link set " + port(host) + " down"); break;
    case outage::silent: switch_->sh("ip link set " + port(host) + " nomaster"); break;
    case outage::ip:
    case outage::reject:
    case outage::deaf:
    case outage::mute:
    case outage::reset: hosts_.at(host)->sh(firewall("iifname eth0", "oifname eth0", how)); break;
  }
}

void lab::cut_between(std::size_t host, std::size_t other, outage how) const {
  const std::string& address = hosts_.at(other)->address();
  hosts_.at(host)->sh(firewall("ip saddr " + address, "ip daddr " + address, how));
}

void lab::mend(std::size_t host) const {
  switch_->sh("ip link set " + port(host) + " master br0 up");
  hosts_.at(host)->sh("nft flush ruleset");
}

lab_broker::lab_broker(const lab_host& on, std::string listen, std::vector<std::string> more)
    : on_(on), listen_(std::move(listen)), more_(std::move(more)), endpoint_("tcp://" + on.address() + ":5570") {
  start();
}

void lab_broker::start() {
  auto words = on_.here();
  words.push_back(program("orc-broker"));
  words.insert(words.end(), {"--listen", "ipc:///run/user/orc/broker", "--listen", listen_});
  words.insert(words.end(), more_.begin(), more_.end());
  process_ = std::make_unique<child_process>(std::move(words));
  if (!process_->wait_for_output("5570")) throw std::runtime_error("orc-broker did not come up: " + process_->output());
}

std::unique_ptr<test_node> node_on(const lab_host& host, const std::string& broker,
                                   std::vector<std::string> environment) {
  auto node = std::make_unique<test_node>(host.here(), std::move(environment));
  node->must("open " + broker + " 30000");
  return node;
}

int inner_pid(const child_process& of) {
  const std::string outer = std::to_string(of.pid());
  std::ifstream children("/proc/" + outer + "/task/" + outer + "/children");
  int pid = 0;
  if (!(children >> pid)) throw std::runtime_error("process " + outer + " has no child");
  return pid;
}

std::string topics_of(const lab_host& host, const std::string& broker) {
  return host.sh(program("orc") + " topic list --broker " + broker);
}

}  // namespace orc::test
