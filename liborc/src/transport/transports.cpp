#include "transport/transports.h"

#include "transport/inproc/inproc_registry.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/multicast/multicast_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/stream/stream_transport.h"

namespace orc::detail {

std::shared_ptr<inproc_registry> make_inproc_registry() { return std::make_shared<inproc_registry>(); }

transport_list make_transports(const std::shared_ptr<inproc_registry>& local_publications,
                               const participant_options& options) {
  transport_list all;
  all.push_back(std::make_unique<inproc_transport>(local_publications));
  all.push_back(std::make_unique<shm_transport>());
  all.push_back(std::make_unique<ipc_transport>());
  all.push_back(std::make_unique<tcp_transport>());
  all.push_back(std::make_unique<multicast_transport>(options.multicast));
  return all;
}

}  // namespace orc::detail
