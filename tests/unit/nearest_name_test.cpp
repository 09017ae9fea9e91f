// Names that people mistype, and what they are asked.
#include "tools/command_line/nearest_name.h"

#include <string>
#include <vector>

#include "support/catch.h"

using orc::cli::did_you_mean;
using orc::cli::edit_distance;
using orc::cli::nearest_name;

TEST_CASE("nearest name: the distance counts letters that differ, are missing, or are swapped", "[unit]") {
  CHECK(edit_distance("", "", 3) == 0);
  CHECK(edit_distance("list", "list", 3) == 0);
  CHECK(edit_distance("LIST", "list", 3) == 0);
  CHECK(edit_distance("lst", "list", 3) == 1);
  CHECK(edit_distance("liist", "list", 3) == 1);
  CHECK(edit_distance("lisp", "list", 3) == 1);
  CHECK(edit_distance("lits", "list", 3) == 1);
  CHECK(edit_distance("verison", "version", 3) == 1);
  CHECK(edit_distance("kitten", "sitting", 3) == 3);
  CHECK(edit_distance("", "abc", 3) == 3);
  CHECK(edit_distance("kitten", "sitting", 2) > 2);
  CHECK(edit_distance("a", "abcdef", 3) > 3);
}

TEST_CASE("nearest name: the nearest of several, and none when none is near", "[unit]") {
  const std::vector<std::string> commands{"list", "info", "echo", "hz", "pub"};
  CHECK(nearest_name("lst", commands) == "list");
  CHECK(nearest_name("hx", commands) == "hz");
  CHECK(nearest_name("ehco", commands) == "echo");
  CHECK(nearest_name("bogus", commands).empty());
  CHECK(nearest_name("", commands).empty());
  CHECK(nearest_name("x", std::vector<std::string>{"y", "z"}).empty());
  CHECK(nearest_name("lst", {}).empty());
  const std::vector<std::string> topics{"robot_control", "robot_position", "robot_positions"};
  CHECK(nearest_name("robot_positon", topics) == "robot_position");
  CHECK(nearest_name("camera_position", topics).empty());
}

TEST_CASE("nearest name: the question follows a sentence, or is nothing", "[unit]") {
  const std::vector<std::string> commands{"list", "info"};
  CHECK(did_you_mean("lst", commands) == ": did you mean list?");
  CHECK(did_you_mean("bogus", commands).empty());
}
