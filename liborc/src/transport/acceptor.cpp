#include "transport/acceptor.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files/fd_limit.h"
#include "transport/out_of_descriptors.h"

namespace orc::detail {

namespace {

void control(int events, int operation, int fd, std::uint32_t interest, void* of) noexcept {
  epoll_event event{.events = interest, .data = {.ptr = of}};
  ::epoll_ctl(events, operation, fd, &event);
}

}  // namespace

expected<acceptor> acceptor::make(unique_fd listener, std::string file) {
  unique_fd events(::epoll_create1(EPOLL_CLOEXEC));
  const bool none_left = (!events && (errno == EMFILE || errno == ENFILE)) || among_the_last_fds(events.get());
  if (events && !none_left) return acceptor(std::move(listener), std::move(events), std::move(file));
  const error why = none_left
                        ? out_of_descriptors()
                        : error(errc::system_error, std::string("cannot make an epoll descriptor: ") + strerror(errno));
  if (!file.empty()) ::unlink(file.c_str());
  return why;
}

acceptor::acceptor(unique_fd listener, unique_fd events, std::string file) noexcept
    : listener_(std::move(listener)), events_(std::move(events)), file_(std::move(file)) {
  control(events_.get(), EPOLL_CTL_ADD, listener_.get(), EPOLLIN, nullptr);
}

acceptor::~acceptor() {
  if (!listener_) return;
  ::shutdown(listener_.get(), SHUT_RDWR);
  if (!file_.empty()) ::unlink(file_.c_str());
}

unique_fd acceptor::accept() noexcept {
  for (;;) {
    unique_fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd && !among_the_last_fds(fd.get())) return fd;
    if (!fd && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd || errno != EAGAIN) pause();  // EAGAIN concerns only this connection
    return {};
  }
}

void acceptor::listen(bool now) noexcept {
  control(events_.get(), EPOLL_CTL_MOD, listener_.get(), now ? EPOLLIN : 0u, nullptr);
  paused_ = !now;
}

bool acceptor::watch(int fd, void* of) noexcept {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = of}};
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void acceptor::watch_for_room(int fd, void* of, bool wanted) noexcept {
  control(events_.get(), EPOLL_CTL_MOD, fd, EPOLLIN | (wanted ? EPOLLOUT : 0u), of);
}

void acceptor::mute(int fd, void* of) noexcept { control(events_.get(), EPOLL_CTL_MOD, fd, 0, of); }

void acceptor::forget(int fd) noexcept { control(events_.get(), EPOLL_CTL_DEL, fd, 0, nullptr); }

}  // namespace orc::detail
