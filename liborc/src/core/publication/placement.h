// Placement: the transports that a publication opens. The policy asks the transports what they are; only
// the text of without_multicast() names one.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "base/network/port_range.h"
#include "orc/options.h"
#include "transport/transport.h"

namespace orc::detail {

// Where a participant opens its endpoints. Known once a broker has answered.
struct network_scope {
  std::string directory;               // of sockets
  error directory_problem;             // why there is no directory
  bool alone = false;                  // no broker is used
  bool remote = false;                 // other hosts can reach the broker, so they may subscribe
  bool across_hosts = false;           // topics that name no transport are also offered to other hosts
  std::vector<std::string> addresses;  // addresses that other hosts connect to, best first
  port_range ports;                    // ports to listen on
};

// Returns the transports to open, in the order of `all`.
//
//   the topic names   | with a broker                      | without one (scope.alone)
//   ------------------+------------------------------------+---------------------------
//   this transport    | yes                                | if it needs no broker
//   no transport      | if it is by_default, and stays on  | if it needs no broker
//                     | the host or scope.across_hosts     |
//   others only       | no                                 | no
//
// `named`: the transports that the topic names. `open`: its transports that are open already. The error says why none
// can be opened: the topic allows none that works without a broker, or there is no directory for sockets.
[[nodiscard]] expected<std::vector<const transport_kind*>> transports_to_open(const transport_list& all,
                                                                              transport_set named, transport_set open,
                                                                              const network_scope& scope,
                                                                              const std::string& topic);

// After advertise() failed: true when this system lacks the transport and the topic has others.
[[nodiscard]] bool can_do_without(const transport_kind& kind, transport_set named, const error& failure);

// Why a topic needs a broker: multicast is the only transport of ORC that needs none.
[[nodiscard]] result without_multicast(const std::string& topic);

}  // namespace orc::detail
