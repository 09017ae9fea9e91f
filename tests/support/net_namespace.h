// Two hosts on one machine: two network namespaces with a cable between them, which carries multicast too and can be
// throttled or be a bad one. Needs root (or CAP_NET_ADMIN) and iproute2.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/bad_link.h"

namespace orc::test {

class two_hosts {
 public:
  enum class cable { veth, bad_link };

  // Nothing, with the reason in `why`, where the machine does not allow it.
  [[nodiscard]] static std::unique_ptr<two_hosts> make(std::string& why, cable between = cable::veth);
  ~two_hosts();
  two_hosts(const two_hosts&) = delete;
  two_hosts& operator=(const two_hosts&) = delete;

  enum class host { a, b };
  [[nodiscard]] std::string address(host which) const;
  // What to put in front of a command line to run it on that host.
  [[nodiscard]] std::vector<std::string> on(host which) const;
  // Limits what `which` sends to the other one. False, with the reason in `why`, where tbf is missing.
  [[nodiscard]] bool throttle(host which, int bytes_per_second, std::string& why);
  // Takes away the route that sends multicast over the cable.
  [[nodiscard]] bool remove_multicast_route(host which, std::string& why) const;
  // The cable, when it was made as a bad_link.
  [[nodiscard]] bad_link& link() { return *link_; }

 private:
  two_hosts() = default;
  [[nodiscard]] std::string name(host which) const;
  [[nodiscard]] bool lay_veth(std::string& why) const;
  [[nodiscard]] bool lay_bad_link(std::string& why);
  [[nodiscard]] bool bring_up(host which, std::string& why) const;

  std::string prefix_;
  std::unique_ptr<bad_link> link_;
};

}  // namespace orc::test
