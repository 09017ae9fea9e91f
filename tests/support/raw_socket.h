// A bare libzmq socket, for peers that do not behave.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/budget.h"

namespace orc::test {

class raw_socket {
 public:
  using frames = std::vector<std::string>;

  explicit raw_socket(int type);  // ZMQ_DEALER, ZMQ_ROUTER, …
  ~raw_socket();
  raw_socket(const raw_socket&) = delete;
  raw_socket& operator=(const raw_socket&) = delete;

  void set(int option, int value);
  void bind(const std::string& endpoint);
  void connect(const std::string& endpoint);
  [[nodiscard]] std::string bound_to() const;

  // False when there is no room (or no such peer).
  bool send(const frames& parts);
  [[nodiscard]] std::optional<frames> receive(std::chrono::milliseconds deadline = patience);

 private:
  void* context_;
  void* socket_;
};

// Bytes as frames: what encode() functions return.
template <class Frame>
[[nodiscard]] std::string as_text(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.data()), frame.size()};
}

}  // namespace orc::test
