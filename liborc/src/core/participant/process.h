// What all participants of one process share: the libzmq context (for the broker), and the table of publications that
// are reachable inside the process. Made with the first participant, destroyed with the last.
#pragma once

#include <memory>
#include <utility>
#include <zmq.hpp>

#include "base/expected.h"
#include "base/process/fork_generation.h"
#include "transport/transports.h"

namespace orc::detail {

class process {
 public:
  [[nodiscard]] static expected<std::shared_ptr<process>> acquire();
  explicit process(zmq::context_t&& context) noexcept : context_(std::move(context)) {}
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] zmq::context_t& context() noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<inproc_registry>& local_publications() const noexcept {
    return local_publications_;
  }

 private:
  union {
    zmq::context_t context_;  // a forked child must not end the parent's context
  };
  unsigned generation_ = fork_generation();
  std::shared_ptr<inproc_registry> local_publications_ = make_inproc_registry();
};

}  // namespace orc::detail
