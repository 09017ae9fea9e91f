// Parameters of other programs. Names and patterns are full ones, as in orc/directory.h: participant::resolve() makes
// them. Functions with a `timeout` return within 50 ms when `stop` is requested, with what timed_out means; a question
// to the broker still has its time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "orc/directory.h"
#include "orc/parameters/parameter_description.h"
#include "orc/parameters/parameter_value.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

class participant;

// Returns the parameters whose names match `pattern` (watch_options::topics), in the order of their names. Waits and
// fails as directory::topics does. Leaves out those whose description cannot be read.
[[nodiscard]] ORC_API result list_parameters(directory& in, std::string_view pattern,
                                             std::vector<parameter_description>& found);

// Returns one parameter.
// - unknown_topic: no program has it; the message says so when it is a topic of another kind.
// - unknown_type: its description cannot be read.
// - the failures of directory::describe and find_type.
[[nodiscard]] ORC_API result describe_parameter(directory& in, std::string_view name, parameter_description& found);

// Asks the parameter's program for the value in force. Waits at most `timeout` for its answer, and for the broker as
// directory::describe does. Programs that follow a value request the topic `name` instead.
// - unknown_topic: no program has this parameter, or its program has just ended.
// - timed_out: the program did not answer.
// - refused: it has no place for another client, or too many requests wait.
// - closed, forked, no_memory, no_broker, and other failures of directory::describe.
[[nodiscard]] ORC_API result get_parameter(orc::participant& by, directory& in, std::string_view name,
                                           std::chrono::nanoseconds timeout, parameter_value& value,
                                           const std::stop_token& stop = {});

// What became of one parameter.
struct parameter_outcome {
  std::string name = {};       // of the parameter
  orc::result outcome = {};    // as get_parameter or set_parameter returns it
  parameter_value value = {};  // in force, when the outcome is ok
};

// The same for many, in their order: `outcomes` has one entry for each, and `timeout` holds for all together. Fails as
// directory::topics does.
[[nodiscard]] ORC_API result get_parameters(orc::participant& by, directory& in,
                                            const std::vector<parameter_description>& parameters,
                                            std::chrono::nanoseconds timeout, std::vector<parameter_outcome>& outcomes,
                                            const std::stop_token& stop = {});

// Sets a parameter, and returns in `value` what is in force then: a float has fewer digits than a double. A whole
// number is taken for a number, and a number like 3.0 for a whole one. Waits and fails as get_parameter does, and
// `value` is then untouched.
// - bad_argument: the program refused the value; the message says why and what is allowed.
// - refused: also when the parameter is read-only.
// - timed_out: the value may come into force later.
[[nodiscard]] ORC_API result set_parameter(orc::participant& by, directory& in, std::string_view name,
                                           std::chrono::nanoseconds timeout, parameter_value& value,
                                           const std::stop_token& stop = {});

// Sets a parameter as set_parameter does, without waiting for its program: waits for the broker only. Calls `ended`
// once, with what set_parameter would return, from a thread of ORC or from this one. It must not throw, and must not
// destroy the participant.
ORC_API void start_set_parameter(orc::participant& by, directory& in, std::string_view name,
                                 std::chrono::nanoseconds timeout, parameter_value value,
                                 std::function<void(parameter_outcome)> ended);

// Sets parameters, in the order of their names. `outcomes` has one entry for each, as set_parameter returns it. One
// that fails does not keep the others from being set. Waits at most `timeout` in all. Fails as directory::topics does.
[[nodiscard]] ORC_API result set_parameters(orc::participant& by, directory& in,
                                            const std::map<std::string, parameter_value>& values,
                                            std::chrono::nanoseconds timeout, std::vector<parameter_outcome>& outcomes,
                                            const std::stop_token& stop = {});

}  // namespace orc
