#include "transport/stream/stream_transport.h"

#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "transport/stream/stream_socket.h"
#include "transport/stream/stream_subscriber_link.h"
#include "wire/fd_limit.h"

namespace orc::detail {

namespace {

[[nodiscard]] error out_of_descriptors() {
  return {errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)"};
}

}  // namespace

std::variant<unique_fd, error> make_watch() {
  unique_fd watch(epoll_create1(EPOLL_CLOEXEC));
  if ((!watch && (errno == EMFILE || errno == ENFILE)) || among_the_last_fds(watch.get())) return out_of_descriptors();
  if (!watch) return error(errc::system_error, std::string("cannot make an epoll descriptor: ") + strerror(errno));
  return watch;
}

link_or_error<subscriber_link> stream_transport::subscribe(const subscription_spec& spec,
                                                           const wire::endpoint& address) const {
  if (auto why = obstacle(address); !why.empty()) return error(errc::refused, std::move(why));
  auto connected = connect_stream(name(), address.address);
  if (auto* const failed = std::get_if<error>(&connected)) return std::move(*failed);
  if (among_the_last_fds(std::get<unique_fd>(connected).get())) return out_of_descriptors();
  return std::make_unique<stream_subscriber_link>(std::move(std::get<unique_fd>(connected)), spec);
}

}  // namespace orc::detail
