// Unix sockets in the participant's directory, one per publication and transport, named by the publication's id.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "transport/acceptor.h"
#include "transport/transport.h"

namespace orc::detail {

// SOCK_STREAM or SOCK_SEQPACKET. All descriptors are non-blocking and close on exec.

struct listening_path {
  acceptor door;
  std::string path;
};
// Listens in the directory of `spec`, for exactly the users of its broker.
[[nodiscard]] expected<listening_path> listen_in_directory(const publication_spec& spec, std::string_view suffix,
                                                           int type);

// Connects to "<scheme>://<run directory>/<uid>/<id of the publication><suffix>", as listen_in_directory makes them,
// and to no other socket of this host. The error says why the publication cannot be there. errc::timed_out: its queue
// is full.
[[nodiscard]] expected<unique_fd> connect_to_path(const subscription_spec& spec, const std::string& address,
                                                  std::string_view scheme, std::string_view suffix, int type);

}  // namespace orc::detail
