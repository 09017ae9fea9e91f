#include "calls/offered_service.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <utility>
#include <vector>

#include "buffers.h"
#include "errors.h"
#include "gil.h"
#include "options.h"
#include "session.h"

namespace orc::python {

namespace {

using std::chrono::steady_clock;

[[nodiscard]] std::size_t count_of(nb::handle given, const char* what) {
  if (PyBool_Check(given.ptr())) throw nb::type_error("this option is an int, not bool");
  const int count = to_int(given, what);
  if (count < 0) fail(errc::bad_argument, std::string(what) + " is not negative, as " + std::to_string(count) + " is");
  return static_cast<std::size_t>(count);
}

[[nodiscard]] std::vector<std::string> names_of(nb::handle given) {
  if (PyUnicode_Check(given.ptr())) throw nb::type_error("interfaces are a list of names, not one str");
  std::vector<std::string> names;
  for (const nb::handle each : nb::iter(given)) {
    if (!nb::try_cast<std::string>(each, names.emplace_back())) throw nb::type_error("an interface is a name: str");
  }
  return names;
}

// How long the end of a participant waits for handlers that run.
constexpr std::chrono::milliseconds patience_at_end{500};

}  // namespace

service_options to_service_options(nb::handle threads, nb::handle queue, bool replace_waiting, nb::handle max_clients,
                                   nb::handle interfaces, nb::handle transports, bool recorded) {
  return {.threads = count_of(threads, "threads"),
          .queue = count_of(queue, "queue"),
          .replace_waiting = replace_waiting,
          .max_clients = count_of(max_clients, "max_clients"),
          .interfaces = names_of(interfaces),
          .recorded = recorded,
          .transports = to_transports(transports)};
}

std::shared_ptr<offered_service> offered_service::serve(session& by, const std::string& name, settings how,
                                                        nb::object function, bool takes_call) {
  const auto made = std::make_shared<offered_service>(by, by.full_name(name), std::move(function), takes_call);
  result outcome;
  try {
    outcome = by.call([made, how = std::move(how)](orc::participant& on) { return made->start(on, how); });
  } catch (...) {
    made->abandon(by);
    throw;
  }
  if (!made->service_) made->end();
  if (outcome.code() != errc::no_broker) check(outcome);
  by.add(made);
  return made;
}

offered_service::offered_service(session& by, std::string name, nb::object function, bool takes_call)
    : by_(&by), name_(std::move(name)), handler_(std::make_shared<python_handler>(std::move(function), takes_call)) {}

offered_service::~offered_service() { detail::leave_to_participant(std::move(service_)); }

// Again and again while no broker answers: session::call.
result offered_service::start(orc::participant& on, const settings& how) {
  orc::service made;
  {
    const std::lock_guard lock(starting_);
    made = std::move(service_);
  }
  made = {};
  made = detail::serve_raw(
      on, "/" + name_, how.request, how.reply,
      [handler = handler_](std::span<const std::byte> request, call_context& context, detail::reply_writer& reply) {
        handler->run(request, context, reply);
      },
      how.options, patience_at_end);
  const result outcome = made.result();
  const std::lock_guard lock(starting_);
  if (!abandoned_) service_ = std::move(made);
  return outcome;
}

// Ctrl-C, while start() may be running.
void offered_service::abandon(session& by) {
  end();
  orc::service left;
  without_gil([&]() noexcept {
    const std::lock_guard lock(starting_);
    abandoned_ = true;
    left = std::move(service_);
  });
  if (!left) return;
  by.with_participant([&](orc::participant&) {
    left = {};
    return true;
  });
}

service_figures offered_service::figures() const noexcept {
  return without_gil([&]() noexcept { return service_.figures(); });
}

void offered_service::close() {
  bool has_ended = false;
  while (by_ != nullptr && !has_ended) {
    has_ended = by_->with_participant([&](orc::participant&) {
      return detail::withdraw(service_, steady_clock::now() + std::chrono::milliseconds(slice_ms));
    });
    if (!has_ended) raise_signals();
  }
  if (by_ != nullptr) by_->remove(*this);
  end();
}

void offered_service::end() noexcept {
  leave();
  handler_->clear();
}

void bind_offered_service(nb::module_& m) {
  using handle = offered_service_handle;
  nb::class_<handle>(m, "OfferedService", nb::is_final(), "A service that this program offers.")
      .def_prop_ro("name", [](const handle& self) { return self.service->name(); })
      .def_prop_ro("problem",
                   [](const handle& self) -> nb::object {
                     const result& made = self.service->made();
                     return made ? nb::none() : nb::cast(made.error().message());
                   })
      .def("figures",
           [](const handle& self) {
             const service_figures now = self.service->figures();
             return nb::make_tuple(now.clients, now.waiting, now.calls, now.failed, now.refused, now.dropped);
           })
      .def("close", [](const handle& self) { self.service->close(); });
}

}  // namespace orc::python
