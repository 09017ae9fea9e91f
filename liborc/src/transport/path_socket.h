// Unix sockets in the participant's directory, one per publication and transport, named by the publication's id.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <variant>

#include "core/unique_fd.h"
#include "orc/result.h"
#include "transport/acceptor.h"
#include "transport/transport.h"

namespace orc::detail {

// SOCK_STREAM or SOCK_SEQPACKET. All descriptors are non-blocking and closed by exec.

struct listening_path {
  acceptor door;
  std::string path;
};
// Listens in the directory of `spec`, for exactly those who may use its broker.
[[nodiscard]] std::variant<listening_path, error> listen_in_directory(const publication_spec& spec,
                                                                      std::string_view suffix, int type);

// "<scheme>://<run directory>/<uid>/<id of the publication><suffix>", as listen_in_directory makes them. An error says
// why the publication cannot be there: no other socket of this host is ever connected to. errc::timed_out: there was no
// place in its queue.
[[nodiscard]] std::variant<unique_fd, error> connect_to_path(const subscription_spec& spec, const std::string& address,
                                                             std::string_view scheme, std::string_view suffix,
                                                             int type);

}  // namespace orc::detail
