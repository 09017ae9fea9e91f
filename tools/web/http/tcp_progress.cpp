#include "tools/web/http/tcp_progress.h"

#include <linux/tcp.h>  // glibc's tcp_info ends before these bytes
#include <netinet/in.h>
#include <sys/socket.h>

namespace orc::web {

std::uint64_t acknowledged_bytes(int socket) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_acked : 0;
}

}  // namespace orc::web
