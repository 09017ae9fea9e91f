// A classic BPF program with which the kernel drops what is not for a subscription, before it is queued: all topics of
// a group share one port. (LCM, section 3.3, discards in the program instead.) Pure.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <string_view>
#include <vector>

#include "transport/multicast/datagram/reassembly.h"

namespace orc::detail::multicast {

// Passes messages and announcements of this channel, and fragments, because only the first fragment of a message names
// its channel. With `only`: nothing but what comes from there.
[[nodiscard]] std::vector<sock_filter> channel_filter(std::string_view channel, const std::optional<source>& only);

// Passes what came by the loopback interface, as everything between two sockets of one host does.
[[nodiscard]] std::vector<sock_filter> this_host_filter(unsigned loopback);

}  // namespace orc::detail::multicast
