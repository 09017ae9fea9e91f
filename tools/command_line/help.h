// Help texts for people: "--rounds N (1-100, default 5)" in place of CLI11's "--rounds INT:INT in [1 - 100]=5".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

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
[[nodiscard]] std::string number_text(std::int64_t number);
[[nodiscard]] std::string number_text(std::uint64_t number);

// Checks that an option's number is one of `least` to `most`; --help shows "(1-100)".
template <class Number>
[[nodiscard]] CLI::Validator between(Number least, Number most) {
  using shown = std::conditional_t<std::is_floating_point_v<Number>, double,
                                   std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>;
  const std::string first = number_text(static_cast<shown>(least));
  const std::string last = number_text(static_cast<shown>(most));
  const auto check = [=](const std::string& text) {
    using CLI::detail::lexical_cast;
    Number number{};
    if (lexical_cast(text, number) && number >= least && number <= most) return std::string();
    return "'" + text + "' is not a " + (std::is_integral_v<Number> ? "whole " : "") + "number from " + first + " to " +
           last;
  };
  return CLI::Validator(check, first + "-" + last, "number");
}

// Takes one of these words only; --help shows "block|spin". Returns the option.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words);

}  // namespace orc::cli
