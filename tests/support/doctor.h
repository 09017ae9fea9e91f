// `orc doctor` as tests run it and read it.
#pragma once

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/orc_tool.h"

namespace orc::test {

struct checked {
  std::string level;  // ok, note, FAIL
  std::string found;
  std::vector<std::string> fixes;
};

struct diagnosis {
  int exit_code = -1;
  std::string out;
  std::map<std::string, checked> checks;

  [[nodiscard]] const checked& operator[](const std::string& name) const {
    static const checked none{"(no such check)", "", {}};
    const auto found = checks.find(name);
    return found == checks.end() ? none : found->second;
  }
};

// Every line has the form that the help tells.
[[nodiscard]] inline diagnosis read_diagnosis(const tool::outcome& done) {
  static const std::regex check("(ok|note|FAIL) *  ([^: ][^:]*): (.+)");
  diagnosis all{done.exit_code, done.out, {}};
  std::string last;
  std::istringstream lines(done.out);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (line.starts_with("      fix: ")) {
      all.checks[last].fixes.push_back(line.substr(11));
    } else if (std::regex_match(line, parts, check) && parts.position(2) == 6) {
      last = parts[2];
      all.checks[last] = {parts[1], parts[3], {}};
    } else {
      FAIL_CHECK("unexpected line: " << line);
    }
  }
  return all;
}

// With nothing of the machine that runs the test: no broker but the one that is named, a run directory of its own.
class patient {
 public:
  explicit patient(const broker_process& broker) : tool_(broker) {}

  [[nodiscard]] diagnosis examine(const std::string& arguments = "", const std::string& before = "") const {
    return read_diagnosis(tool_.run(before + " $orc doctor " + arguments));
  }
  // Runs the first command that was named for it.
  [[nodiscard]] bool mend(const diagnosis& found, const std::string& name, const std::string& before = "") const {
    if (found[name].fixes.empty()) return false;
    const detail::temporary_directory scratch;
    std::ofstream(scratch.file("fix")) << found[name].fixes.front() << '\n';
    const auto done = tool_.run(before + " sh " + scratch.file("fix"));
    UNSCOPED_INFO(found[name].fixes.front() << ": " << done.err);
    return done.exit_code == 0;
  }
  [[nodiscard]] const tool& orc() const { return tool_; }

 private:
  tool tool_;
};

// The first command that is named for it.
[[nodiscard]] inline std::string fix_of(const diagnosis& found, const std::string& name) {
  return found[name].fixes.empty() ? "(none)" : found[name].fixes.front();
}

}  // namespace orc::test
