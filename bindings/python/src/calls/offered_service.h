// A service that a program offers, for orc/_calls/service.py.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>

#include "calls/python_handler.h"
#include "orc/calls.h"

namespace orc::python {

class session;

// Its session owns it, and the Python object, which does not keep the session. All calls with the GIL, but start().
class offered_service {
 public:
  struct settings {
    type_description request;
    type_description reply;
    service_options options;
  };

  // Offers it. Raises what Participant.serve lists.
  [[nodiscard]] static std::shared_ptr<offered_service> serve(session& by, const std::string& name, settings how,
                                                              nanobind::object function, bool takes_call);

  offered_service(session& by, std::string name, nanobind::object function, bool takes_call);
  ~offered_service();
  offered_service(const offered_service&) = delete;
  offered_service& operator=(const offered_service&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // What the broker answered at first.
  [[nodiscard]] const result& made() const noexcept { return service_.result(); }
  [[nodiscard]] service_figures figures() const noexcept;
  // Withdraws it, and waits for its handlers, except that of this thread. Ctrl-C ends the wait only.
  void close();

  // The session ends, and with it the service: leave(), and end() when its handlers have returned.
  void leave() noexcept { by_ = nullptr; }
  void end() noexcept;
  [[nodiscard]] python_handler& handler() const noexcept { return *handler_; }

 private:
  [[nodiscard]] result start(orc::participant& on, const settings& how);
  void abandon(session& by);

  session* by_;  // null: it has ended
  const std::string name_;
  const std::shared_ptr<python_handler> handler_;
  std::mutex starting_;  // guards the rest until serve() has returned
  bool abandoned_ = false;
  orc::service service_;
};

// Its Python object.
struct offered_service_handle {
  std::shared_ptr<offered_service> service;
};

// Raises BadArgument, TypeError.
[[nodiscard]] service_options to_service_options(nanobind::handle threads, nanobind::handle queue, bool replace_waiting,
                                                 nanobind::handle max_clients, nanobind::handle interfaces,
                                                 nanobind::handle transports, bool recorded);

void bind_offered_service(nanobind::module_& m);

}  // namespace orc::python
