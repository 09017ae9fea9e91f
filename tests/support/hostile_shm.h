// One end of the shm protocol by hand, for a subscriber that does not behave.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "support/broker_view.h"
#include "support/wait_until.h"
#include "transport/shm/shared_memory.h"
#include "transport/shm/shm_layout.h"
#include "transport/shm/shm_packet.h"

namespace orc::test {

class hostile_shm {
 public:
  using kind = detail::shm::packet_kind;

  // Where a topic's publication is.
  struct target {
    target(const std::string& broker, const std::string& topic) {
      raw_client client(broker);
      const auto state = described(client, topic);
      if (!state.publication) throw std::runtime_error("nobody publishes " + topic);
      publication = state.publication->publication;
      path = address_of(broker, topic, wire::transport::shm).substr(std::string("shm://").size());
    }
    wire::id publication;
    std::string path;
  };

  // One process has a share of what subscribers may have: some attacks take more than one.
  enum class from : std::uint8_t { this_process, a_process_of_its_own };

  explicit hostile_shm(const target& to, from where = from::this_process) : hostile_shm(to, nullptr) {
    connected_ = where == from::this_process ? connect() : connect_elsewhere({this});
  }
  // So many of one process that is not this one.
  [[nodiscard]] static std::vector<std::unique_ptr<hostile_shm>> crowd(const target& to, std::size_t count) {
    std::vector<std::unique_ptr<hostile_shm>> all;
    std::vector<const hostile_shm*> each;
    while (all.size() < count) {
      all.emplace_back(new hostile_shm(to, nullptr));
      each.push_back(all.back().get());
    }
    if (!connect_elsewhere(each)) throw std::runtime_error("a crowd that cannot connect");
    return all;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  void hang_up() { fd_.reset(); }

  [[nodiscard]] detail::shm::packet packet(kind k, std::uint32_t pins = 8, std::uint32_t depth = 0) const {
    return {.kind = k, .publication = to_->publication, .subscription = me_, .pins = pins, .depth = depth};
  }
  bool say(const detail::shm::packet& p, std::initializer_list<int> fds = {}) const {
    return detail::shm::send_packet(fd_.get(), p, fds) == detail::shm::delivered::yes;
  }
  bool say_bytes(const void* data, std::size_t size) const {
    return ::send(fd_.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(size);
  }
  // With as many descriptors as the kernel allows in one packet.
  bool say_with_fds(const void* data, std::size_t size, int fd, std::size_t count) const {
    iovec part{const_cast<void*>(data), size};
    std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (std::size_t n = 0; n < count; ++n) std::memcpy(CMSG_DATA(header) + n * sizeof(int), &fd, sizeof fd);
    return ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
  }

  // The next packet; nothing: the other end hung up (or does not answer).
  [[nodiscard]] std::optional<detail::shm::received_packet> hear() const {
    detail::shm::received_packet p;
    detail::shm::received got = detail::shm::received::nothing;
    const bool came = wait_until([&] {
      got = detail::shm::receive_packet(fd_.get(), p, true);
      return got != detail::shm::received::nothing;
    });
    if (!came || got != detail::shm::received::packet) return std::nullopt;
    return p;
  }
  [[nodiscard]] bool cut_off() const {
    return wait_until([&] {
      char bytes[64];
      const auto n = ::recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      return n == 0 || (n < 0 && errno != EAGAIN);
    });
  }

  [[nodiscard]] bool is_cut_off() const {
    char bytes[64];
    ssize_t n = 0;
    while ((n = ::recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
    }
    return n == 0 || errno != EAGAIN;
  }

  // Joins. False: it was refused.
  bool join(std::uint32_t pins = 8, std::uint32_t depth = 0) {
    if (!say(packet(kind::hello, pins, depth))) return false;
    auto answer = hear();
    while (answer && answer->packet.kind == kind::preparing) answer = hear();
    if (!answer || answer->packet.kind != kind::welcome) return false;
    segment_bytes = std::uint64_t{answer->packet.pages} * detail::shm::page_size;
    segment = std::move(answer->fds[0]);
    page_fd = std::move(answer->fds[1]);
    page_memory = detail::shm::map_writable(page_fd.get(), detail::shm::page_size);
    auto attached = packet(kind::attached);
    attached.generation = answer->packet.generation;
    return say(attached) && page_memory;
  }
  [[nodiscard]] detail::shm::reader_page& page() const {
    return *reinterpret_cast<detail::shm::reader_page*>(page_memory.bytes());
  }

  detail::unique_fd segment;
  std::uint64_t segment_bytes = 0;
  detail::unique_fd page_fd;
  detail::shm::mapping page_memory;

 private:
  hostile_shm(const target& to, std::nullptr_t) : to_(&to), fd_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}

  [[nodiscard]] bool connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, to_->path.data(), to_->path.size());
    return ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  // In a child with our descriptors, which ends at once: the connections stay its own.
  [[nodiscard]] static bool connect_elsewhere(const std::vector<const hostile_shm*>& each) {
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, 0));
    if (child == 0) {
      bool all = true;
      for (const hostile_shm* const one : each) all = one->connect() && all;
      ::_exit(all ? 0 : 1);
    }
    int status = -1;
    return ::waitpid(child, &status, 0) == child && status == 0;
  }

  const target* to_;
  detail::unique_fd fd_;
  bool connected_ = false;
  wire::id me_ = wire::id::random();
};

}  // namespace orc::test
