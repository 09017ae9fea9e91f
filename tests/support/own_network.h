// A network for one test: nothing in it but a loopback that carries multicast, so that no group, port or program
// outside can disturb it. Needs root (or CAP_SYS_ADMIN) and iproute2.
#pragma once

#include <string>

namespace orc::test {

// Moves the calling thread there, and with it every thread and program that it starts from now on. False, with the
// reason in `why`, where the machine does not allow it.
[[nodiscard]] bool enter_own_network(std::string& why);

}  // namespace orc::test
