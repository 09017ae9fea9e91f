#include "parameters/declared.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "call_python.h"
#include "calls/python_thread.h"
#include "errors.h"
#include "gil.h"
#include "parameters/value.h"
#include "session.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

using namespace std::chrono_literals;

constexpr const char* withdrawn = "the parameter was withdrawn";
constexpr auto moment = 1ms;
constexpr auto grace = 500ms;  // for a function that runs when its participant ends

thread_local int calls_here = 0;
// Where a set of this thread learns what its check raised, such as KeyboardInterrupt.
thread_local std::optional<nb::python_error>* raised_here = nullptr;

// Runs `call` with the GIL and counts it. After the end, only a set of the program itself calls anything.
template <typename Call>
void call_counted(const running_functions& of, std::atomic<int>& running, Call call) noexcept {
  ++running;
  if (!of.ended || raised_here != nullptr) {
    ++calls_here;
    with_gil([&]() noexcept { call(); });
    --calls_here;
  }
  --running;
}

// Calls a function of orc/_parameters/functions.py, which raises only what is no Exception.
[[nodiscard]] nb::object call(const nb::object& function, const nb::object& value) {
  nb::object returned = nb::steal(call_function(function.ptr(), value.ptr()));
  if (!returned.is_valid()) throw nb::python_error();
  return returned;
}

class in_check {
 public:
  explicit in_check(std::atomic<std::thread::id>& checker) noexcept : checker_(checker) {
    checker_ = std::this_thread::get_id();
  }
  ~in_check() { checker_ = std::thread::id(); }
  in_check(const in_check&) = delete;
  in_check& operator=(const in_check&) = delete;

 private:
  std::atomic<std::thread::id>& checker_;
};

template <typename IsOver>
void wait_until(IsOver&& is_over) {
  while (!is_over()) {
    without_gil([]() noexcept { std::this_thread::sleep_for(moment); });
    raise_signals();
  }
}

}  // namespace

declared_parameter::declared_parameter(parameter_value initial, nb::object validate, nb::object shape)
    : process_(::getpid()),
      current_(std::make_shared<const parameter_value>(std::move(initial))),
      validate_(std::move(validate)),
      shape_(std::move(shape)) {}

result declared_parameter::declare(session& by, parameter_description description) {
  std::function<std::string(const parameter_value&)> validate;
  if (!validate_.is_none()) {
    // C++ checks the initial value on the thread that talks to the broker.
    // Here, because C++ checks it on the thread that talks to the broker.
    const parameter_value initial = *current_;
    if (check_value(description, initial)) {
      std::optional<nb::python_error> raised;
      auto* const before = std::exchange(raised_here, &raised);
      const std::string why = check(initial);
      raised_here = before;
      if (raised) throw nb::python_error(std::move(*raised));
      if (!why.empty())
        return {errc::bad_argument, by.full_name(description.name) + " cannot be " + to_json(initial) + ": " + why};
    }
    validate = [weak = weak_from_this(), running = running_, initial](const parameter_value& value) {
      if (!running->declared && value == initial) return std::string();
      std::string why = "its program ends";
      call_counted(*running, running->checks, [&] {
        if (const auto same = weak.lock()) why = same->check(value);
      });
      return why;
    };
  }
  const auto made = std::make_shared<std::shared_ptr<detail::raw_parameter>>();
  result outcome = by.call([made, validate, description = std::move(description), slot = slot_](orc::participant& on) {
    result found;
    made->reset();  // of the call before, which found no broker
    auto raw = detail::declare_parameter(on, description, validate, slot, found);
    if (raw) *made = std::make_shared<detail::raw_parameter>(std::move(raw));
    return found;
  });
  running_->declared = true;
  raw_ = std::move(*made);
  return outcome;
}

// ---- the value ----

nb::object declared_parameter::value() {
  if (auto newest = slot_->take()) {
    current_ = std::move(newest);
    shown_.reset();
  }
  if (!shown_.is_valid()) {
    const auto from = current_;
    nb::object made = to_python(*from);
    if (!shape_.is_none()) made = shape_(made);
    if (current_ != from) return made;  // another thread ran meanwhile
    shown_ = std::move(made);
  }
  if (PyList_Check(shown_.ptr())) return nb::steal(PySequence_List(shown_.ptr()));
  return shown_;
}

