// `orc log` on recordings that are damaged or hostile, and on parts that are not there.
#include <algorithm>
#include <filesystem>
#include <string>

#include "support/logs.h"
#include "support/pseudo_terminal.h"

using namespace orc;
using namespace orc::test;

namespace {

// 300 samples in many chunks.
void write_long(const std::string& path) {
  recording::mcap_options small;
  small.chunk_bytes = 500;
  recording_file file(path, small);
  file.channel("mixed", mixed);
  for (int i = 0; i < 300; ++i) file.sample("mixed", i, mixed_sample(i, "row " + std::to_string(i % 1000), 0.5 * i, i));
  file.close();
}

// Changes one byte of a sample.
std::string damaged(std::string bytes, const std::string& sample) {
  const std::size_t at = bytes.find(sample);
  REQUIRE(at != std::string::npos);
  bytes[at] = 'R';
  return bytes;
}

bool exists(const logs& in, const std::string& name) { return std::filesystem::exists(in.path(name)); }

}  // namespace

TEST_CASE("orc log convert takes what can be read, counts the rest, and exits with 1") {
  const logs in;
  write_long(in.path("long.mcap"));
  write_file(in.path("bad.mcap"), damaged(file_bytes(in.path("long.mcap")), "row 150"));
  for (const std::string name : {"new.mcap", "new.lcm"}) {
    const auto done = in.run("convert bad.mcap -o " + name);
    INFO(name << ": " << done.err);
    CHECK(done.exit_code == 1);
    CHECK(done.out.empty());
    const auto samples = samples_of(in.path(name));
    CHECK(samples.size() > 280);
    CHECK(samples.back().received_ns == recorded_at_ns + 299 * ms_ns);
    CHECK(done.err.find("bad.mcap: the chunk at byte ") != std::string::npos);
    CHECK(done.err.find("\norc: left out 1 record that cannot be used, with " + std::to_string(300 - samples.size()) +
                        " samples\n") != std::string::npos);
  }
  const auto table = in.run("convert bad.mcap -o table.csv");
  INFO(table.err);
  CHECK(table.exit_code == 1);
  CHECK(table.err.find("left out 1 record that cannot be used, with ") != std::string::npos);
  const std::string rows = file_bytes(in.path("table.csv"));
  CHECK(std::count(rows.begin(), rows.end(), '\n') > 280);
  CHECK(rows.find("row 299") != std::string::npos);
  CHECK(in.run("check new.mcap").exit_code == 0);
}

TEST_CASE("orc log convert of a file of which nothing can be read exits with 1, and writes nothing") {
  const logs in;
  recording_file file(in.path("short.mcap"));
  file.channel("mixed", mixed).sample("mixed", 0, mixed_sample(0, "row 0", 0, 0));
  file.close();
  std::string bytes = damaged(file_bytes(in.path("short.mcap")), "row 0");
  bytes.resize(bytes.size() - 20);  // without its index, only the chunk says which topics there are
  write_file(in.path("bad.mcap"), bytes);
  for (const std::string name : {"new.mcap", "new.csv"}) {
    for (const std::string topics : {"", " --topic mixed"}) {
      const auto done = in.run("convert bad.mcap -o " + name + topics);
      INFO(name << topics << ": " << done.err);
      CHECK(done.exit_code == 1);
      CHECK(done.err.find("bad.mcap: the chunk at byte ") != std::string::npos);
      CHECK(done.err.find("wrote nothing") != std::string::npos);
      CHECK_FALSE(exists(in, name));
    }
  }
}

TEST_CASE("orc log convert leaves out a topic that an LCM log cannot name") {
  const logs in;
  recording_file file(in.path("names.mcap"));
  file.sample(std::string(1000, 'n'), 0, "1").sample("short", 1, "2").sample(std::string(1000, 'n'), 2, "3");
  file.close();
  const auto done = in.run("convert names.mcap -o names.lcm");
  INFO(done.err);
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("left out 1 record that cannot be used, with 2 samples\n") != std::string::npos);
  CHECK(samples_of(in.path("names.lcm")).size() == 1);
}

