// The texts of transports, priorities and the version.
#include "orc/options.h"
#include "orc/version.h"
#include "wire/control.h"

#define ORC_TEXT_OF(x) #x
#define ORC_TEXT(x) ORC_TEXT_OF(x)

namespace orc {

const char* version() noexcept {
  return ORC_TEXT(ORC_VERSION_MAJOR) "." ORC_TEXT(ORC_VERSION_MINOR) "." ORC_TEXT(ORC_VERSION_PATCH);
}

std::string_view to_string(priority p) noexcept {
  switch (p) {
    case priority::bulk: return "bulk";
    case priority::control: return "control";
    case priority::normal: break;
  }
  return "normal";
}

std::string_view to_string(transport t) noexcept { return wire::name_of(static_cast<wire::transport>(t)); }

}  // namespace orc
