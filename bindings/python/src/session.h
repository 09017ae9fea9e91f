// The shared part of one participant's Python objects. All calls with the GIL.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "log_sink.h"
#include "orc.h"
#include "orc/directory.h"
#include "parameters/declared.h"
#include "subscription.h"

namespace orc::python {

class offered_service;

// The participant and its handles own it together, so a publisher works as long as it is kept.
class session {
 public:
  session(participant_options options, std::shared_ptr<log_sink> sink);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // Ends the participant, within two seconds: at once, unless functions of its parameters run. A second call does
  // nothing.
  void close() noexcept;

  [[nodiscard]] log_sink& sink() const noexcept { return *sink_; }

  // Runs `call` on the orc::participant without the GIL. `call` must not wait. When close() ran meanwhile, the
  // participant ends here, still without the GIL, because its threads may be waiting for it. Raises Closed.
  template <typename Call>
  auto with_participant(Call&& call) const {
    auto kept = broker();
    return without_gil([&]() noexcept {
      auto outcome = call(*kept);
      kept.reset();
      return outcome;
    });
  }

  // The name with the participant's namespace. Raises Closed.
  [[nodiscard]] std::string full_name(std::string_view name) const { return broker()->resolve(name); }

  // Returns the one object of a topic's current subscription, by its full name. Raises NotRequested, Closed, Forked.
  [[nodiscard]] std::shared_ptr<subscription> find(std::string_view topic);

  // Withdraws a request, and lets go of its object: a program may request any number of topics, one after the other.
  [[nodiscard]] result release(const std::string& topic);

  // Services that the program offers. add() raises Closed.
  void add(std::shared_ptr<offered_service> service);
  void remove(const offered_service& service) noexcept;
  [[nodiscard]] const std::vector<std::shared_ptr<offered_service>>& services() const noexcept { return services_; }

  // Runs a set-up call, which waits for the address broker, on a thread of its own, so that Ctrl-C ends the wait. The
  // call then goes on, and its declaration stays.
  using set_up = std::function<result(orc::participant&)>;
  [[nodiscard]] result call(const set_up& wanted) const;

  // What the program declared. They go on to be read when the session is closed.
  [[nodiscard]] declared_parameters& parameters() noexcept { return parameters_; }
  // A directory of the same broker. Raises Closed.
  [[nodiscard]] std::shared_ptr<orc::directory> directory();
  // Stop is requested by close().
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }

 private:
  // A thread that holds the GIL must not drop this if it may be the last owner. Raises Closed.
  [[nodiscard]] const std::shared_ptr<orc::participant>& broker() const;

  // Destroys something that may wait for functions of parameters.
  template <typename Ending>
  void let_go(Ending ending) noexcept;

  std::string broker_endpoints_;
  std::chrono::nanoseconds broker_timeout_;
  std::shared_ptr<log_sink> sink_;
  std::shared_ptr<orc::participant> broker_;
  std::map<std::string, std::shared_ptr<subscription>, std::less<>> subscriptions_;
  std::vector<std::shared_ptr<offered_service>> services_;
  declared_parameters parameters_;
  std::shared_ptr<orc::directory> directory_;
  std::stop_source closing_;
};

}  // namespace orc::python
