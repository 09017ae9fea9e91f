// `orc doctor`: what a robot needs of its machine, checked one thing after the other. Each check is a function that
// adds its findings; it never throws for what it finds.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "wire/multicast_url.h"

namespace orc::cli {

class machine;

enum class severity : std::uint8_t {
  ok,
  note,  // works, but not as well as it could; or only this program or that is affected
  fail
};

struct finding {
  severity level = severity::ok;
  std::string name;
  std::string found;
  std::vector<std::string> fixes;  // commands; none: nothing to do
};

// What checks know: takes each finding as soon as it is made.
using examine = std::function<void(finding)>;

void check_versions(const examine& add);
void check_limits(const examine& add, bool huge_pages);
void check_clock(const examine& add);
// What a control loop needs. `root` stands for the directory /, for tests.
void check_realtime(const examine& add, const std::string& root = {});
// The part of it about CPUs: which are isolated, who interrupts them, how they sleep.
void check_cpus(const examine& add, const machine& from);

// Returns where the broker that participants use was found. `endpoint`: empty: where participants look for one.
[[nodiscard]] std::optional<std::string> check_broker(const examine& add, const std::string& endpoint,
                                                      const detail::stop_signal& stop);
// `broker`: of that one's users; none: of a broker that would be started now.
void check_run_directory(const examine& add, const std::optional<std::string>& broker);

struct multicast_wish {
  wire::multicast_url url;
  bool buffer_is_asked_for = false;  // the URL names recv_buf_size
};
void check_receive_buffer(const examine& add, const multicast_wish& wish);
void check_multicast(const examine& add, const multicast_wish& wish);

// ---- between hosts ----

// `orc doctor --answer`: answers check_other_host() of other hosts until Ctrl-C. The exit code.
[[nodiscard]] int answer_doctors(const wire::multicast_url& url, std::uint16_t port);
// `port`: where the other host answers.
void check_other_host(const examine& add, const std::string& host, std::uint16_t port, const wire::multicast_url& url,
                      const detail::stop_signal& stop);

// ---- for fixes ----

// The command with sudo in front, unless this is root.
[[nodiscard]] std::string as_root(const std::string& command);
// One word for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);
// Sets a kernel parameter now, and at every start from now on.
[[nodiscard]] std::vector<std::string> set_kernel_parameter(const std::string& name, const std::string& value);
// Raises a limit of `ulimit -LETTER`, which limits.conf(5) calls `name`. A shell does so up to the hard one; beyond
// that an administrator must, for the next login.
[[nodiscard]] std::vector<std::string> raise_limit(char letter, const char* name, rlim_t to, const rlimit& now);

}  // namespace orc::cli
