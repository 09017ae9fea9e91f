// Completion for bash, zsh and fish, and the manual pages, as the programs write them for installation.
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/orc_tool.h"

using namespace orc::test;

namespace {

// The pages of both programs, and shells that complete with them. The programs come first in PATH.
class shells {
 public:
  explicit shells(const broker_process& broker) : orc_(broker) {
    for (const char* name : {"orc", "orc-broker"}) {
      std::string why;
      if (!run_command({program(name), "--generate", pages()}, why)) throw std::runtime_error(why);
    }
  }

  [[nodiscard]] std::string pages() const { return pages_.path().string(); }

  [[nodiscard]] tool::outcome run(const std::string& command) const {
    return orc_.run("PATH=$(dirname \"$orc\"):$PATH; cd " + pages() + "; " + command);
  }
  [[nodiscard]] bool have(const std::string& name) const {
    return orc_.run("command -v " + name + " >/dev/null").exit_code == 0;
  }

  // What bash offers for the last of these words, which may be '' or begun.
  [[nodiscard]] std::string bash(const std::string& words) const {
    const std::string name = words.substr(0, words.find(' '));
    const auto done = run("source ./" + name + "; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                          "eval \"$(complete -p " +
                          name + " | sed 's/.* -F \\([^ ]*\\) .*/\\1/')\"; echo \"${COMPREPLY[@]}\"");
    INFO(words << ": " << done.err);
    CHECK(done.exit_code == 0);
    return done.out.substr(0, done.out.size() - 1);
  }
  [[nodiscard]] std::string fish(const std::string& line) const {
    const auto done = run("HOME=$PWD fish --no-config -c 'source orc.fish; source orc-broker.fish; complete -C \"" +
                          line + "\"' | cut -f 1 | sort | paste -s -d ' '");
    INFO(line << ": " << done.err);
    CHECK(done.err.empty());
    return done.out.substr(0, done.out.size() - 1);
  }

