// A parameter that this program declared: its value for Python, and the functions of Python that it calls.
#pragma once

#include <nanobind/nanobind.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "orc/parameters/parameter.h"
#include "orc/result.h"

namespace orc::python {

class session;

// The newest value, on its way to Python. Neither side ever waits, also in the child of a fork.
class value_slot : public detail::parameter_store {
 public:
  ~value_slot() override { delete newest_.load(); }
  void store(const parameter_value& value) override {
    delete newest_.exchange(new parameter_value(value));
    count();
  }
  [[nodiscard]] parameter_value rounded(const parameter_value& value) const override { return value; }
  // Null: it was taken.
  [[nodiscard]] std::unique_ptr<const parameter_value> take() noexcept {
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return std::unique_ptr<const parameter_value>(newest_.exchange(nullptr));
  }

 private:
  std::atomic<const parameter_value*> newest_{nullptr};
};

// Which functions of a parameter run. Any thread, with or without the GIL.
struct running_functions {
  std::atomic<bool> declared{false};  // its initial value has been checked
  std::atomic<bool> ended{false};     // no thread of ORC starts one any more
  std::atomic<int> checks{0};
  std::atomic<int> callbacks{0};
  std::atomic<std::thread::id> checker{};  // of the check
  std::atomic<std::thread::id> caller{};   // of the callback
};

// With the GIL. Threads of ORC refer to it weakly, so that it and its functions end with the GIL.
class declared_parameter : public std::enable_shared_from_this<declared_parameter> {
 public:
  // `validate`: takes a value and returns a text, or None. `shape`: makes the program's value of a list, or None.
  declared_parameter(parameter_value initial, nanobind::object validate, nanobind::object shape);

  // Registers it, after its initial value was checked in this thread. Returns as participant::parameter does.
  [[nodiscard]] result declare(session& by, parameter_description description);

  // The value in force. Takes no lock.
  [[nodiscard]] nanobind::object value();
  [[nodiscard]] std::uint64_t version() const noexcept { return slot_->version(); }
  // Raises what orc.Parameter.set and on_change list. `callback`: takes a value, or None.
  void set(const parameter_value& value);
  void on_change(nanobind::object callback);
  // Withdraws it, and waits for its functions. False: it is closed, or this is the child of a fork.
  [[nodiscard]] bool close();

  // No thread of ORC starts one of its functions afterwards.
  void end();
  // The same, and lets go of them.
  void clear();
  // Whether one of them runs. Never in the child of a fork.
  [[nodiscard]] bool is_busy() const noexcept;
  // True in a thread in which a function of a parameter runs.
  [[nodiscard]] static bool in_a_call() noexcept;
  // What is to be destroyed without the GIL: that waits for its functions.
  [[nodiscard]] std::shared_ptr<detail::raw_parameter> release() noexcept { return std::move(raw_); }
  int traverse(visitproc visit, void* arg) const noexcept;

 private:
  [[nodiscard]] std::string check(const parameter_value& value) noexcept;
  void run_callback() noexcept;
  void wait_for_checks() const;
  void wait_for_callback() const;
  void refuse_fork() const;

  const pid_t process_;
  const std::shared_ptr<value_slot> slot_ = std::make_shared<value_slot>();
  const std::shared_ptr<running_functions> running_ = std::make_shared<running_functions>();
  std::shared_ptr<detail::raw_parameter> raw_;
  std::shared_ptr<const parameter_value> current_;
  nanobind::object shown_;  // current_, once it was read
  nanobind::object validate_;
  nanobind::object shape_;
  nanobind::object callback_ = nanobind::none();
};

// Those of a session. With the GIL.
class declared_parameters {
 public:
  void add(std::shared_ptr<declared_parameter> one) { all_.insert(std::move(one)); }
  void remove(const std::shared_ptr<declared_parameter>& one) { all_.erase(one); }
  void end();
  void clear();
  // Without the GIL: waits until no function runs, for half a second. False: one runs still.
  [[nodiscard]] bool are_idle() const noexcept;
  [[nodiscard]] std::vector<std::shared_ptr<detail::raw_parameter>> release();
  int traverse(visitproc visit, void* arg) const noexcept;

 private:
  std::set<std::shared_ptr<declared_parameter>> all_;
};

}  // namespace orc::python
