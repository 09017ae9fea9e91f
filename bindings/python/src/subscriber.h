// The receiving end of a topic.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "session.h"
#include "session_ref.h"
#include "subscription.h"

namespace orc::python {

// With the GIL. Copies are the same subscription.
struct subscriber_handle {
  session_ref owner;
  std::shared_ptr<subscription> same;
  std::string topic;
  nanobind::object codec;  // orc._typed.codec.Typed, or None

  [[nodiscard]] bool wait_connected(int timeout_ms);
};

void bind_subscriber(nanobind::module_& m);

}  // namespace orc::python