 private:
  tool orc_;
  orc::detail::temporary_directory pages_;
};

const std::vector<std::string> commands = {
    "orc",          "orc top",       "orc topic",      "orc topic list", "orc topic info", "orc topic echo",
    "orc topic hz", "orc topic pub", "orc host list",  "orc bench",      "orc bench rtt",  "orc bench load",
    "orc doctor",   "orc replay",    "orc param list", "orc param set",  "orc param load", "orc-broker"};

// The options that --help describes.
std::set<std::string> options_of(const shells& with, const std::string& command) {
  const std::string help = with.run(command + " --help").out;
  const std::regex at_line_start("\n +(?:-[a-z],)?(--[a-z-]+)");
  std::set<std::string> options;
  for (std::sregex_iterator match(help.begin(), help.end(), at_line_start), end; match != end; ++match)
    options.insert((*match)[1]);
  return options;
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

TEST_CASE("completion: bash offers commands, options and their values") {
  const broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  CHECK(with.bash("orc ''") == "top web topic service param type record play replay bridge log host bench doctor");
  CHECK(with.bash("orc d") == "doctor");
  CHECK(with.bash("orc topic ''") == "list info echo hz pub");
  CHECK(with.bash("orc bench ''") == "rtt load");
  CHECK(with.bash("orc topic pub --pri") == "--priority");
  CHECK(with.bash("orc topic pub x --priority ''") == "bulk normal control");
  CHECK(with.bash("orc topic pub x --priority = n") == "normal");  // bash splits at =
  CHECK(with.bash("orc topic pub x --priority =") == "bulk normal control");
  CHECK(with.bash("orc topic echo x --timeout ''").empty());
  CHECK(with.bash("orc topic echo --timeout 3 x --on") == "--once");
  CHECK(with.bash("orc topic nonsense ''").empty());
  CHECK(words_of(with.bash("orc doctor --json _orc")) == std::set<std::string>{"_orc", "_orc-broker"});  // files
  CHECK(with.bash("orc-broker --max-t") == "--max-topics");
  CHECK(words_of(with.bash("orc-broker --config orc.")) == std::set<std::string>{"orc.1", "orc.fish"});
  CHECK(with.bash("orc-broker ''").empty());
}

TEST_CASE("completion: bash offers every option of --help, and no other") {
  const broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  for (const auto& command : commands) {
    INFO(command);
    const auto options = options_of(with, command);
    CHECK(options.count("--help") == 1);
    CHECK(words_of(with.bash(command + " --")) == options);
  }
}

TEST_CASE("completion: the broker's topics complete, and without a broker there are none") {
  broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  CHECK(with.bash("orc topic echo ''").empty());
  broker.start();
  orc::participant node(broker.options());
  for (const char* topic : {"arm/position", "arm/velocity", "camera"}) REQUIRE(node.register_topic(topic));
  for (const char* command : {"info", "echo", "hz", "pub"}) {
    INFO(command);
    CHECK(with.bash("orc topic " + std::string(command) + " ''") == "arm/position arm/velocity camera");
  }
  CHECK(with.bash("orc topic echo --once arm/v") == "arm/velocity");
  CHECK(with.bash("orc topic echo camera ''").empty());
  CHECK(with.bash("orc topic list ''").empty());
}

TEST_CASE("completion: fish completes as bash does") {
  broker_process broker;
  const shells with(broker);
  if (!with.have("fish")) return skip("no fish");
  orc::participant node(broker.options());
  for (const char* topic : {"arm/position", "camera"}) REQUIRE(node.register_topic(topic));
  CHECK(with.fish("orc ") == "bench bridge doctor host log param play record replay service top topic type web");
  CHECK(with.fish("orc topic e") == "echo");
  CHECK(with.fish("orc topic pub x --priority ") == "bulk control normal");
  CHECK(with.fish("orc topic echo x --timeout ").empty());
  CHECK(with.fish("orc topic echo ") == "arm/position camera");
  CHECK(with.fish("orc topic echo --once c") == "camera");
  CHECK(with.fish("orc topic echo camera ").empty());
  CHECK(with.fish("orc-broker --max-t") == "--max-topics");
  for (const auto& command : commands) {
    INFO(command);
    CHECK(words_of(with.fish(command + " --")) == options_of(with, command));
  }
}

TEST_CASE("completion: zsh reads its scripts") {
  const broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  if (!with.have("zsh")) return skip("no zsh");
  for (const char* name : {"_orc", "_orc-broker"}) {
    const auto done = with.run("zsh --no-rcs -n " + std::string(name));
    CHECK(done.exit_code == 0);
    CHECK(done.err.empty());
  }
}

TEST_CASE("manual pages: groff formats them without a warning, with every option of --help") {
  const broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  if (!with.have("groff")) return skip("no groff (groff-base)");
  std::string text;
  for (const char* page : {"orc.1", "orc-broker.8"}) {
    const auto done = with.run("groff -Tutf8 -ww -man -P-cbou " + std::string(page));
    CHECK(done.exit_code == 0);
    CHECK(done.err.empty());
    for (const char* section : {"NAME\n", "SYNOPSIS\n", "OPTIONS\n", "SEE ALSO\n"})
      CHECK_THAT(done.out, contains(section));
    text += done.out;
  }
  for (const auto& command : commands) {
    for (const auto& option : options_of(with, command)) {
      INFO(command << ' ' << option);
      CHECK_THAT(text, contains(option));
    }
  }
  CHECK_THAT(text, contains("orc topic echo"));
}

TEST_CASE("completion: a directory that cannot be written is an error") {
  const broker_process broker(broker_process::at::nowhere);
  const shells with(broker);
  for (const char* name : {"orc", "orc-broker"}) {
    const auto done = with.run(std::string(name) + " --generate /nonexistent");
    CHECK(done.exit_code == 1);
    CHECK_THAT(done.err, contains("/nonexistent/" + std::string(name) + ": No such file"));
  }
}
