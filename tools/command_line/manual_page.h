// A page for man(1), from the same texts as --help.
#pragma once

#include <string>

#include "tools/command_line/description.h"

namespace orc::cli {

struct manual_page {
  int section;           // 1: commands, 8: system administration
  std::string version;   // "orc 0.1.0"
  std::string see_also;  // "orc-broker(8)"
};

[[nodiscard]] std::string troff(const command_description& program, const manual_page& page);

}  // namespace orc::cli
