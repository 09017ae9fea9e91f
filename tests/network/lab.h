// Several hosts on one machine: each in namespaces of its own for network, mounts, processes, names and ipc, with a
// cable from its eth0 to one switch. Needs root, iproute2, util-linux and nftables.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/test_node.h"

namespace orc::test {

// How the network fails.
enum class outage {
  carrier,  // the cable is pulled: the host's interface sees it
  silent,   // the switch swallows every frame: nobody is told
  ip,       // a firewall drops every packet, both ways
  reject,   // a firewall answers every packet with an error, both ways
  reset,    // a firewall ends every tcp connection that something is sent over
  deaf,     // a firewall drops what comes in
  mute      // a firewall drops what goes out
};
inline constexpr outage every_outage[] = {outage::carrier, outage::silent, outage::ip, outage::reject};
[[nodiscard]] std::string to_string(outage how);

// A machine of the lab. Its /run is its own; /tmp and the rest of the disk are shared with all.
class lab_host {
 public:
  lab_host(std::size_t number, std::string address);

  [[nodiscard]] const std::string& address() const { return address_; }  // IPv4
  [[nodiscard]] std::string address_v6() const { return "fd78::" + std::to_string(number_ + 1); }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] int pid() const { return pid_; }
  // What to put in front of a command line to run it there. It ends with the test.
  [[nodiscard]] std::vector<std::string> here() const;
  // Runs a shell command there, to its end. Throws with what it said when it fails.
  std::string sh(const std::string& command) const;

 private:
  std::size_t number_;
  std::string address_;
  child_process init_;
  int pid_ = 0;
};

class lab {
 public:
  // Hosts 0, 1, … with 10.78.0.1/24 and fd78::1/64, 10.78.0.2/24 and fd78::2/64, …; multicast goes by eth0. Nothing,
  // with the reason in `why`, where the machine does not allow it.
  [[nodiscard]] static std::unique_ptr<lab> make(std::size_t hosts, std::string& why);
  lab(const lab&) = delete;
  lab& operator=(const lab&) = delete;

  [[nodiscard]] lab_host& operator[](std::size_t number) { return *hosts_.at(number); }

  // Takes IPv4 from the cables of all hosts.
  void drop_v4() const;
  // What the hosts file of a host says from now on, instead of what it said: "ADDRESS NAME" lines.
  void set_names(std::size_t host, const std::string& lines) const;

  // Removes a host's interface and makes it again, as a USB adapter that is plugged in again: the same name and
  // addresses, another index, or the same one as a VPN may have.
  void plug_again(std::size_t host, bool same_index = false) const;
  // Of its cable. From then on its kernel sends each packet as it is on the wire, not several together.
  void set_mtu(std::size_t host, int bytes) const;
  // Gives it another IPv4 address.
  void move(std::size_t host, const std::string& address) const;

  // Cuts a host off from all others, until mend().
  void cut(std::size_t host, outage how) const;
  // Cuts only the path between two: outage::ip or outage::reject.
  void cut_between(std::size_t host, std::size_t other, outage how) const;
  void mend(std::size_t host) const;

 private:
  lab() = default;
  [[nodiscard]] bool plug(const lab_host& host, std::string& why, const std::vector<std::string>& index = {}) const;

  std::unique_ptr<lab_host> switch_;
  std::vector<std::unique_ptr<lab_host>> hosts_;
};

// orc-broker on one host, reachable from all: tcp://ADDRESS:5570 beside its usual places there. `more`: options.
class lab_broker {
 public:
  explicit lab_broker(const lab_host& on, std::string listen = "tcp://*:5570", std::vector<std::string> more = {});
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] std::string endpoint_v6() const { return "tcp://[" + on_.address_v6() + "]:5570"; }
  void start();
  void kill() { process_->kill(); }
  [[nodiscard]] const child_process& process() const { return *process_; }

 private:
  const lab_host& on_;
  std::string listen_;
  std::vector<std::string> more_;
  std::string endpoint_;
  std::unique_ptr<child_process> process_;
};

// A participant on one host (support/test_node.h) that is connected to a broker, or to none ("none"). `environment`:
// NAME=value.
[[nodiscard]] std::unique_ptr<test_node> node_on(const lab_host& host, const std::string& broker,
                                                 std::vector<std::string> environment = {});
// The pid outside of what a command line behind lab_host::here() runs, which is not the child itself.
[[nodiscard]] int inner_pid(const child_process& of);
// What `orc topic list` prints on that host.
[[nodiscard]] std::string topics_of(const lab_host& host, const std::string& broker);

}  // namespace orc::test
