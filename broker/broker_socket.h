// The ROUTER socket of the address broker: options, guarded binds, frames in and out. Never blocks.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "ipc_guard.h"

namespace orc {

class broker_socket {
 public:
  // Binds all of `listen` or none. The socket, or one line that says which endpoint, what was found and what to do.
  [[nodiscard]] static std::variant<std::unique_ptr<broker_socket>, std::string> open(
      const std::vector<std::string>& listen);

  broker_socket(const broker_socket&) = delete;
  broker_socket& operator=(const broker_socket&) = delete;
  ~broker_socket();

  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return endpoints_; }
  // Does it listen on an address that other hosts can reach?
  [[nodiscard]] bool remote() const noexcept;
  [[nodiscard]] void* handle() noexcept { return socket_.handle(); }

  enum class received { nothing, frame, dropped };  // dropped: a message that is not [id][one frame]
  [[nodiscard]] received receive(std::string& from, zmq::message_t& frame) noexcept;

  enum class sent { yes, slow, gone };  // slow: its queue is full; gone: no such connection any more
  [[nodiscard]] sent send(const std::string& to, const std::string& frame) noexcept;

 private:
  broker_socket();
  [[nodiscard]] std::string bind(const std::string& endpoint);
  void set_options();

  std::vector<ipc_guard> guards_;  // outlive the socket: its files are removed only when nothing listens any more
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::vector<std::string> endpoints_;
};

}  // namespace orc
