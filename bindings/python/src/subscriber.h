// The receiving end of a topic.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "message.h"
#include "orc.h"
#include "session.h"

namespace orc::python {

// With the GIL. Copies are the same subscription.
struct subscriber_handle {
  std::shared_ptr<session> owner;
  orc::subscriber end;
  std::string topic;

  [[nodiscard]] bool wait_connected(int timeout_ms);
};

// A sample, or None when there is none; raises for anything else. A slice at a time, signals are looked for in between.
[[nodiscard]] nanobind::object receive(orc::subscriber& from, int timeout_ms,
                                       message (orc::subscriber::*how)(int) noexcept);

void bind_subscriber(nanobind::module_& m);

}  // namespace orc::python
