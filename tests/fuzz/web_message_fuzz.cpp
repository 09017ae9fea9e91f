// The messages of clients of orc-web: any bytes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/web/page_protocol/client_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  orc::web::client_message found;
  std::string problem;
  const auto outcome = orc::web::parse({reinterpret_cast<const char*>(data), size}, found, problem);
  if ((outcome == orc::web::parse_outcome::bad_field) == problem.empty()) std::abort();
  if (outcome == orc::web::parse_outcome::ok && found.op == orc::web::client_op::none) std::abort();
  if (found.id < -1 || found.id > std::int64_t{0xffffffff}) std::abort();
  return 0;
}
