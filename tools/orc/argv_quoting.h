// Where a command takes a list of words, CLI11 (2.1 to 2.4 at least, Option::_add_result) takes a word like [1,2]
// apart: to it that is a list. Samples for `orc topic pub` are often JSON, and so are requests of `orc service call`,
// values of `orc param set`, and arguments of the programs that `orc replay` starts, so such words are marked before
// CLI11 sees them. So are negative numbers of `orc param set`, which CLI11 takes for options.
#pragma once

#include <string>
#include <vector>

namespace orc::cli {

// The arguments of main() in the order CLI11 wants them, last first and without the program's name. Words as above
// are marked.
[[nodiscard]] std::vector<std::string> quoted_arguments(int argc, char** argv);

// The word as it was typed.
[[nodiscard]] std::string unquoted(const std::string& word);

}  // namespace orc::cli
