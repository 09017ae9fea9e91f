// A publication over shm without liborc behind it: registered at the broker, a bare socket, hands over what the test
// wants.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/files/unique_fd.h"
#include "support/broker_process.h"
#include "support/raw_client.h"
#include "support/value_of.h"
#include "support/wait_until.h"
#include "transport/shm/shared_memory.h"
#include "transport/shm/shm_layout.h"
#include "transport/shm/shm_packet.h"

namespace orc::test {

// Listens at `path`.
[[nodiscard]] inline detail::unique_fd shm_listener(const std::string& path) {
  detail::unique_fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd.get(), 16) != 0)
    throw std::runtime_error("cannot listen on " + path);
  return fd;
}

class hostile_shm_publication {
 public:
  using kind = detail::shm::packet_kind;

  // `more`: other endpoints of the same publication.
  hostile_shm_publication(const broker_process& broker, const std::string& topic,
                          std::optional<wire::endpoint> more = {}, const wire::id& id = wire::id::random())
      : publication(id), client_(broker.endpoint()) {
    const std::string directory = broker.directory().file(std::to_string(::geteuid()));
    ::mkdir(directory.c_str(), 0700);
    const std::string path = directory + "/" + publication.hex().substr(0, 16) + ".shm";
    listener_ = shm_listener(path);
    client_.ask(hello_of_this_process("hostile"));
    wire::register_topic registration{.topic = topic, .publication = publication, .endpoints = {}, .type = {}};
    registration.endpoints.push_back({.transport = wire::transport::shm, .address = "shm://" + path});
    if (more) registration.endpoints.push_back(*more);
    const auto answer = client_.ask(registration);
    if (const auto* refused = std::get_if<wire::error>(&answer)) throw std::runtime_error(refused->text);
  }

  // The lease of the broker would run out during a long test.
  void stay_alive() { client_.send(0, wire::heartbeat{}); }
  // Waits for a subscriber, and hears its hello.
  [[nodiscard]] bool await_hello() {
    const bool came = wait_until([&] {
      stay_alive();
      peer_ = detail::unique_fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      return static_cast<bool>(peer_);
    });
    const auto hello = came ? hear() : std::nullopt;
    if (!hello || hello->kind != kind::hello) return false;
    subscription = hello->subscription;
    return true;
  }
  bool say(kind k, std::uint32_t pages = 0, std::initializer_list<int> fds = {}) {
    const detail::shm::packet p{
        .kind = k, .publication = publication, .subscription = subscription, .generation = 1, .pages = pages};
    return detail::shm::send_packet(peer_.get(), p, fds) == detail::shm::delivered::yes;
  }
  // The next packet. Nothing: the subscriber hung up.
  [[nodiscard]] std::optional<detail::shm::packet> hear() {
    detail::shm::received_packet p;
    detail::shm::received got = detail::shm::received::nothing;
    const bool came = wait_until([&] {
      stay_alive();
      got = detail::shm::receive_packet(peer_.get(), p, false);
      return got != detail::shm::received::nothing;
    });
    if (!came || got != detail::shm::received::packet) return std::nullopt;
    return p.packet;
  }
  // Hands over this memory as a segment of so many pages. True: the subscriber uses it.
  [[nodiscard]] bool is_believed(const detail::shm::shared_memory& segment, std::uint32_t pages) {
    page_ = value_of(detail::shm::make_shared_memory(detail::shm::page_size, detail::shm::others::read_and_write));
    if (!say(kind::welcome, pages, {segment.fd.get(), page_.fd.get()})) throw std::runtime_error("welcome");
    const auto answer = hear();
    return answer && answer->kind == kind::attached;
  }

  wire::id publication;
  wire::id subscription;

 private:
  raw_client client_;
  detail::unique_fd listener_;
  detail::unique_fd peer_;
  detail::shm::shared_memory page_;
};

// A sealed memfd of `bytes` whose header claims this shape; `word` goes where the header has a reserved word.
[[nodiscard]] inline detail::shm::shared_memory segment_like(std::uint64_t bytes, const detail::shm::shape& claimed,
                                                             std::uint32_t word = 0) {
  auto memory = value_of(detail::shm::make_shared_memory(bytes, detail::shm::others::only_read));
  auto& header = *reinterpret_cast<detail::shm::segment_header*>(memory.memory.bytes());
  header.magic = detail::shm::magic;
  header.shape = claimed;
  header.generation = 1;
  std::memcpy(memory.memory.bytes() + offsetof(detail::shm::segment_header, generation) + 4, &word, sizeof word);
  return memory;
}

}  // namespace orc::test
