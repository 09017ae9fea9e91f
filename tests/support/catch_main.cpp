// Catch2 2 only (3 brings its own main as a library); compiled once for all test executables.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