TEST_CASE("orc log recover says what it left out") {
  const logs in;
  write_long(in.path("long.mcap"));
  write_file(in.path("bad.mcap"), damaged(file_bytes(in.path("long.mcap")), "row 150"));
  const auto done = in.run("recover bad.mcap -o good.mcap --compression lz4");
  INFO(done.err);
  CHECK(done.exit_code == 0);
  CHECK(done.out.empty());
  CHECK(done.err.find("left out 1 record that cannot be used, with ") != std::string::npos);
  CHECK(in.out("info good.mcap").find("lz4") != std::string::npos);
  // The metadata and the attachment behind an attachment that is broken.
  recording_file file(in.path("extras.mcap"));
  const std::string text = "attached text";
  file.sample("a", 0, "1");
  for (const char* name : {"one", "two"})
    REQUIRE(file.writer().add_attachment({name, "text/plain", recorded_at_ns, recorded_at_ns},
                                         std::as_bytes(std::span(text))));
  REQUIRE(file.writer().add_metadata("site", {{"room", "lab"}}));
  file.close();
  write_file(in.path("broken.mcap"), damaged(file_bytes(in.path("extras.mcap")), text));
  const auto kept = in.run("recover broken.mcap -o kept.mcap");
  CHECK(kept.exit_code == 0);
  CHECK(kept.err.find("left out 1 record that cannot be used\n") != std::string::npos);
  const std::string info = in.out("info kept.mcap --json");
  CHECK(info.find(R"("name":"two")") != std::string::npos);
  CHECK(info.find(R"("name":"site")") != std::string::npos);
  CHECK(info.find(R"("name":"one")") == std::string::npos);
  CHECK(in.run("recover bad.mcap -o table.csv").exit_code == 2);
}

TEST_CASE("orc log cut, merge and convert refuse a part that is not there") {
  const logs in;
  struct refused {
    const char* words;
    int exit_code;
    const char* why;
  };
  const char* const outside = "the recording has nothing in that time: it begins at 2026-01-02T03:04:05.000Z and ends ";
  for (const auto& [words, code, why] : {
           refused{"cut run.mcap -o new.mcap --topic nothing", 3, "the recording has no such topic"},
           refused{"merge run.mcap -o new.mcap --topic nothing", 3, "the recording has no such topic"},
           refused{"convert run.mcap -o new.csv --topic nothing", 3, "the recording has no such topic"},
           refused{"cut run.mcap -o new.mcap --start 100", 2, outside},
           refused{"cut run.mcap -o new.mcap --end 2025-01-01T00:00:00Z", 2, outside},
           refused{"convert run.mcap -o new.lcm --start 2027-01-01T00:00:00Z", 2, outside},
           refused{"convert run.mcap -o new.csv --topic mixed --start 100", 2, outside},
           refused{"cut run.mcap -o new.mcap --topic text --end 0.001", 1, "wrote nothing: there is no sample"},
           refused{"convert run.mcap -o new.csv --topic mixed --start 0.041 --end 0.049", 1, "wrote nothing"},
       }) {
    const auto done = in.run(words);
    INFO(words << ": " << done.err);
    CHECK(done.exit_code == code);
    CHECK(done.out.empty());
    CHECK(done.err.find(why) != std::string::npos);
  }
  CHECK(in.names() == std::vector<std::string>{"run.mcap"});
}

TEST_CASE("orc log check says plainly that a file was not closed, and what to do") {
  const logs in;
  const std::string whole = file_bytes(in.path("run.mcap"));
  write_file(in.path("torn.mcap"), whole.substr(0, whole.size() - 20));
  const auto torn = in.run("check torn.mcap");
  CHECK(torn.exit_code == 1);
  CHECK(torn.out.find("the file was not closed properly: it has no index, and its last ") == 0);
  CHECK(torn.err == "orc: orc log recover torn.mcap -o NEW copies what can be read to a whole file\n");
  recording_file lcm = recording_file::lcm(in.path("run.lcm"));
  lcm.sample("POSE", 0, "1").sample("POSE", 20, "2");
  lcm.close();
  const std::string log = file_bytes(in.path("run.lcm"));
  write_file(in.path("torn.lcm"), log.substr(0, log.size() - 1));
  CHECK(in.run("check torn.lcm").out.find("the file was not closed properly: its last ") == 0);
}

