// Finds services by the interfaces that they implement. Names are full ones, as in orc/directory.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orc/directory.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// The name of the type of a service's own topic.
inline constexpr std::string_view service_type_name = "orc.Service";

// A service, as its program describes it.
struct service_description {
  std::string name = {};                     // full name: participant::call takes it after a slash
  participant_state server = {};             // the program that serves it
  topic_type request = {};                   // type of the requests; all empty: bytes
  topic_type reply = {};                     // type of the replies; all empty: bytes
  std::vector<std::string> interfaces = {};  // service_options::interfaces
};

// Returns the services that implement `interface`, or all when it is empty, in the order of their names. Waits and
// fails as directory::topics does. Leaves out services whose description cannot be read.
[[nodiscard]] ORC_API result find_services(directory& in, std::string_view interface,
                                           std::vector<service_description>& found);

// Returns the service `name`, and the types of its requests and replies with their schemas; empty ones are bytes. Waits
// and fails as directory::describe does.
// - unknown_topic: no program serves this name; the message says so when it is a topic of another kind;
// - unknown_type: the schemas are too large for the service's description, or it cannot be read.
[[nodiscard]] ORC_API result find_service(directory& in, std::string_view name, service_description& found,
                                          type_description& request, type_description& reply);

}  // namespace orc
