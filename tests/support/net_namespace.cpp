#include "support/net_namespace.h"

#include <unistd.h>

#include <optional>

#include "support/child_process.h"

namespace orc::test {

namespace {

bool run(std::vector<std::string> command, std::string& why) {
  std::string text;
  for (const auto& word : command) text += word + " ";
  child_process child(std::move(command));
  child.close_input();
  const std::string output = child.read_all();
  const auto status = child.wait();
  if (status == 0) return true;
  why = text + "failed: " + output;
  return false;
}

}  // namespace

std::unique_ptr<two_hosts> two_hosts::make(std::string& why) {
  if (::geteuid() != 0) {
    why = "network namespaces need root";
    return nullptr;
  }
  std::unique_ptr<two_hosts> hosts(new two_hosts);
  hosts->prefix_ = "orc" + std::to_string(::getpid());  // interface names: at most 15 bytes
  const std::string a = hosts->name(host::a);
  const std::string b = hosts->name(host::b);
  const bool made =
      run({"ip", "netns", "add", a}, why) && run({"ip", "netns", "add", b}, why) &&
      run({"ip", "link", "add", a, "netns", a, "type", "veth", "peer", "name", b, "netns", b}, why) &&
      run({"ip", "-n", a, "addr", "add", hosts->address(host::a) + "/24", "dev", a}, why) &&
      run({"ip", "-n", b, "addr", "add", hosts->address(host::b) + "/24", "dev", b}, why) &&
      run({"ip", "-n", a, "link", "set", a, "up"}, why) && run({"ip", "-n", b, "link", "set", b, "up"}, why) &&
      run({"ip", "-n", a, "link", "set", "lo", "up"}, why) && run({"ip", "-n", b, "link", "set", "lo", "up"}, why);
  if (!made) return nullptr;
  return hosts;
}

two_hosts::~two_hosts() {
  std::string ignored;
  for (const host which : {host::a, host::b}) {
    try {
      run({"ip", "netns", "del", name(which)}, ignored);  // takes the veth pair with it
    } catch (...) {
    }
  }
}

std::string two_hosts::name(host which) const { return prefix_ + (which == host::a ? "a" : "b"); }

std::string two_hosts::address(host which) const { return which == host::a ? "10.77.0.1" : "10.77.0.2"; }

std::vector<std::string> two_hosts::on(host which) const { return {"ip", "netns", "exec", name(which)}; }

bool two_hosts::throttle(host which, int bytes_per_second, std::string& why) {
  return run({"ip", "netns", "exec", name(which), "tc", "qdisc", "add", "dev", name(which), "root", "tbf", "rate",
              std::to_string(bytes_per_second) + "bps", "burst", "4kb", "limit", "16kb"},
             why);
}

}  // namespace orc::test
