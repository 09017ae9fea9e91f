// The parameters of one participant, the service that sets them, and the thread of their callbacks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/participant/components.h"
#include "orc/calls.h"
#include "orc/participant.h"
#include "parameters/parameter_core.h"
#include "parameters/parameter_messages.h"

namespace orc::detail {

// Any thread.
class parameters_component : public participant_component, public std::enable_shared_from_this<parameters_component> {
 public:
  // The participant's. Null: it was moved from, ended or forked.
  [[nodiscard]] static std::shared_ptr<parameters_component> of(orc::participant& by);

  explicit parameters_component(orc::participant& by) : participant_(by) {}

  void end() noexcept override;

  // Makes a checked parameter known to other programs. On failure, except no_broker, it is not.
  [[nodiscard]] result add(const std::shared_ptr<parameter_core>& parameter);
  void remove(const parameter_core& parameter) noexcept;

  [[nodiscard]] result start_callbacks();
  // Queues the parameter's callback.
  void changed(const std::shared_ptr<parameter_core>& parameter);

 private:
  [[nodiscard]] result serve();
  [[nodiscard]] parameter_reply answer(const parameter_request& request, call_context& call);
  void forget(const parameter_core& parameter) noexcept;
  void run_callbacks() noexcept;

  orc::participant& participant_;

  std::mutex removing_;  // held while a topic is withdrawn, so that the participant does not end meanwhile
  std::mutex serving_;   // guards service_, and is held while it is made
  orc::service service_;

  std::mutex mutex_;  // guards the rest
  bool ended_ = false;
  std::map<std::string, std::shared_ptr<parameter_core>, std::less<>> parameters_;
  std::thread callbacks_;
  std::deque<std::shared_ptr<parameter_core>> queue_;
  std::condition_variable queued_;
};

}  // namespace orc::detail
