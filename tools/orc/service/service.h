// `orc service`: one function per subcommand, each in the file of its name. They add the subcommand to `service` and
// set `exit_code` when it has run.
#pragma once

#include <string>

#include "orc/calls/find_services.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/support/json.h"

namespace orc::cli {

void add_service_list(CLI::App& service, int& exit_code);
void add_service_info(CLI::App& service, int& exit_code);
void add_service_call(CLI::App& service, int& exit_code);
void add_service_echo(CLI::App& service, int& exit_code);

// Adds the required positional SERVICE, checked for being a name.
void add_service_argument(CLI::App& command, std::string& service);
// What to say when the question for `service` failed; of an unknown one with a near name that there is.
[[nodiscard]] std::string failure_of_service(const std::string& service, directory& from, const result& failure);
// "arm.Close (struct, hash 0x...)", or "bytes".
[[nodiscard]] std::string type_of_messages(const topic_type& type);
// "gripper, tool"; "-" when there is none.
[[nodiscard]] std::string interfaces_text(const service_description& service);
[[nodiscard]] json_value json_of(const service_description& service);

}  // namespace orc::cli
