// Services and calls of one participant.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/threads/pi_mutex.h"
#include "calls/client_channel.h"
#include "calls/service_core.h"
#include "core/participant/components.h"
#include "orc/directory.h"
#include "orc/participant.h"

namespace orc::detail {

// Any thread.
class calls_component : public participant_component, public std::enable_shared_from_this<calls_component> {
 public:
  // The participant's. Null: it was moved from, ended or forked.
  [[nodiscard]] static std::shared_ptr<calls_component> of(orc::participant& by);

  explicit calls_component(orc::participant& by) : participant_(by) {}
  ~calls_component() override;
  calls_component(const calls_component&) = delete;
  calls_component& operator=(const calls_component&) = delete;

  void end() noexcept override;

  // The channel to a service, as the program `by` names it; null, with the reason.
  [[nodiscard]] std::shared_ptr<client_channel> channel(const orc::participant& by, std::string_view service,
                                                        call_error& why_not);
  // Offers a service. Null: see `made`.
  [[nodiscard]] std::shared_ptr<service_core> serve(std::string_view name, call_types types, raw_handler handler,
                                                    const service_options& options, std::chrono::nanoseconds patience,
                                                    result& made);
  // Withdraws it, unless that was done. False: a handler runs at `until`, so call it again.
  bool withdraw(const std::shared_ptr<service_core>& service, monotonic::time_point until) noexcept;

 private:
  [[nodiscard]] bool close_unused();  // needs the lock
  void watch() noexcept;
  void watch_once();
  void take(const directory_change& change, std::set<std::uint64_t>& listed);
  [[nodiscard]] std::vector<std::shared_ptr<service_core>> services() const;
  void join_leaving() noexcept;
  void wake_watch() noexcept;
  // Waits until the time has passed or wake_watch() was called.
  void pause(int timeout_ms) noexcept;

  orc::participant& participant_;

  mutable pi_mutex mutex_;  // guards the rest
  bool ended_ = false;
  // By the names that the program uses, so that a call allocates no full name.
  std::map<std::string, std::shared_ptr<client_channel>, std::less<>> channels_;
  std::vector<std::shared_ptr<client_channel>> closing_;
  std::map<std::string, std::shared_ptr<service_core>, std::less<>> services_;
  std::uint64_t services_changed_ = 0;
  // Services that are being withdrawn. One that its own handler withdrew has that thread, which uses the participant
  // until it ends.
  struct leaving {
    std::shared_ptr<service_core> of;
    std::thread thread = {};
  };
  std::vector<leaving> leaving_;
  std::thread watch_;
  int wake_watch_ = -1;  // eventfd: the services changed, or the component ends
};

}  // namespace orc::detail
