#include "session_ref.h"

#include "calls/offered_service.h"
#include "session.h"

namespace orc::python {

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  session& of = *nb::inst_ptr<session>(self);
  Py_VISIT(of.sink().callable());
  for (const auto& each : of.services()) Py_VISIT(each->handler().function());
  return of.parameters().traverse(visit, arg);
}

int clear(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) return 0;
  session& of = *nb::inst_ptr<session>(self);
  of.sink().clear();
  of.parameters().clear();
  const auto services = of.services();  // what they drop may change the list
  for (const auto& each : services) each->handler().clear();
  return 0;
}

}  // namespace

session_ref::session_ref(std::unique_ptr<session> made)
    : object_(nb::cast(made.get(), nb::rv_policy::take_ownership)), session_(made.release()) {}

session_ref::session_ref(nb::handle object) : object_(nb::borrow(object)), session_(nb::cast<session*>(object)) {}

void bind_session(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                         {0, nullptr}};
  nb::class_<session>(m, "Session", nb::type_slots(slots), nb::is_final(), "What one participant's objects share.");
}

}  // namespace orc::python
