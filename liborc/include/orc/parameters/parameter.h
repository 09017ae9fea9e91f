// A program's parameter, as a handle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "orc/parameters/parameter_cell.h"
#include "orc/parameters/parameter_description.h"
#include "orc/parameters/parameter_options.h"
#include "orc/parameters/parameter_value.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

class participant;

namespace detail {

class parameter_core;

// A parameter without its C++ type. Move-only; the destructor withdraws it.
class ORC_API raw_parameter {
 public:
  raw_parameter() noexcept;
  explicit raw_parameter(std::shared_ptr<parameter_core> core) noexcept;
  ~raw_parameter();
  raw_parameter(raw_parameter&& other) noexcept;
  raw_parameter& operator=(raw_parameter&& other) noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] result set(const parameter_value& value);
  [[nodiscard]] result on_change(std::function<void()> callback);

 private:
  void withdraw() noexcept;

  std::shared_ptr<parameter_core> core_;
};

// Registers a parameter. `made`: as participant::parameter. The returned one is false when it is not there.
[[nodiscard]] ORC_API raw_parameter declare_parameter(orc::participant& by, parameter_description description,
                                                      std::function<std::string(const parameter_value&)> validate,
                                                      std::shared_ptr<parameter_store> store, result& made);

}  // namespace detail

// A parameter that this program has. The destructor withdraws it: its topic ends. Move-only. get() and set() may be
// called from any thread, the other functions from one thread at a time.
template <class T>
class [[nodiscard]] parameter {
  static_assert(parameter_type<T>, "orc/parameters.h: a parameter cannot have this type: see parameter_type");

 public:
  // No parameter: get() returns T().
  parameter() : parameter(std::make_shared<detail::parameter_cell<T>>(T()), {}, errc::not_registered) {}
  // For ORC itself: participant::parameter makes parameters.
  parameter(std::shared_ptr<detail::parameter_cell<T>> cell, detail::raw_parameter raw, orc::result made)
      : cell_(std::move(cell)), raw_(std::move(raw)), made_(std::move(made)) {}
  // Moves it. The old one still reads the value, and cannot be set.
  parameter(parameter&& other) noexcept
      : cell_(other.cell_),  // NOLINT(performance-move-constructor-init): the old one still reads
        raw_(std::move(other.raw_)),
        made_(std::exchange(other.made_, errc::not_registered)),
        seen_(other.seen_) {}
  parameter& operator=(parameter&& other) noexcept {
    raw_ = std::move(other.raw_);
    cell_ = other.cell_;
    made_ = std::exchange(other.made_, errc::not_registered);
    seen_ = other.seen_;
    return *this;
  }
  // Waits for a running callback and for a set that is being validated.
  ~parameter() = default;

  // True when other programs can see the parameter. That is also so when result() is no_broker: a broker that answers
  // later learns of it.
  explicit operator bool() const noexcept { return static_cast<bool>(raw_); }
  // What participant::parameter found.
  [[nodiscard]] const orc::result& result() const noexcept { return made_; }
  // Same as result().error().
  [[nodiscard]] const orc::error& error() const noexcept { return made_.error(); }

  // Returns the value in force: the initial one if the parameter could not be made. Of bool and numbers it is one
  // atomic load: it takes no lock and never waits, also in a signal handler or a real-time thread. Of texts and lists
  // it takes a lock while a pointer is copied, and allocates the copy that it returns. See changed().
  [[nodiscard]] T get() const noexcept(std::is_arithmetic_v<T>) { return cell_->get(); }
  // Same as get().
  [[nodiscard]] T operator*() const noexcept(std::is_arithmetic_v<T>) { return get(); }

  // Whether the value changed since the parameter was made or changed() returned true. One atomic load: a control loop
  // calls it in each cycle, and get() of a text or list only when it returns true.
  [[nodiscard]] bool changed() noexcept {
    const std::uint64_t version = cell_->version();
    return std::exchange(seen_, version) != version;
  }

  // Sets the value, with the checks that a set from another program has to pass. Then the value is in force, its topic
  // publishes it, and the callback comes. A value that is equal to the one in force changes nothing. Waits for another
  // set of this parameter.
  // - bad_argument: the value is refused; the message says why and what is allowed. It stays as it was.
  // - not_registered: the parameter could not be made.
  // - closed, no_memory: the value is in force, but was not published: the participant ended, or out of memory.
  // - forked: this process is a child of the one that made the parameter. It stays as it was.
  [[nodiscard]] orc::result set(const T& value) { return raw_.set(detail::to_value(value)); }

  // Calls `callback` with the value after each change, from a thread of ORC. After changes in quick succession it may
  // come once, with the newest value. Replaces the callback before it; an empty one ends it. Waits for a callback that
  // runs. A callback may set and read parameters. It must not throw, nor destroy this parameter or its participant.
  // - not_registered, closed, forked: as for set.
  // - system_error: the thread cannot be started.
  [[nodiscard]] orc::result on_change(std::function<void(const T&)> callback) {
    if (!callback) return raw_.on_change({});
    return raw_.on_change([cell = cell_, callback = std::move(callback)] { callback(cell->get()); });
  }

 private:
  std::shared_ptr<detail::parameter_cell<T>> cell_;
  detail::raw_parameter raw_;
  orc::result made_;
  std::uint64_t seen_ = 0;
};

}  // namespace orc
