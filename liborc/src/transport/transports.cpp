// The list of transports, best first: the order in which a subscription tries them.
#include "core/process.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/multicast/multicast_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/stream/stream_transport.h"
#include "transport/transport.h"

namespace orc::detail {

std::vector<std::unique_ptr<transport_kind>> make_transports(const std::shared_ptr<process>& process) {
  std::vector<std::unique_ptr<transport_kind>> all;
  all.push_back(std::make_unique<inproc_transport>(process));
  all.push_back(std::make_unique<shm_transport>());
  all.push_back(std::make_unique<ipc_transport>());
  all.push_back(std::make_unique<tcp_transport>());
  all.push_back(std::make_unique<multicast_transport>());
  return all;
}

}  // namespace orc::detail
