// What the Python objects of one participant share. All of it with the GIL.
#pragma once

#include <functional>
#include <memory>

#include "log_sink.h"
#include "orc.h"

namespace orc::python {

// The Broker and the handles made from it own it together: a publisher works as long as it is kept.
class session {
 public:
  session(participant_options options, std::shared_ptr<log_sink> sink);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // Ends the participant; waits for that, at most about a second. Again: nothing.
  void close() noexcept;

  // Whoever holds this keeps the participant alive, so let go of it before waiting. Raises Closed.
  [[nodiscard]] const std::shared_ptr<orc::broker>& broker() const;
  [[nodiscard]] bool closed() const noexcept { return broker_ == nullptr; }
  [[nodiscard]] log_sink& sink() const noexcept { return *sink_; }

  // A set-up call, which waits for the address broker: on a thread of its own, so that Ctrl-C ends the waiting. Then
  // the call goes on, and what it declares stays declared.
  using set_up = std::function<result(orc::broker&)>;
  [[nodiscard]] result call(const set_up& wanted) const;

 private:
  int broker_timeout_ms_;
  std::shared_ptr<log_sink> sink_;
  std::shared_ptr<orc::broker> broker_;
};

}  // namespace orc::python
