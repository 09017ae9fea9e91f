// The type of a service's own topic, which describes the service, and its samples, both as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calls/call_message.h"
#include "orc/calls/find_services.h"
#include "orc/calls/service.h"
#include "orc/type_description.h"

namespace orc::detail {

// orc.Service with a JSON schema; its member x-orc-service has the types of requests and replies, and the interfaces.
// Schemas that do not fit are left out.
[[nodiscard]] type_description service_type(const call_types& types, const std::vector<std::string>& interfaces);
// orc.Call with a JSON schema of a call_record; its member x-orc-call has the types of requests and replies. Schemas
// that do not fit are left out.
[[nodiscard]] type_description call_record_type(const call_types& types);
// Fills request, reply and interfaces. False: the schema does not describe a service.
[[nodiscard]] bool read_service_type(const type_description& type, service_description& found);
// The types of requests and replies. False: their schemas were left out, or this is no such type.
[[nodiscard]] bool read_schemas(const type_description& type, type_description& request, type_description& reply);
[[nodiscard]] std::string to_json(const service_figures& figures);

}  // namespace orc::detail
