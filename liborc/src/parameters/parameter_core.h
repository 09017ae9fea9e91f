// A parameter of this program: its value in force, and what may change it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "orc/parameters/parameter_cell.h"
#include "orc/parameters/parameter_description.h"
#include "orc/participant.h"

namespace orc::detail {

class parameters_component;

// Any thread.
class parameter_core : public std::enable_shared_from_this<parameter_core> {
 public:
  using validator = std::function<std::string(const parameter_value&)>;

  parameter_core(parameter_description description, validator validate, std::shared_ptr<parameter_store> store);

  [[nodiscard]] const parameter_description& description() const noexcept { return description_; }
  // Whether this process is a child of the one that made it.
  [[nodiscard]] bool forked() const noexcept;

  // Checks the options and the initial value.
  [[nodiscard]] result check() const;
  // Registers the topic and publishes the value.
  [[nodiscard]] result start(orc::participant& by, std::weak_ptr<parameters_component> owner);
  // The handle is gone: withdraws the parameter. What the program passed in does not run afterwards.
  void withdraw() noexcept;

  [[nodiscard]] result set(parameter_value value);
  [[nodiscard]] parameter_value value() const;

  [[nodiscard]] result on_change(std::function<void()> callback);
  // For the thread of callbacks. True: it was not queued yet.
  [[nodiscard]] bool queue() noexcept { return !queued_.exchange(true); }
  void run_callback();

 private:
  [[nodiscard]] result validated(const parameter_value& value) const;
  [[nodiscard]] result publish();
  void replace_callback(std::shared_ptr<std::function<void()>> callback);

  const parameter_description description_;
  const std::shared_ptr<parameter_store> store_;
  const int pid_;

  mutable std::mutex mutex_;  // guards what follows
  validator validate_;
  parameter_value value_;
  bool withdrawn_ = false;
  std::weak_ptr<parameters_component> owner_;
  orc::publisher publisher_;

  std::mutex callback_mutex_;  // guards what follows, except queued_
  std::shared_ptr<std::function<void()>> callback_;
  std::thread::id running_;
  std::condition_variable has_run_;
  std::atomic<bool> queued_{false};
};

}  // namespace orc::detail
