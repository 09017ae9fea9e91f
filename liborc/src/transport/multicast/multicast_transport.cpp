#include "transport/multicast/multicast_transport.h"

#include "transport/multicast/multicast_publisher_link.h"
#include "transport/multicast/multicast_subscriber_link.h"
#include "transport/multicast/socket/multicast_socket.h"

namespace orc::detail {

link_or_error<publisher_link> multicast_transport::advertise(const publication_spec& spec) const {
  const auto url = wire::multicast_url::parse(spec.options.multicast);
  if (!url) return url.error();
  return multicast_publisher_link::open(spec, *url);
}

link_or_error<subscriber_link> multicast_transport::subscribe(const subscription_spec& spec,
                                                              const wire::endpoint& address) const {
  auto url = wire::multicast_url::parse(address.address);
  if (!url) return url.error();
  auto& there = *url;
  const bool elsewhere = there.from && !multicast::is_of_this_host(there.from->address);
  if (elsewhere && there.ttl == 0) return error(errc::refused, "it does not leave its host (ttl=0)");
  // Interfaces have other names on other hosts, and memory is this program's own.
  if (const auto own = wire::multicast_url::parse(own_network_)) {
    if (elsewhere) there.interface = own->interface;
    if (elsewhere && there.is_of_one_interface() && there.interface.empty())
      return error(errc::refused, "each network has its group " + there.group.text() +
                                      " for itself: name this host's interface in ORC_MULTICAST (&interface=eth0)");
    there.receive_buffer = own->receive_buffer;
    there.reassembly = own->reassembly;
  }
  return multicast_subscriber_link::open(spec, there);
}

}  // namespace orc::detail
