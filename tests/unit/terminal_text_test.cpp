// tools/terminal: widths, cells, lines and frames.
#include "support/catch.h"
#include "tools/terminal/display_width.h"
#include "tools/terminal/screen.h"
#include "tools/terminal/styled_line.h"

using namespace orc::terminal;

TEST_CASE("terminal text: columns of characters") {
  CHECK(display_width("") == 0);
  CHECK(display_width("arm/state") == 9);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);  // a combining accent
  CHECK(display_width("机器人") == 6);
  CHECK(display_width("🤖") == 2);
  CHECK(display_width("…µ→") == 3);
  CHECK(columns_of(0x200b) == 0);
  CHECK(columns_of(0xd7a3) == 2);
  CHECK(columns_of(0xd7a4) == 1);
  CHECK(columns_of(0x10ffff) == 1);
}

TEST_CASE("terminal text: what is too long is cut in the middle or at the end, and fills its cell exactly") {
  CHECK(shortened("camera/left/image", 9, cut::middle) == "came…mage");
  CHECK(shortened("camera/left/image", 9, cut::end) == "camera/l…");
  CHECK(shortened("short", 5, cut::middle) == "short");
  CHECK(shortened("short", 1, cut::middle) == "…");
  CHECK(shortened("short", 0, cut::middle).empty());
  CHECK(fitted("ab", 4) == "ab  ");
  CHECK(fitted("ab", 4, align::right) == "  ab");
  CHECK(fitted("机器人", 4) == "机… ");  // half a character does not fit
  // Neither end begins with an accent that has lost its letter.
  CHECK(shortened("aaaae\u0301bb", 4, cut::middle) == "aa…b");
  for (std::size_t columns = 0; columns < 20; ++columns) {
    INFO(columns);
    for (const char* text :
         {"camera/left/image", "机器人/左/图像", "e\u0301e\u0301e\u0301e\u0301", "a机b器c人d", "\xff\xfe"}) {
      CHECK(display_width(fitted(text, columns)) == columns);
      CHECK(display_width(head(text, columns)) <= columns);
      CHECK(display_width(tail(text, columns)) <= columns);
    }
  }
}

TEST_CASE("terminal text: a long text is broken between words, and inside a word only when it is longer than a line") {
  const auto lines = [](std::string_view text, std::size_t columns) {
    std::vector<std::string> made;
    while (!text.empty()) {
      const auto part = line_of_words(text, columns);
      REQUIRE_FALSE(part.empty());
      made.emplace_back(part);
      text.remove_prefix(part.size());
    }
    return made;
  };
  CHECK(lines("no broker answers", 8) == std::vector<std::string>{"no ", "broker ", "answers"});
  CHECK(lines("no broker answers", 9) == std::vector<std::string>{"no broker ", "answers"});
  CHECK(lines("abcdefgh ij", 5) == std::vector<std::string>{"abcde", "fgh ", "ij"});
  CHECK(lines("    abcdefgh", 6) == std::vector<std::string>{"    ab", "cdefgh"});
  CHECK(lines("机器人", 1).size() == 3);
  CHECK(lines("          ", 3).size() == 3);
  CHECK(lines("ab", 0).size() == 2);
}

TEST_CASE("terminal text: a line never has more columns than asked, and no control character of its texts") {
  styled_line line(10, true);
  line.add("\x1b[2J\x9b\n", {.color = color::red}).add("0123456789");
  CHECK(line.room() == 0);
  const std::string made = line.finish();
  CHECK(made == "\x1b[0;31m\\x1b[2J\\x9\x1b[0m");

  styled_line cells(20, false, {.reverse = true});
  cells.cell("left", 6).cell("12", 5, align::right, {.color = color::red});
  CHECK(cells.finish() == "\x1b[0;7mleft     12         \x1b[0m");  // without colours, and filled up
  CHECK(styled_line(5, true).add("a\\b").finish() == "a\\b");
}

TEST_CASE("terminal text: a frame sends only the lines that changed") {
  CHECK(difference({"a", "b", "c"}, {"a", "b", "c"}).empty());
  CHECK(difference({"a", "b", "c"}, {"a", "x", "c"}) == "\x1b[2;1H\x1b[2Kx");
  CHECK(difference({}, {"a", ""}) == "\x1b[1;1H\x1b[2Ka\x1b[2;1H\x1b[2K");
  CHECK(difference({"a", "b"}, {"a"}).empty());
}
