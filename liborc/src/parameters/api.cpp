// What a program's handle calls.
#include <utility>

#include "core/participant/components.h"
#include "orc/parameters/parameter.h"
#include "parameters/parameter_core.h"
#include "parameters/parameters_component.h"

namespace orc::detail {

raw_parameter::raw_parameter() noexcept = default;
raw_parameter::raw_parameter(std::shared_ptr<parameter_core> core) noexcept : core_(std::move(core)) {}
raw_parameter::~raw_parameter() { withdraw(); }
raw_parameter::raw_parameter(raw_parameter&& other) noexcept = default;

raw_parameter& raw_parameter::operator=(raw_parameter&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  core_ = std::move(other.core_);
  return *this;
}

void raw_parameter::withdraw() noexcept {
  if (!core_) return;
  if (core_->forked()) {
    // Its locks belong to the parent: never destroyed here.
    static_cast<void>(new std::shared_ptr<parameter_core>(std::move(core_)));
    return;
  }
  core_->withdraw();
  core_.reset();
}

result raw_parameter::set(const parameter_value& value) {
  return core_ ? core_->set(value) : result(errc::not_registered);
}

result raw_parameter::on_change(std::function<void()> callback) {
  return core_ ? core_->on_change(std::move(callback)) : result(errc::not_registered);
}

raw_parameter declare_parameter(orc::participant& by, parameter_description description,
                                std::function<std::string(const parameter_value&)> validate,
                                std::shared_ptr<parameter_store> store, result& made) {
  const auto component = parameters_component::of(by);
  if (!component) {
    made = components::why_none(by);
    return {};
  }
  description.name = by.resolve(description.name);
  const auto core = std::make_shared<parameter_core>(std::move(description), std::move(validate), std::move(store));
  made = core->check();
  if (made) made = component->add(core);
  return made || made.code() == errc::no_broker ? raw_parameter(core) : raw_parameter();
}

}  // namespace orc::detail
