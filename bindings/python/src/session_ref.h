// A reference to a session, visible to the garbage collector. With the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace orc::python {

class session;

// The session is a Python object, so that the collector finds this cycle: an object keeps a participant or its handles,
// and the participant's log is a method of that object.
class session_ref {
 public:
  explicit session_ref(std::unique_ptr<session> made);
  // Of its Python object. Throws TypeError.
  explicit session_ref(nanobind::handle object);

  [[nodiscard]] session* operator->() const noexcept { return session_; }
  [[nodiscard]] session& operator*() const noexcept { return *session_; }
  [[nodiscard]] PyObject* object() const noexcept { return object_.ptr(); }

 private:
  nanobind::object object_;
  session* session_;
};

// tp_traverse of a class with a session_ref `owner`.
template <typename Handle>
int traverse_owner(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (nanobind::inst_ready(self)) Py_VISIT(nanobind::inst_ptr<Handle>(self)->owner.object());
  return 0;
}

void bind_session(nanobind::module_& m);

}  // namespace orc::python
