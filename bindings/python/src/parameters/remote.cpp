// Questions to the programs that have parameters. A helper thread asks, so that Ctrl-C ends the wait.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <vector>

#include "errors.h"
#include "orc/parameters.h"
#include "parameters/parameter.h"
#include "parameters/value.h"
#include "session.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

using outcomes = std::vector<parameter_outcome>;
using nanoseconds = std::chrono::nanoseconds;

// What a question needs. The helper thread owns it, too, when its caller has gone.
template <typename Found>
struct question {
  std::shared_ptr<orc::directory> directory;
  nanoseconds timeout;
  std::stop_token stop;
  Found found;
};

// `ask` runs without the GIL. Ends it when the session closes, or a signal handler raises.
template <typename Found>
[[nodiscard]] Found answer(session& by, double timeout, Found found,
                           std::function<result(orc::participant&, question<Found>&)> ask) {
  struct stopped_at_end : std::stop_source {
    ~stopped_at_end() { request_stop(); }
  } stop;
  const std::stop_callback closes(by.closing(), [&] { stop.request_stop(); });
  const auto limit = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(timeout));
  const auto asked =
      std::make_shared<question<Found>>(question<Found>{by.directory(), limit, stop.get_token(), std::move(found)});
  const result outcome = by.call([asked, ask](orc::participant& on) { return ask(on, *asked); });
  if (!outcome && by.closing().stop_requested()) fail(errc::closed);
  check(outcome);
  return std::move(asked->found);
}

[[nodiscard]] nb::list to_list(const outcomes& all) {
  nb::list made;
  for (const parameter_outcome& each : all) {
    const nb::object none = nb::none();
    made.append(each.outcome
                    ? nb::make_tuple(each.name, to_python(each.value), none)
                    : nb::make_tuple(each.name, none, error_of(each.outcome.code(), each.outcome.error().message())));
  }
  return made;
}

[[nodiscard]] nb::object get(session& by, const std::string& name, double timeout) {
  return to_python(answer<parameter_value>(by, timeout, {}, [name](orc::participant& on, auto& asked) {
    return get_parameter(on, *asked.directory, name, asked.timeout, asked.found, asked.stop);
  }));
}

[[nodiscard]] nb::object set(session& by, const std::string& name, nb::handle value, double timeout) {
  return to_python(answer<parameter_value>(by, timeout, to_value(value), [name](orc::participant& on, auto& asked) {
    return set_parameter(on, *asked.directory, name, asked.timeout, asked.found, asked.stop);
  }));
}

[[nodiscard]] result find(orc::directory& in, const std::string& pattern, std::vector<parameter_description>& found) {
  std::vector<topic_state> topics;
  if (result listed = in.topics(pattern, topics); !listed) return listed;
  for (const topic_state& each : topics) {
    if (each.publication && each.publication->type && each.publication->type->name == parameter_type_name)
      found.push_back({.name = each.name, .owner = each.publication->participant});
  }
  return {};
}

// `can_be_set`: without those that are read-only.
[[nodiscard]] nb::list get_all(session& by, const std::string& pattern, bool can_be_set, double timeout) {
  return to_list(answer<outcomes>(by, timeout, {}, [pattern, can_be_set](orc::participant& on, auto& asked) {
    std::vector<parameter_description> all;
    result known = can_be_set ? list_parameters(*asked.directory, pattern, all) : find(*asked.directory, pattern, all);
    if (!known) return known;
    std::erase_if(all, [](const parameter_description& each) { return each.read_only; });
    return get_parameters(on, *asked.directory, all, asked.timeout, asked.found, asked.stop);
  }));
}

[[nodiscard]] nb::list set_all(session& by, const nb::dict& values, double timeout) {
  std::map<std::string, parameter_value> wanted;
  for (const auto [name, value] : values) wanted.emplace(nb::cast<std::string>(name), to_value(value));
  return to_list(answer<outcomes>(by, timeout, {}, [wanted](orc::participant& on, auto& asked) {
    return set_parameters(on, *asked.directory, wanted, asked.timeout, asked.found, asked.stop);
  }));
}

}  // namespace

void bind_remote_parameters(nb::module_& m) {
  m.def("get_parameter", &get, nb::arg("by"), nb::arg("name"), nb::arg("timeout"));
  m.def("set_parameter", &set, nb::arg("by"), nb::arg("name"), nb::arg("value"), nb::arg("timeout"));
  m.def("get_parameters", &get_all, nb::arg("by"), nb::arg("pattern"), nb::arg("can_be_set"), nb::arg("timeout"),
        "Returns name, value or None, error or None of each.");
  m.def("set_parameters", &set_all, nb::arg("by"), nb::arg("values"), nb::arg("timeout"), "The same.");
}

}  // namespace orc::python
