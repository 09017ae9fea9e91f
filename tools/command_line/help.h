// Help texts for people: "--rounds N (1-100, default 5)" in place of CLI11's "--rounds INT:INT in [1 - 100]=5".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// Call it before the application gets subcommands: they inherit the form of its help.
void use_readable_help(CLI::App& app);

// An option or argument as --help names it: "--count", "TOPIC".
[[nodiscard]] std::string shown_name(const CLI::Option& option);

// What stands for an option's value in --help: "N", "FILE", "block|spin".
[[nodiscard]] std::string value_name(const CLI::Option& option);
// Whether it takes any number of values.
[[nodiscard]] bool takes_several(const CLI::Option& option);

// A number as --help shows it: "5", "0.1", "1000000000".
[[nodiscard]] std::string number_text(double number);

// Checks that an option's number is one of `least` to `most`; --help shows "(1-100)".
[[nodiscard]] CLI::Validator between(int least, int most);
[[nodiscard]] CLI::Validator between(std::uint64_t least, std::uint64_t most);
[[nodiscard]] CLI::Validator between(double least, double most);

// Takes one of these words only; --help shows "block|spin". Returns the option.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words);

}  // namespace orc::cli
