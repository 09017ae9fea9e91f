// The names of CLI11 that declarations need. CLI/CLI.hpp takes seconds to compile: include it in source files only.
#pragma once

namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
