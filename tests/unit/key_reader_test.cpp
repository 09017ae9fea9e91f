// tools/terminal/key_reader: keys from the bytes of a terminal.
#include <utility>
#include <vector>

#include "support/catch.h"
#include "tools/terminal/key_reader.h"

using namespace orc::terminal;
using kind = key_press::kind;

namespace {

std::vector<key_press> all_of(key_reader& from) {
  std::vector<key_press> keys;
  while (auto key = from.next()) keys.push_back(*key);
  return keys;
}

std::vector<kind> kinds_of(std::string_view sent) {
  key_reader reader;
  reader.add(sent);
  std::vector<kind> kinds;
  for (const auto& each : all_of(reader)) kinds.push_back(each.what);
  return kinds;
}

}  // namespace

TEST_CASE("key reader: cursor keys in each of their forms") {
  CHECK(kinds_of("\x1b[A\x1bOA\x1b[B\x1b[5~\x1b[6~") ==
        std::vector{kind::up, kind::up, kind::down, kind::page_up, kind::page_down});
  CHECK(kinds_of("\x1b[H\x1bOH\x1b[1~\x1b[7~") == std::vector(4, kind::home));
  CHECK(kinds_of("\x1b[F\x1bOF\x1b[4~\x1b[8~") == std::vector(4, kind::end));
  CHECK(kinds_of("\r\n\t\x1b[Z\x7f\b") ==
        std::vector{kind::enter, kind::enter, kind::tab, kind::back_tab, kind::backspace, kind::backspace});
}

TEST_CASE("key reader: characters are whole, whatever way their bytes come") {
  key_reader reader;
  std::vector<key_press> keys;
  for (const char byte : std::string("a机\x1b[B🤖")) {
    reader.add(std::string(1, byte));
    for (auto& each : all_of(reader)) keys.push_back(std::move(each));
  }
  CHECK(keys == std::vector<key_press>{{.text = "a"}, {.text = "机"}, {.what = kind::down}, {.text = "🤖"}});
  CHECK_FALSE(reader.in_doubt());
}

TEST_CASE("key reader: an Escape is the key when nothing follows, or something that is no sequence") {
  key_reader reader;
  reader.add("\x1b");
  CHECK_FALSE(reader.next());
  CHECK(reader.in_doubt());
  CHECK(reader.settle() == key_press{.what = kind::escape});
  CHECK_FALSE(reader.in_doubt());
  CHECK(kinds_of("\x1bq") == std::vector{kind::escape, kind::character});
  reader.add("\x1b[1;");  // a sequence whose end never comes is dropped
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.settle());
}

TEST_CASE("key reader: what is no key is dropped, and a flood of it keeps no memory") {
  CHECK(kinds_of("\x1b[200~\x1b[99;99R\xff\xc3\x28x").size() == 2);  // ( and x
  CHECK(kinds_of(std::string("\x1b[") + std::string(1'000, '1') + "x").back() == kind::character);
  key_reader reader;
  reader.add("\x03\x0c");
  CHECK(all_of(reader) ==
        std::vector<key_press>{{.what = kind::control, .text = "c"}, {.what = kind::control, .text = "l"}});
}
