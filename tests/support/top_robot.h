// A robot that `orc top` looks at, in a real terminal.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

#include "support/orc_tool.h"
#include "support/test_node.h"
#include "support/tmux.h"

namespace orc::test {

// A broker, publishers in another process, and a terminal.
class top_robot {
 public:
  explicit top_robot(int columns = 80, int rows = 24)
      : terminal_({"ORC_BROKER=" + broker_.endpoint(), "orc=" + program("orc")}, columns, rows) {
    node_.must("open " + broker_.endpoint());
  }

  broker_process& broker() { return broker_; }
  test_node& node() { return node_; }
  tmux& terminal() { return terminal_; }

  void stream(const std::string& topic, int bytes, int hz, const std::string& transport = "ipc") {
    node_.must("register " + topic + " " + transport);
    node_.must("stream " + topic + " " + std::to_string(bytes) + " " + std::to_string(hz) + " 0");
  }

  // Starts the tool; its process id is then pid().
  void start(const std::string& options = "") {
    terminal_.type_line("clear; stty -g > " + modes_file("before") + "; sh -c 'echo $$ > " + modes_file("pid") +
                        "; exec $orc top " + options + "'");
    const bool started = terminal_.shows("q quit");
    INFO(terminal_.seen());
    REQUIRE(started);
  }
  [[nodiscard]] pid_t pid() const {
    pid_t found = 0;
    std::ifstream(modes_file("pid")) >> found;
    REQUIRE(found > 0);
    return found;
  }
  // Whether the shell shows its own screen again.
  void check_left() {
    const bool left = wait_until([&] {
      return terminal_.state("#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_current_command}") == "0 1 1 bash\n";
    });
    INFO(terminal_.state("#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_current_command}") << terminal_.screen());
    CHECK(left);
  }
  // Whether the shell has its terminal back as it was.
  void check_restored() {
    check_left();
    terminal_.type_line("stty -g | diff - " + modes_file("before") + " && echo modes: $((40 + 2))");
    const bool same = terminal_.shows("modes: 42");
    INFO(terminal_.seen());
    CHECK(same);
  }

 private:
  [[nodiscard]] std::string modes_file(const std::string& name) const { return directory_.file(name); }

  orc::detail::temporary_directory directory_;
  broker_process broker_;
  test_node node_;
  tmux terminal_;
};

}  // namespace orc::test
