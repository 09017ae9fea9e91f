#include "tools/orc/console.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace orc::cli {

namespace {

// 0 or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // stdout may be non-blocking: it is shared with whoever started us
      pollfd item = {fd, POLLOUT, 0};
      poll(&item, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

console::console() { signal(SIGPIPE, SIG_IGN); }

bool console::line(std::string_view text) {
  std::string whole(text);
  whole += '\n';
  return write(whole);
}

bool console::write(std::string_view bytes) {
  if (reader_gone_ || failed_) return false;
  const int problem = write_all(STDOUT_FILENO, bytes);
  reader_gone_ = problem == EPIPE;
  failed_ = problem != 0 && problem != EPIPE;
  if (failed_) note("cannot write to standard output: " + std::generic_category().message(problem));
  return problem == 0;
}

bool console::reader_gone() {
  pollfd item = {STDOUT_FILENO, 0, 0};
  if (poll(&item, 1, 0) > 0 && (item.revents & (POLLERR | POLLHUP)) != 0) reader_gone_ = true;
  return reader_gone_;
}

void console::note(std::string_view text) {
  std::string whole = "orc: ";
  whole += text;
  whole += '\n';
  write_all(STDERR_FILENO, whole);
}

bool console::is_watched() { return isatty(STDERR_FILENO) == 1; }

std::size_t console::columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void console::hint(std::string_view text) {
  if (is_watched()) note(text);
}

}  // namespace orc::cli