void declared_parameter::set(const parameter_value& value) {
  refuse_fork();
  wait_for_checks();
  std::optional<nb::python_error> raised;
  auto kept = raw_;
  const result outcome = without_gil([&]() noexcept -> result {
    auto* const before = std::exchange(raised_here, &raised);
    result found = kept ? kept->set(value) : result(errc::not_registered, withdrawn);
    raised_here = before;
    kept.reset();
    return found;
  });
  if (raised) throw nb::python_error(std::move(*raised));
  orc::python::check(outcome && running_->ended ? errc::closed : outcome);
}

std::string declared_parameter::check(const parameter_value& value) noexcept try {
  const nb::object function = validate_;
  if (function.is_none()) return "its program ends";
  const in_check here(running_->checker);
  nb::object shown = to_python(value);
  if (!shape_.is_none()) shown = call(shape_, shown);
  return nb::cast<nb::bytes>(call(function, shown)).c_str();
} catch (nb::python_error& error) {
  if (raised_here != nullptr)
    raised_here->emplace(std::move(error));
  else
    error.discard_as_unraisable(validate_);
  return "its check was interrupted";
} catch (const std::exception&) {
  return "its check failed";
}

// ---- callbacks ----

void declared_parameter::on_change(nb::object callback) {
  refuse_fork();
  if (raw_ && running_->ended) fail(errc::closed);
  wait_for_callback();
  const bool is_wanted = !callback.is_none();
  auto kept = raw_;
  std::swap(callback_, callback);
  std::function<void()> run;
  if (is_wanted) {
    run = [weak = weak_from_this(), running = running_] {
      call_counted(*running, running->callbacks, [&] {
        const auto same = weak.lock();
        if (!same) return;
        running->caller = std::this_thread::get_id();
        same->run_callback();
        running->caller = std::thread::id();
      });
    };
  }
  const result outcome = without_gil([&]() noexcept -> result {
    result found = kept ? kept->on_change(std::move(run)) : result(errc::not_registered, withdrawn);
    kept.reset();
    return found;
  });
  orc::python::check(outcome);
}

void declared_parameter::run_callback() noexcept try {
  const nb::object function = callback_;
  if (!function.is_none()) (void)call(function, value());
} catch (nb::python_error& error) {
  error.discard_as_unraisable(callback_);
} catch (const std::exception&) {
  // no memory
}

// ---- the end ----

bool declared_parameter::close() {
  if (::getpid() != process_ || !raw_) return false;
  wait_for_checks();
  wait_for_callback();
  auto last = std::move(raw_);
  clear();
  without_gil([&]() noexcept { last.reset(); });
  return true;
}

void declared_parameter::end() {
  running_->ended = true;
  const nb::object callback = std::exchange(callback_, nb::none());
}

void declared_parameter::clear() {
  end();
  const nb::object validate = std::exchange(validate_, nb::none());
}

bool declared_parameter::is_busy() const noexcept {
  return (running_->checks != 0 || running_->callbacks != 0) && ::getpid() == process_;
}

bool declared_parameter::in_a_call() noexcept { return calls_here != 0; }

int declared_parameter::traverse(visitproc visit, void* arg) const noexcept {
  Py_VISIT(validate_.ptr());
  Py_VISIT(callback_.ptr());
  return 0;
}

void declared_parameter::wait_for_checks() const {
  if (running_->checker.load() == std::this_thread::get_id())
    fail(errc::bad_argument, "a check cannot set or withdraw its own parameter");
  wait_until([&] { return running_->checks == 0; });
}

void declared_parameter::wait_for_callback() const {
  wait_until([&] { return running_->callbacks == 0 || running_->caller.load() == std::this_thread::get_id(); });
}

void declared_parameter::refuse_fork() const {
  if (::getpid() != process_) fail(errc::forked);
}

void declared_parameters::end() {
  for (const auto& each : std::set(all_)) each->end();
}

void declared_parameters::clear() {
  for (const auto& each : std::set(all_)) each->clear();
}

bool declared_parameters::are_idle() const noexcept {
  const auto end = std::chrono::steady_clock::now() + grace;
  for (const auto& each : all_) {
    while (each->is_busy()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(moment);
    }
  }
  return true;
}

std::vector<std::shared_ptr<detail::raw_parameter>> declared_parameters::release() {
  std::vector<std::shared_ptr<detail::raw_parameter>> left;
  for (const auto& each : all_) left.push_back(each->release());
  return left;
}

int declared_parameters::traverse(visitproc visit, void* arg) const noexcept {
  for (const auto& each : all_) {
    if (const int found = each->traverse(visit, arg); found != 0) return found;
  }
  return 0;
}

}  // namespace orc::python
