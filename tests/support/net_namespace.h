// Two hosts on one machine: two network namespaces joined by a veth pair, which can be throttled. Needs root (or
// CAP_NET_ADMIN) and iproute2.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace orc::test {

class two_hosts {
 public:
  // Nothing, with the reason in `why`, where the machine does not allow it.
  [[nodiscard]] static std::unique_ptr<two_hosts> make(std::string& why);
  ~two_hosts();
  two_hosts(const two_hosts&) = delete;
  two_hosts& operator=(const two_hosts&) = delete;

  enum class host { a, b };
  [[nodiscard]] std::string address(host which) const;
  // What to put in front of a command line to run it on that host.
  [[nodiscard]] std::vector<std::string> on(host which) const;
  // Limits what `which` sends to the other one. False, with the reason in `why`, where tbf is missing.
  [[nodiscard]] bool throttle(host which, int bytes_per_second, std::string& why);

 private:
  two_hosts() = default;
  [[nodiscard]] std::string name(host which) const;
  std::string prefix_;
};

}  // namespace orc::test
