#include "base/network/network_error.h"

#include <cerrno>
#include <cstring>

namespace orc::detail {

std::string why_unreachable(int error) {
  const auto with_reason = [error](const char* text) { return std::string(text) + " (" + std::strerror(error) + ")"; };
  switch (error) {
    case ECONNREFUSED: return "connection refused: no program listens there, or a firewall rejects it";
    case ECONNRESET:
    case EPIPE: return "connection reset: its program ended, or a firewall ends it";
    case ETIMEDOUT: return std::string("no answer: ") + likely_cause_of_silence;
    case ENETUNREACH: return with_reason("no route");
    case EHOSTUNREACH: return with_reason("no way there: the host is down, or a firewall rejects it");
    case EACCES:
    case EPERM: return with_reason("not permitted: a firewall or sandbox of this host?");
    case EMFILE:
    case ENFILE: return "out of file descriptors: raise the limit (ulimit -n)";
    case EADDRNOTAVAIL: return with_reason("this host has no address or free port for it");
    default: return std::strerror(error);
  }
}

}  // namespace orc::detail