TEST_CASE("orc log check compares what the statistics count of each channel") {
  const logs in;
  std::string bytes = file_bytes(in.path("run.mcap"));
  const std::string counts({1, 0, 10, 0, 0, 0, 0, 0, 0, 0, 2, 0, 5, 0, 0, 0, 0, 0, 0, 0});
  const std::size_t at = bytes.rfind(counts);
  REQUIRE(at != std::string::npos);
  ++bytes[at + 2];
  --bytes[at + 12];
  bytes.replace(bytes.size() - 12, 4, 4, '\0');  // no checksum of the summary
  write_file(in.path("wrong.mcap"), bytes);
  const auto checked = in.run("check wrong.mcap");
  CHECK(checked.exit_code == 1);
  CHECK(checked.out ==
        "the statistics count 11 messages of channel mixed, and there are 10\n"
        "the statistics count 4 messages of channel text, and there are 5\n");
}

TEST_CASE("orc log: errors go to stderr, and success is silent for scripts") {
  const logs in;
  for (const std::string words : {"info missing", "echo missing", "check missing", "recover missing -o x.mcap",
                                  "cut missing -o x.mcap", "merge missing -o x.mcap", "convert missing -o x.mcap",
                                  "convert missing -o - --to csv", "echo run.mcap --topic mixed --field nothing"}) {
    INFO(words);
    const auto done = in.run(words);
    CHECK(done.exit_code != 0);
    CHECK(done.out.empty());
    CHECK(done.err.find("orc: ") == 0);
  }
  for (const std::string words : {"recover run.mcap -o 1.mcap", "cut run.mcap -o 2.mcap", "merge run.mcap -o 3.mcap",
                                  "convert run.mcap -o 4.mcap", "convert run.mcap -o 5.csv --topic mixed"}) {
    const auto done = in.run(words);
    INFO(words << ": " << done.err);
    CHECK(done.exit_code == 0);
    CHECK((done.out + done.err).empty());
  }
  // A person at a terminal reads how much was written.
  pseudo_terminal terminal({program("orc"), "log", "cut", in.path("run.mcap"), "-o", in.path("seen.mcap")}, {});
  CHECK(terminal.wait_for("orc: wrote 16 samples of 3 topics, "));
}

TEST_CASE("orc log: --json escapes characters on which terminals act") {
  const logs in;
  recording_file file(in.path("evil.mcap"));
  const std::string text =
      "a\xC2\x9B"
      "31m\x7F\xE2\x80\xAEtxt\xE2\x81\xA6\xC3\xA9";
  file.sample("t" + text, 0, "x");
  REQUIRE(file.writer().add_metadata(text, {{text, text}}));
  file.close();
  for (const std::string words : {"info evil.mcap --json", "echo evil.mcap --json"}) {
    INFO(words);
    const std::string shown = in.out(words);
    CHECK(is_json(in.orc(), shown));
    CHECK(shown.find("a\\u009b31m\\u007f\\u202etxt\\u2066\xC3\xA9") != std::string::npos);
    for (const std::string raw : {"\xC2\x9B", "\x7F", "\xE2\x80\xAE", "\xE2\x81\xA6"})
      CHECK(shown.find(raw) == std::string::npos);
  }
}

TEST_CASE("orc log convert: a text that a spreadsheet would calculate gets a prefix, and numbers stay") {
  const logs in;
  recording_file file(in.path("json.mcap"));
  file.channel("json", {.name = "any", .schema_encoding = "", .message_encoding = "json", .schema = ""});
  file.sample("json", 0, R"({"=a":1,"b":"=1+1","c":"-3","d":"-3+cmd","e":"@x","f":-3,"g":"\t=1","h":"+","i":"a=1"})");
  file.close();
  CHECK(in.out("convert json.mcap -o - --to csv") ==
        "received_ns,stamp_ns,sequence,'=a,b,c,d,e,f,g,h,i\n"
        "1767323045000000000,1767323044999000000,1,1,'=1+1,-3,'-3+cmd,'@x,-3,'\t=1,'+,a=1\n");
}
