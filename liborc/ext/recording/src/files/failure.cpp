#include "files/failure.h"

#include <cerrno>
#include <system_error>

namespace orc::recording::detail {

result system_failure(std::string_view what, const std::string& path, int error_number) {
  errc code = errc::system_error;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS) code = errc::no_permission;
  if (error_number == EMFILE || error_number == ENFILE) code = errc::no_descriptors;
  return {code, "cannot " + std::string(what) + " " + path + ": " + std::generic_category().message(error_number)};
}

result broken(const std::string& path, std::string_view what) {
  return {errc::bad_argument, path + ": " + std::string(what)};
}

}  // namespace orc::recording::detail
