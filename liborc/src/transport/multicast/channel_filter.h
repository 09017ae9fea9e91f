// A classic BPF program that makes the kernel drop what is not for a subscription, before it is queued: all topics of a
// group share one port (LCM, section 3.3, discards in the program instead). Pure.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <string_view>
#include <vector>

#include "transport/multicast/reassembly.h"

namespace orc::detail::multicast {

// Lets pass: messages and announcements of this channel; and fragments, of which only the first one of a message names
// its channel. With `only`: nothing but what comes from there.
[[nodiscard]] std::vector<sock_filter> channel_filter(std::string_view channel, const std::optional<source>& only);

// Lets pass what came by the loopback interface, as everything does that one socket of a host sends to another one.
[[nodiscard]] std::vector<sock_filter> this_host_filter(unsigned loopback);

}  // namespace orc::detail::multicast
