#include "support/net_namespace.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/files/unique_fd.h"
#include "support/child_process.h"

namespace orc::test {

namespace {

// A new tap device in a namespace; it goes with its descriptor.
detail::unique_fd open_tap(const std::string& name_space, const std::string& device, std::string& why) {
  detail::unique_fd tap;
  std::thread([&] {  // a thread of its own: the caller stays where it is
    const detail::unique_fd there(::open(("/run/netns/" + name_space).c_str(), O_RDONLY | O_CLOEXEC));
    ifreq request{};
    device.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (there && ::setns(there.get(), CLONE_NEWNET) == 0)
      tap.reset(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (tap && ::ioctl(tap.get(), TUNSETIFF, &request) == 0) return;
    why = std::string("no tap device: ") + std::strerror(errno);
    tap.reset();
  })
      .join();
  return tap;
}

}  // namespace

std::unique_ptr<two_hosts> two_hosts::make(std::string& why, cable between) {
  if (::geteuid() != 0) {
    why = "network namespaces need root";
    return nullptr;
  }
  std::unique_ptr<two_hosts> hosts(new two_hosts);
  hosts->prefix_ = "orc" + std::to_string(::getpid());  // interface names: at most 15 bytes
  const bool made = run_command({"ip", "netns", "add", hosts->name(host::a)}, why) &&
                    run_command({"ip", "netns", "add", hosts->name(host::b)}, why) &&
                    (between == cable::veth ? hosts->lay_veth(why) : hosts->lay_bad_link(why)) &&
                    hosts->bring_up(host::a, why) && hosts->bring_up(host::b, why);
  if (!made) return nullptr;
  return hosts;
}

two_hosts::~two_hosts() {
  link_.reset();
  std::string ignored;
  for (const host which : {host::a, host::b}) {
    try {
      (void)run_command({"ip", "netns", "del", name(which)}, ignored);  // takes the veth pair with it
    } catch (...) {
    }
  }
}

std::string two_hosts::name(host which) const { return prefix_ + (which == host::a ? "a" : "b"); }

std::string two_hosts::address(host which) const { return which == host::a ? "10.77.0.1" : "10.77.0.2"; }

std::vector<std::string> two_hosts::on(host which) const { return {"ip", "netns", "exec", name(which)}; }

// The devices are called as their namespaces.
bool two_hosts::lay_veth(std::string& why) const {
  const std::string a = name(host::a);
  const std::string b = name(host::b);
  return run_command({"ip", "link", "add", a, "netns", a, "type", "veth", "peer", "name", b, "netns", b}, why);
}

bool two_hosts::lay_bad_link(std::string& why) {
  auto a = open_tap(name(host::a), name(host::a), why);
  auto b = open_tap(name(host::b), name(host::b), why);
  if (!a || !b) return false;
  for (const host which : {host::a, host::b}) {
    // Room for a burst of 10 MB, so that only the weather loses frames.
    if (!run_command({"ip", "-n", name(which), "link", "set", name(which), "txqueuelen", "10000"}, why)) return false;
  }
  link_ = std::make_unique<bad_link>(std::move(a), std::move(b), 1);
  return true;
}

bool two_hosts::bring_up(host which, std::string& why) const {
  const std::string it = name(which);
  return run_command({"ip", "-n", it, "addr", "add", address(which) + "/24", "dev", it}, why) &&
         run_command({"ip", "-n", it, "link", "set", it, "up"}, why) &&
         run_command({"ip", "-n", it, "link", "set", "lo", "up"}, why) &&
         run_command({"ip", "-n", it, "route", "add", "224.0.0.0/4", "dev", it}, why);
}

bool two_hosts::remove_multicast_route(host which, std::string& why) const {
  return run_command({"ip", "-n", name(which), "route", "del", "224.0.0.0/4"}, why);
}

bool two_hosts::throttle(host which, int bytes_per_second, std::string& why) {
  return run_command({"ip", "netns", "exec", name(which), "tc", "qdisc", "add", "dev", name(which), "root", "tbf",
                      "rate", std::to_string(bytes_per_second) + "bps", "burst", "4kb", "limit", "16kb"},
                     why);
}

}  // namespace orc::test
