#include "parameters/parameter_core.h"

#include <unistd.h>

#include <cmath>
#include <utility>

#include "parameters/parameter_json.h"
#include "parameters/parameters_component.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_choices = 256;
constexpr std::size_t max_description = 1024;
constexpr std::size_t max_unit = 32;

[[nodiscard]] bool is_finite(const std::optional<parameter_value>& limit) {
  const auto* const number = limit ? std::get_if<double>(&*limit) : nullptr;
  return number == nullptr || std::isfinite(*number);
}

[[nodiscard]] result check_description(const parameter_description& of) {
  const auto wrong = [&](const std::string& what) {
    return result(errc::bad_argument, "parameter " + of.name + ": " + what);
  };
  const bool has_limits = of.min || of.max;
  const bool has_length =
      std::holds_alternative<std::string>(of.initial) || std::holds_alternative<std::vector<double>>(of.initial);
  if (has_limits && (std::holds_alternative<bool>(of.initial) || std::holds_alternative<std::string>(of.initial)))
    return wrong("only numbers have min and max");
  if (!is_finite(of.min) || !is_finite(of.max)) return wrong("min and max are finite numbers");
  if (of.min && of.max && *of.max < *of.min)
    return wrong("min is " + to_json(*of.min) + ", above max, which is " + to_json(*of.max));
  if (has_length && (of.max_length < 1 || of.max_length > max_parameter_length))
    return wrong("max_length is 1 to " + std::to_string(max_parameter_length) + ", not " +
                 std::to_string(of.max_length));
  if (of.choices.size() > max_choices) return wrong("at most " + std::to_string(max_choices) + " choices are allowed");
  if (of.description.size() > max_description)
    return wrong("the description has at most " + std::to_string(max_description) + " bytes");
  if (of.unit.size() > max_unit) return wrong("the unit has at most " + std::to_string(max_unit) + " bytes");
  parameter_description without_choices = of;
  without_choices.choices.clear();
  for (const parameter_value& each : of.choices) {
    if (result allowed = check_value(without_choices, each); !allowed)
      return wrong("a choice is not allowed: " + allowed.error().message());
  }
  return {};
}

}  // namespace

parameter_core::parameter_core(parameter_description description, validator validate,
                               std::shared_ptr<parameter_store> store)
    : description_(std::move(description)),
      store_(std::move(store)),
      pid_(::getpid()),
      validate_(std::move(validate)),
      value_(description_.initial) {}

bool parameter_core::forked() const noexcept { return ::getpid() != pid_; }

result parameter_core::check() const {
  if (is_reserved(description_.name)) {
    return {errc::bad_name, description_.name +
                                " is no name of a parameter: names with a part that begins with a dot "
                                "are ORC's own"};
  }
  if (result ok = check_description(description_); !ok) return ok;
  return validated(value_);
}

result parameter_core::start(orc::participant& by, std::weak_ptr<parameters_component> owner) {
  type_description type;
  if (result described = type_of(description_, type); !described) return described;
  publisher made = by.register_topic(description_.name, {.type = std::move(type)});
  if (!made) return made.result();
  const std::lock_guard lock(mutex_);
  owner_ = std::move(owner);
  publisher_ = made;
  if (result sent = publish(); !sent) {
    (void)by.unregister_topic(description_.name);
    return sent;
  }
  return made.result();
}

void parameter_core::withdraw() noexcept {
  std::shared_ptr<parameters_component> owner;
  {
    const std::lock_guard lock(mutex_);
    withdrawn_ = true;
    validate_ = nullptr;
    owner = owner_.lock();
  }
  replace_callback(nullptr);
  if (owner) owner->remove(*this);
}

result parameter_core::validated(const parameter_value& value) const {
  if (result allowed = check_value(description_, value); !allowed || !validate_) return allowed;
  std::string why;
  try {
    why = validate_(value);
  } catch (const std::exception& thrown) {
    why = *thrown.what() != '\0' ? thrown.what() : "its check failed";
  } catch (...) {
    why = "its check failed";
  }
  if (why.empty()) return {};
  return {errc::bad_argument, description_.name + " cannot be " + to_json(value) + ": " + why};
}

result parameter_core::set(parameter_value value) {
  if (forked()) return errc::forked;
  const std::lock_guard lock(mutex_);
  if (withdrawn_) return errc::not_registered;
  value = store_->rounded(value);
  if (result ok = validated(value); !ok) return ok;
  if (value == value_) return {};
  store_->store(value);
  value_ = std::move(value);
  result sent = publish();
  if (const auto owner = owner_.lock()) owner->changed(shared_from_this());
  return sent;
}

parameter_value parameter_core::value() const {
  const std::lock_guard lock(mutex_);
  return value_;
}

result parameter_core::publish() {
  const std::string sample = sample_of(value_);
  return publisher_.send(sample.data(), sample.size());
}

// ---- callbacks ----

result parameter_core::on_change(std::function<void()> callback) {
  if (forked()) return errc::forked;
  std::shared_ptr<parameters_component> owner;
  {
    const std::lock_guard lock(mutex_);
    owner = owner_.lock();
  }
  if (!owner) return errc::closed;
  if (result started = owner->start_callbacks(); !started) return started;
  replace_callback(callback ? std::make_shared<std::function<void()>>(std::move(callback)) : nullptr);
  return {};
}

// Waits for the one that runs, unless it runs in this thread.
void parameter_core::replace_callback(std::shared_ptr<std::function<void()>> callback) {
  std::unique_lock lock(callback_mutex_);
  callback_.swap(callback);
  if (running_ != std::this_thread::get_id()) has_run_.wait(lock, [&] { return running_ == std::thread::id(); });
}

void parameter_core::run_callback() {
  queued_ = false;
  std::shared_ptr<std::function<void()>> callback;
  {
    const std::lock_guard lock(callback_mutex_);
    callback = callback_;
    if (!callback) return;
    running_ = std::this_thread::get_id();
  }
  (*callback)();
  callback.reset();
  const std::lock_guard lock(callback_mutex_);
  running_ = {};
  has_run_.notify_all();
}

}  // namespace orc::detail
