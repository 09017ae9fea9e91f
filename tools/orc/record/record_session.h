// One run of `orc record`.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/record/record_buffer.h"
#include "tools/orc/record/record_follower.h"
#include "tools/orc/record/record_lcm_listener.h"
#include "tools/orc/record/record_options.h"
#include "tools/orc/record/record_receiver.h"
#include "tools/orc/record/record_status.h"
#include "tools/orc/record/record_trigger.h"
#include "tools/orc/record/record_writer.h"

namespace orc::cli {

// Its main thread asks the broker, takes signals and triggers, and draws the status line; a second one receives, a
// third one writes.
class record_session {
 public:
  using clock = std::chrono::steady_clock;

  explicit record_session(const record_options& options);
  ~record_session();

  // Returns the exit code.
  [[nodiscard]] int run();

 private:
  [[nodiscard]] result start();
  [[nodiscard]] result start_receiving();
  [[nodiscard]] result watch_triggers();
  [[nodiscard]] result step();
  void wait();
  void follow_to_the_end();
  void take_triggers();
  void trigger(std::function<void(bool, const std::string&)> answer);
  void note(const std::string& text);
  void wake() const noexcept;
  void hear_wake() const noexcept;
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] int end(const result& outcome);
  [[nodiscard]] std::size_t topics() const;
  [[nodiscard]] bool is_black_box() const noexcept { return options_.last.count() != 0; }

  const record_options& options_;
  console out_;
  detail::unique_fd usr1_;  // signalfd; made before there are threads, which inherit the mask
  detail::unique_fd wake_;  // eventfd
  const detail::stop_signal stop_;
  const clock::time_point begun_ = clock::now();
  record_status status_;
  record_buffer buffer_;
  std::atomic<bool> writer_ended_{false};
  record_writer writer_;
  record_receiver receiver_;
  std::unique_ptr<record_follower> follower_;
  std::unique_ptr<record_lcm_listener> listener_;
  std::unique_ptr<record_trigger> trigger_;
  std::string path_;
};

}  // namespace orc::cli
