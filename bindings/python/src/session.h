// What the Python objects of one participant share. All of it with the GIL.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "errors.h"
#include "gil.h"
#include "log_sink.h"
#include "orc.h"
#include "subscription.h"

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

  [[nodiscard]] log_sink& sink() const noexcept { return *sink_; }

  // What `call` returns for the orc::broker, without the GIL. It must not wait. When close() ran meanwhile the
  // participant ends here, and still without the GIL: its threads may be waiting for that. Raises Closed.
  template <typename Call>
  auto with_broker(Call&& call) const {
    auto kept = broker();
    return without_gil([&]() noexcept {
      auto outcome = call(*kept);
      kept.reset();
      return outcome;
    });
  }

  // The one object of a topic's subscription now. Raises NotRequested, Closed, Forked.
  [[nodiscard]] std::shared_ptr<subscription> find(std::string_view topic);

  // A set-up call, which waits for the address broker: on a thread of its own, so that Ctrl-C ends the waiting. Then
  // the call goes on, and what it declares stays declared.
  using set_up = std::function<result(orc::broker&)>;
  [[nodiscard]] result call(const set_up& wanted) const;

 private:
  // Never to be dropped with the GIL by a thread that may be the last to hold it. Raises Closed.
  [[nodiscard]] const std::shared_ptr<orc::broker>& broker() const;

  int broker_timeout_ms_;
  std::shared_ptr<log_sink> sink_;
  std::shared_ptr<orc::broker> broker_;
  std::map<std::string, std::shared_ptr<subscription>, std::less<>> subscriptions_;
};

}  // namespace orc::python
