// The parameters of a system and their values, asked again and again.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "orc/directory.h"
#include "orc/parameters.h"
#include "orc/participant.h"
#include "tools/orc/top/program_figures.h"

namespace orc::cli {

// Asks at most 64 programs for at most 256 values each. A program that did not answer is asked for one value only until
// it answers, and all such programs at the same time: together they delay a look by a quarter of a second. One thread.
class parameter_watch {
 public:
  // Both must outlive the watch.
  parameter_watch(directory& from, participant& by) noexcept : directory_(from), participant_(by) {}

  // Fills `found` with the parameters and their values. Returns closed when `ends` is true between two questions. Fails
  // as list_parameters does.
  [[nodiscard]] result look(const std::function<bool()>& ends, program_figures& found);

 private:
  using parameters = std::vector<parameter_description>;

  [[nodiscard]] result ask(const parameters& some, std::chrono::milliseconds timeout, program_figures& found);
  [[nodiscard]] result ask_silent(const std::vector<parameters>& programs, program_figures& found);

  directory& directory_;
  participant& participant_;
  std::set<std::string> silent_;  // programs that did not answer, by participant_state::id
};

}  // namespace orc::cli
