#include "support/broker_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "support/test_group.h"
#include "support/wait_until.h"

namespace orc::test {

bool accepts_connections(const std::string& endpoint) {
  bool accepted = false;
  if (endpoint.starts_with("ipc://")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = endpoint.substr(6);
    if (path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.data(), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    accepted = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
  } else {
    const auto colon = endpoint.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(colon + 1))));
    ::inet_pton(AF_INET, endpoint.substr(6, colon - 6).c_str(), &address.sin_addr);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    accepted = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
  }
  return accepted;
}

int free_tcp_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no free tcp port");
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

broker_process::broker_process(at kind) {
  ::setenv("ORC_MULTICAST", test_group().c_str(), 0);  // also for the programs that the test starts
  endpoint_ =
      kind == at::tcp ? "tcp://127.0.0.1:" + std::to_string(free_tcp_port()) : "ipc://" + directory_.file("broker");
  if (kind != at::nowhere) start();
}

void broker_process::spawn() {
  process_.emplace(std::vector<std::string>{program("orc-broker"), "--listen", endpoint_, "--log-level", "error"},
                   std::vector<std::string>{"XDG_RUNTIME_DIR=" + directory_.path().string()},
                   child_process::errors::pass_through);
}

void broker_process::start() {
  spawn();
  if (!wait_until([this] { return accepts_connections(endpoint_) || !process_->running(); }) || !process_->running()) {
    throw std::runtime_error("orc-broker did not come up at " + endpoint_);
  }
}

void broker_process::kill() {
  if (process_) process_->kill();
}

participant_options broker_process::options(std::string name) const {
  participant_options options;
  options.broker = endpoint_;
  options.name = std::move(name);
  options.broker_timeout = patience;
  return options;
}

}  // namespace orc::test
