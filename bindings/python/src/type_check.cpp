#include "type_check.h"

#include <nanobind/stl/string.h>

#include <string>

#include "errors.h"
#include "gil.h"
#include "options.h"
#include "orc/schema.h"

namespace orc::python {

void bind_type_check(nb::module_& m) {
  m.def(
      "check_types",
      [](nb::handle published, nb::handle expected, const std::string& publisher) {
        const type_description there = to_type(published);
        const type_description here = to_type(expected);
        check(without_gil([&]() noexcept { return orc::check_types(there, here, publisher); }));
      },
      nb::arg("published"), nb::arg("expected"), nb::arg("publisher"),
      "Raises TypeMismatch when a subscriber that expects `expected` cannot read samples of `published`, and "
      "BadArgument when one of the schemas cannot be read. `publisher` names the publisher for the text.");
}

}  // namespace orc::python
