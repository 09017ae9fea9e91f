#include "parameters/parameters_component.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "orc/calls/quiet_thread.h"
#include "parameters/parameter_json.h"

namespace orc::detail {

namespace {

constexpr int key = 0;
constexpr std::size_t shown_bytes = 100;

[[nodiscard]] std::string random_name() {
  std::random_device source;
  char id[17] = {};
  std::snprintf(id, sizeof id, "%08x%08x", source(), source());
  return std::string(parameter_service_prefix) + id;
}

void refuse(call_context& call, parameter_refusal why, const std::string& text) {
  call.fail(static_cast<std::int32_t>(why), text);
}

}  // namespace

std::shared_ptr<parameters_component> parameters_component::of(orc::participant& by) {
  return std::static_pointer_cast<parameters_component>(
      components::of(by, &key, [](orc::participant& stays) { return std::make_shared<parameters_component>(stays); }));
}

void parameters_component::end() noexcept {
  orc::service ending;
  {
    const std::scoped_lock lock(serving_, mutex_);
    ended_ = true;
    ending = std::move(service_);
    queued_.notify_all();
  }
  ending = {};  // waits for its handlers
  finish(callbacks_);
  const std::lock_guard lock(removing_);
}

result parameters_component::add(const std::shared_ptr<parameter_core>& parameter) {
  const std::string& name = parameter->description().name;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return errc::closed;
    if (!parameters_.emplace(name, parameter).second)
      return {errc::name_taken, "this participant has the parameter " + name + " already"};
  }
  result made = serve();
  if (made || made.code() == errc::no_broker) made = parameter->start(participant_, weak_from_this());
  if (!made && made.code() != errc::no_broker) forget(*parameter);
  return made;
}

void parameters_component::forget(const parameter_core& parameter) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = parameters_.find(parameter.description().name);
  if (found != parameters_.end() && found->second.get() == &parameter) parameters_.erase(found);
}

void parameters_component::remove(const parameter_core& parameter) noexcept {
  const std::lock_guard removing(removing_);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  (void)participant_.unregister_topic(parameter.description().name);
  forget(parameter);
}

// ---- the service ----

result parameters_component::serve() {
  const std::lock_guard lock(serving_);
  if (service_) return {};
  auto made = participant_.serve<parameter_request, parameter_reply>(
      random_name(),
      [owner = weak_from_this()](const parameter_request& request, call_context& call) {
        const auto self = owner.lock();
        return self ? self->answer(request, call) : parameter_reply();
      },
      {.queue = max_open_calls, .max_clients = 64});
  if (!made) return made.result();
  service_ = std::move(made);
  return service_.result();
}

parameter_reply parameters_component::answer(const parameter_request& request, call_context& call) {
  const auto asked = wish_in(request.json);
  if (!asked) {
    refuse(call, parameter_refusal::malformed, R"(a request is {"name": "...", "value": ...}, or without a value)");
    return {};
  }
  const std::string& name = asked->name;
  std::shared_ptr<parameter_core> parameter;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = parameters_.find(name); found != parameters_.end()) parameter = found->second;
  }
  if (!parameter) {
    refuse(call, parameter_refusal::unknown, "this program has no parameter " + name.substr(0, shown_bytes));
    return {};
  }
  if (asked->sets) {
    if (parameter->description().read_only) {
      refuse(call, parameter_refusal::read_only, name + " is read-only: only its program sets it");
      return {};
    }
    if (!asked->value) {
      refuse(call, parameter_refusal::value, name + " is " + describe(parameter->description()));
      return {};
    }
    const result set = parameter->set(converted(*asked->value, parameter->description().initial));
    if (set.code() == errc::bad_argument) refuse(call, parameter_refusal::value, set.error().message());
    if (set.code() == errc::not_registered) refuse(call, parameter_refusal::unknown, set.error().message());
  }
  return {.json = sample_of(parameter->value())};
}

// ---- callbacks ----

result parameters_component::start_callbacks() {
  const std::lock_guard lock(mutex_);
  if (ended_) return errc::closed;
  if (callbacks_.joinable()) return {};
  try {
    callbacks_ = start_quiet([this] { run_callbacks(); });
  } catch (const std::system_error& problem) {
    return {errc::system_error, std::string("cannot start the thread of callbacks: ") + problem.what()};
  }
  return {};
}

void parameters_component::changed(const std::shared_ptr<parameter_core>& parameter) {
  const std::lock_guard lock(mutex_);
  if (!callbacks_.joinable() || ended_ || !parameter->queue()) return;
  queue_.push_back(parameter);
  queued_.notify_one();
}

void parameters_component::run_callbacks() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    queued_.wait(lock, [&] { return ended_ || !queue_.empty(); });
    if (ended_) return;
    const auto parameter = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    parameter->run_callback();
    lock.lock();
  }
}

}  // namespace orc::detail
