// How --help describes an option.
#include "tools/command_line/help.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "support/catch.h"

using orc::test::contains;

TEST_CASE("command line help: types and ranges are readable", "[unit]") {
  CLI::App app("A program", "program");
  orc::cli::use_readable_help(app);
  int rounds = 5;
  double seconds = 0.5;
  std::uint64_t count = 0;
  std::string mode = "block";
  std::string name;
  std::vector<std::string> sizes{"10", "1k"};
  bool loud = false;
  bool quiet = false;
  app.add_option("--rounds", rounds, "help")->check(orc::cli::between(1, 1000))->capture_default_str();
  app.add_option("--seconds", seconds, "help")->check(orc::cli::between(1e-6, 1e9))->capture_default_str();
  app.add_option("--count", count, "help")->check(orc::cli::between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  orc::cli::one_of(app.add_option("--mode", mode, "help"), {"block", "spin"})->capture_default_str();
  app.add_option("--size", sizes, "help")->type_name("SIZE")->delimiter(',')->capture_default_str();
  app.add_option("--listen", name, "help")->type_name("ADDRESS:PORT")->capture_default_str();
  app.add_option("--within", rounds, "help")->type_name("FROM:TO")->check(orc::cli::between(1, 9));
  app.add_option("file", sizes, "help")->type_name("FILE");
  app.add_option("--trigger", name, "help")->type_name("NAME")->expected(0, 1);
  auto* const first = app.add_flag("--loud", loud, "help");
  app.add_flag("--quiet", quiet, "help")->excludes(first);
  CLI::App* const sub = app.add_subcommand("sub", "Inherits the form");
  sub->add_option("name", name, "help")->required()->type_name("");
  const std::string help = app.help();
  INFO(help);
  CHECK_THAT(help, contains("--rounds N (1-1000, default 5)"));
  CHECK_THAT(help, contains("--seconds N (0.000001-1000000000, default 0.5)"));
  CHECK_THAT(help, contains("--count N (1-1000000000)"));
  CHECK_THAT(help, contains("--mode block|spin (default block)"));
  CHECK_THAT(help, contains("--size SIZE,... (default 10,1k)"));
  CHECK_THAT(help, contains("--listen ADDRESS:PORT  "));
  CHECK_THAT(help, contains("--within FROM:TO (1-9)"));
  CHECK_THAT(help, contains("FILE ..."));
  CHECK_THAT(help, !contains("FILE FILE"));
  CHECK_THAT(help, contains("--trigger [NAME]"));
  CHECK_THAT(help, !contains("[]"));
  CHECK_THAT(help, contains("--quiet (not with --loud)"));
  CHECK_THAT(sub->help(), contains("sub [OPTIONS] NAME"));
  CHECK_THAT(sub->help(), contains("NAME (required)"));
}

TEST_CASE("command line help: a number out of range is told the range", "[unit]") {
  CLI::App app("A program", "program");
  int rounds = 0;
  double rate = 0;
  app.add_option("--rounds", rounds, "help")->check(orc::cli::between(1, 1000));
  app.add_option("--rate", rate, "help")->check(orc::cli::between(1e-6, 1e6));
  const auto said = [&app](const char* option, const char* number) {
    try {
      app.parse(std::vector<std::string>{number, option});
    } catch (const CLI::ParseError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(said("--rounds", "1000") == "nothing");
  for (const char* wrong : {"1001", "0", "-1", "1.5", "five", ""}) {
    INFO(wrong);
    CHECK(said("--rounds", wrong) == "--rounds: '" + std::string(wrong) + "' is not a whole number from 1 to 1000");
  }
  CHECK(said("--rate", "0.000001") == "nothing");
  CHECK(said("--rate", "fast") == "--rate: 'fast' is not a number from 0.000001 to 1000000");
}

TEST_CASE("command line help: a word that an option does not take names those that it takes", "[unit]") {
  CLI::App app("A program", "program");
  std::string mode;
  orc::cli::one_of(app.add_option("--mode", mode, "help"), {"block", "spin"});
  const auto said = [&app](const char* word) {
    try {
      app.parse(std::vector<std::string>{word, "--mode"});
    } catch (const CLI::ParseError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(said("spin") == "nothing");
  CHECK(said("spim") == "--mode: 'spim' is not block or spin: did you mean spin?");
  CHECK(said("other") == "--mode: 'other' is not block or spin");
}
