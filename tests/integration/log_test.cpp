// `orc log`: what each command makes of recordings, its errors and exit codes.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "orc/schema.h"
#include "support/logs.h"
#include "support/struct_types.h"

using namespace orc;
using namespace orc::test;

namespace {

std::vector<file_sample> of_topic(std::vector<file_sample> all, const std::string& topic) {
  std::erase_if(all, [&](const file_sample& each) { return each.topic != topic; });
  return all;
}

}  // namespace

TEST_CASE("orc log info shows format, time, topics, rates, gaps and losses") {
  const logs in;
  const std::string shown = in.out("info run.mcap");
  INFO(shown);
  for (const char* line :
       {"format      mcap, by orc ", "state       closed\n", "samples     16\n",
        "2026-01-02T03:04:05.000Z to 2026-01-02T03:04:05.090Z (90.0 ms)\n", "attachment  note.txt, 8 B\n"})
    CHECK(shown.find(line) != std::string::npos);
  CHECK(shown.find("\nmixed  test.Mixed  10       100.0Hz  10.0 ms  0     0\n") != std::string::npos);
  CHECK(shown.find("\nmap    -           1        -        -        0     0\n") != std::string::npos);
  CHECK(is_json(in.orc(), in.out("info run.mcap --json")));

  recording_file lossy(in.path("lossy.mcap"));
  lossy.sample("a", 0, "1", 1).sample("a", 100, "5", 5).sample("a", 120, "6", 6).sample("b", 0, "x", 7);
  REQUIRE(lossy.writer().add_metadata("orc.drops", {{"topic", "a"}, {"count", "2"}}));
  REQUIRE(lossy.writer().add_metadata("orc.drops", {{"topic", "a"}, {"count", "1"}}));
  lossy.close();
  const std::string losses = in.out("info lossy.mcap");
  INFO(losses);
  CHECK(losses.find("\na      -     3        16.7Hz  100.0 ms  3     3\n") != std::string::npos);
  CHECK(in.out("info lossy.mcap --json").find(R"("lost":3,"dropped":3)") != std::string::npos);
}

TEST_CASE("orc log info reads LCM logs, files that are not closed, and torn ones") {
  const logs in;
  recording_file lcm = recording_file::lcm(in.path("run.lcm"));
  lcm.sample("POSE", 0, "1").sample("POSE", 20, "2");
  lcm.close();
  const std::string shown = in.out("info run.lcm");
  INFO(shown);
  CHECK(shown.find("format   lcm") != std::string::npos);
  CHECK(shown.find("state    whole\n") != std::string::npos);
  CHECK(shown.find("\nPOSE   -     2        50.0Hz  20.0 ms  0     0\n") != std::string::npos);

  const std::string whole = file_bytes(in.path("run.mcap"));
  write_file(in.path("torn.mcap"), whole.substr(0, whole.size() - 20));
  CHECK(in.out("info torn.mcap").find("state       torn: ") != std::string::npos);
  const auto cut = in.run("cut torn.mcap -o part.mcap");
  CHECK(cut.exit_code == 0);
  CHECK(cut.err.find("torn.mcap ends within a record: takes the ") != std::string::npos);

  const auto none = in.run("info missing.mcap");
  CHECK(none.exit_code == 1);
  CHECK(none.err.find("missing.mcap") != std::string::npos);
  write_file(in.path("empty"), "");
  CHECK(in.run("info empty").exit_code == 1);
  CHECK(in.run("info").exit_code == 2);
}

TEST_CASE("orc log check finds a flipped byte, and recover copies the rest") {
  const logs in;
  recording::mcap_options small;
  small.chunk_bytes = 500;
  recording_file file(in.path("long.mcap"), small);
  for (int i = 0; i < 300; ++i) file.sample("numbers", i, "sample " + std::to_string(i));
  file.close();
  const std::string good = in.out("check long.mcap");
  CHECK(good.find("long.mcap: no problem in 300 samples, ") == 0);

  std::string bytes = file_bytes(in.path("long.mcap"));
  const std::size_t at = bytes.find("sample 150");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'S';
  write_file(in.path("bad.mcap"), bytes);
  const auto bad = in.run("check bad.mcap");
  CHECK(bad.exit_code == 1);
  CHECK_FALSE(bad.out.empty());
  CHECK(bad.out.find("byte") != std::string::npos);

  const auto recovered = in.run("recover bad.mcap -o good.mcap");
  INFO(recovered.err);
  CHECK(recovered.exit_code == 0);
  CHECK_FALSE(recovered.err.empty());
  CHECK(in.run("check good.mcap").exit_code == 0);
  const auto all = samples_of(in.path("long.mcap"));
  const auto rest = samples_of(in.path("good.mcap"));
  CHECK(rest.size() > 270);
  CHECK(rest.size() < 300);
  CHECK(std::includes(all.begin(), all.end(), rest.begin(), rest.end(),
                      [](const file_sample& a, const file_sample& b) { return a.received_ns < b.received_ns; }));

  // Other commands do not pass over what is broken.
  const auto cut = in.run("cut bad.mcap -o part.mcap");
  CHECK(cut.exit_code == 1);
  CHECK(cut.err.find("wrote nothing: orc log recover") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(in.path("part.mcap")));
}

TEST_CASE("orc log recover makes a whole file of one that ends anywhere") {
  const logs in;
  recording::mcap_options small;
  small.chunk_bytes = 500;
  recording_file file(in.path("long.mcap"), small);
  for (int i = 0; i < 100; ++i) file.sample("numbers", i, "sample " + std::to_string(i));
  file.close();
  const std::string bytes = file_bytes(in.path("long.mcap"));
  for (std::size_t part = 2; part <= 9; ++part) {
    write_file(in.path("torn.mcap"), bytes.substr(0, bytes.size() * part / 10));
    const auto before = samples_of(in.path("torn.mcap"));
    CHECK(in.run("recover torn.mcap -o whole.mcap --force").exit_code == 0);
    CHECK(samples_of(in.path("whole.mcap")) == before);
    CHECK(in.run("check whole.mcap").exit_code == 0);
  }
}

TEST_CASE("orc log cut copies a part that stands alone, with types, metadata and attachments") {
  const logs in;
  CHECK(in.out("cut run.mcap -o part.mcap --start 0.042 --end 0.06").empty());
  const auto part = samples_of(in.path("part.mcap"));
  const std::int64_t start = recorded_at_ns + 42 * ms_ns;
  REQUIRE(part.size() == 6);
  // The last sample of each topic before the start, with its number and stamp.
  CHECK(part[0] == file_sample{"map", start, recorded_at_ns, 1, "the map"});
  CHECK(of_topic(part, "text").front() == file_sample{"text", start, recorded_at_ns + 24 * ms_ns, 2, "text 2"});
  CHECK(of_topic(part, "mixed").front().sequence == 5);
  CHECK(of_topic(part, "mixed").back().received_ns == recorded_at_ns + 60 * ms_ns);
  CHECK(of_topic(part, "text").back().data == "text 4");
  const std::string info = in.out("info part.mcap --json");
  CHECK(info.find(R"({"name":"site","entries":{"room":"lab"}})") != std::string::npos);
  CHECK(info.find(R"("name":"note.txt")") != std::string::npos);
  CHECK(info.find(R"("type":"test.Mixed")") != std::string::npos);

  CHECK(in.out("cut run.mcap -o text.mcap --topics 'te*' --compression zstd").empty());
  CHECK(samples_of(in.path("text.mcap")) == of_topic(samples_of(in.path("run.mcap")), "text"));
  CHECK(in.out("info text.mcap").find("zstd 1") != std::string::npos);

  const auto exists = in.run("cut run.mcap -o text.mcap");
  CHECK(exists.exit_code == 1);
  CHECK(exists.err == "orc: text.mcap exists already: choose another name, or replace it with --force\n");
  CHECK(in.run("cut run.mcap -o text.mcap --force").exit_code == 0);
  CHECK(samples_of(in.path("text.mcap")).size() == 16);
  CHECK(in.run("cut run.mcap -o new.mcap --start 5 --end 1").exit_code == 2);
  CHECK(in.run("cut run.mcap").exit_code == 2);
  CHECK(in.run("cut run.mcap -o missing/new.mcap").exit_code == 1);
  CHECK(in.run("cut run.mcap -o . --force").exit_code == 1);
  CHECK(in.names() == std::vector<std::string>{"part.mcap", "run.mcap", "text.mcap"});  // no half files
}

TEST_CASE("orc log merge puts parts together again, and what they repeat comes once") {
  const logs in;
  CHECK(in.out("cut run.mcap -o a.mcap --end 0.04").empty());
  CHECK(in.out("cut run.mcap -o b.mcap --start 0.041").empty());
  CHECK(in.out("merge b.mcap a.mcap -o all.mcap").empty());
  const auto before = samples_of(in.path("run.mcap"));
  CHECK(samples_of(in.path("all.mcap")) == before);
  CHECK(in.run("check all.mcap").exit_code == 0);
  CHECK(in.run("merge -o x.mcap").exit_code == 2);
}

TEST_CASE("orc log convert: MCAP to an LCM log and back") {
  const logs in;
  CHECK(in.out("convert run.mcap -o run.lcm").empty());
  CHECK(in.out("convert run.lcm -o back.mcap").empty());
  const auto before = samples_of(in.path("run.mcap"));
  const auto after = samples_of(in.path("back.mcap"));
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i].topic == before[i].topic);
    CHECK(after[i].data == before[i].data);
    CHECK(after[i].received_ns == before[i].received_ns);  // whole microseconds
  }
  const auto unnamed = in.run("convert run.mcap -o noextension");
  CHECK(unnamed.exit_code == 2);
  CHECK(unnamed.err.find("say the format with --to") != std::string::npos);
  CHECK(in.run("convert run.mcap -o noextension --to lcm").exit_code == 0);
  CHECK(file_bytes(in.path("noextension")) == file_bytes(in.path("run.lcm")));
  CHECK(in.run("convert run.mcap -o x.mcap --fields count").exit_code == 2);
}

TEST_CASE("orc log convert: --lcm-types gives channels of an LCM log their types") {
  const logs in;
  const std::string definition = "package demo; struct point { int32_t id; }";
  write_file(in.path("point.lcm"), definition);
  const auto fingerprint = lcm_fingerprint({"demo.point", "lcm", "lcm", definition});
  REQUIRE(fingerprint);
  std::string message;
  for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(*fingerprint >> shift & 0xff);
  message += std::string("\0\0\1\2", 4);
  recording_file file = recording_file::lcm(in.path("run.log"));
  file.sample("POINT", 0, message).sample("OTHER", 1, "no LCM type");
  file.close();
  CHECK(in.out("convert run.log -o typed.mcap --lcm-types point.lcm").empty());
  const std::string info = in.out("info typed.mcap --json");
  CHECK(info.find(R"("topic":"POINT","type":"demo.point")") != std::string::npos);
  CHECK(info.find(R"("topic":"OTHER","type":null)") != std::string::npos);
  CHECK(in.out("echo typed.mcap --topic POINT --field id") == "258\n");
  CHECK(in.out("echo run.log --lcm-types point.lcm --topic POINT --field id") == "258\n");
  CHECK(in.out("convert run.log --lcm-types . -o - --to csv --topic POINT").find("sequence,id\n") != std::string::npos);
  CHECK(in.run("convert run.log -o x.mcap --lcm-types missing").exit_code == 2);
}

TEST_CASE("orc log echo shows samples as topic echo does") {
  const logs in;
  CHECK(in.out("echo run.mcap --topic text -n 2") ==
        "t=0.005000 topic=text seq=1 size=6 text=text 0\nt=0.025000 topic=text seq=2 size=6 text=text 2\n");
  CHECK(in.out("echo run.mcap --topic mixed -n 1") ==
        "t=0.000000 topic=mixed seq=1 size=32\n  count: 0\n  label: \"a,\"0\"\n  pose:\n    x: 0\n    y: -1\n");
  CHECK(in.out("echo run.mcap --topic mixed --field pose.y --field count --start 0.07 --end 0.08") ==
        "pose.y=-0.125 count=7\npose.y=-0.1111111111111111 count=8\n");
  CHECK(in.out("echo run.mcap --topic text --raw -n 2") == "text 0text 2");
  CHECK(in.out("echo run.mcap --topic map --hex").find(" hex=746865206d6170\n") != std::string::npos);
  const std::string json = in.out("echo run.mcap --topic mixed --json -n 1");
  CHECK(is_json(in.orc(), json));
  CHECK(
      json.find(R"("topic":"mixed","sequence":1,"received_ns":1767323045000000000,"stamp_ns":1767323044999000000,)") !=
      std::string::npos);
  const auto wrong = in.run("echo run.mcap --topic mixed --field nothing");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("count") != std::string::npos);
  const auto untyped = in.run("echo run.mcap --topic text --field x");
  CHECK(untyped.exit_code == 0);
  CHECK(untyped.err.find("topic 'text' is untyped") != std::string::npos);
  const auto closed = in.run("echo run.mcap | head -n 1");
  CHECK(closed.exit_code == 0);
}

TEST_CASE("orc log convert: a table has the times and each number and text, as Python's csv module reads it") {
  const logs in;
  CHECK(in.out("convert run.mcap -o mixed.csv --topic mixed").empty());
  const std::string first_line =
      "received_ns,stamp_ns,sequence,count,label,pose.x,pose.y\n1767323045000000000,1767323044999000000,1,0,\"a,"
      "\"\"0\"";
  CHECK(file_bytes(in.path("mixed.csv")).substr(0, first_line.size()) == first_line);
  const auto read = in.orc().run("cd " + in.path("") + R"(; python3 - <<'PY'
import csv
rows = list(csv.DictReader(open('mixed.csv', newline='')))
assert len(rows) == 10, rows
for i, row in enumerate(rows):
    assert row['label'] == 'a,"%d' % i, row
    assert int(row['count']) == i and int(row['sequence']) == i + 1
    assert float(row['pose.x']) == 0.1 * i and float(row['pose.y']) == -1.0 / (i + 1), row
    assert int(row['received_ns']) == 1767323045000000000 + i * 10000000
print('equal')
PY
)");
  INFO(read.err);
  CHECK(read.out == "equal\n");
  CHECK(in.out("convert run.mcap -o - --to csv --topic mixed --fields pose.y,count --end 0")
            .find("received_ns,stamp_ns,sequence,pose.y,count\n1767323045000000000,1767323044999000000,1,-1,0\n") == 0);
  CHECK(in.out("convert run.mcap -o - --to csv --topic mixed --fields pose --end 0").find("sequence,pose.x,pose.y\n") !=
        std::string::npos);

  const auto several = in.run("convert run.mcap -o - --to csv");
  CHECK(several.exit_code == 2);
  CHECK(several.err == "orc: a table has one topic: choose one of 3 with --topic: map, mixed, text\n");
  CHECK(in.run("convert run.mcap -o - --to csv --topic nothing").exit_code == 3);
  const auto untyped = in.run("convert run.mcap -o text.csv --topic text");
  CHECK(untyped.exit_code == 1);
  CHECK(untyped.err.find("topic 'text' is untyped") != std::string::npos);
  const auto wrong = in.run("convert run.mcap -o text.csv --topic mixed --fields q");
  CHECK(wrong.exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(in.path("text.csv")));
}

TEST_CASE("orc log convert: arrays that grow make columns, and other values stay empty") {
  const logs in;
  recording_file file(in.path("json.mcap"));
  const type_description json = {.name = "any", .schema_encoding = "", .message_encoding = "json", .schema = ""};
  file.channel("json", json);
  file.sample("json", 0, R"({"a":[{"x":1}],"stamp_ns":5,"z":null})");
  file.sample("json", 10, R"({"a":[{"x":2},{"x":3}],"z":"two\nlines"})");
  file.close();
  CHECK(in.out("convert json.mcap -o - --to csv") ==
        "received_ns,stamp_ns,sequence,a[0].x,a[1].x,sample.stamp_ns,z\n"
        "1767323045000000000,1767323044999000000,1,1,,5,\n"
        "1767323045010000000,1767323045009000000,2,2,3,,\"two\nlines\"\n");
}

TEST_CASE("orc log convert: a full disk leaves no half file") {
  const logs in;
  recording_file file(in.path("large.mcap"));
  for (int i = 0; i < 40; ++i) file.sample("large", i, std::string(100'000, 'x'));
  file.close();
  const auto done = in.orc().run("cd " + in.path("") + R"(; mkdir small && unshare -m sh -c '
    mount -t tmpfs -o size=1M none small 2>/dev/null || { echo "no mount"; exit 0; }
    "$0" log cut large.mcap -o small/new.mcap; echo "exit $?"; ls -A small' "$orc")");
  if (done.out == "no mount\n" || done.out.empty()) return skip("mounting a tmpfs needs root");
  CHECK(done.out == "exit 1\n");
  CHECK(done.err.find("cannot write small/new.mcap: No space left on device") != std::string::npos);
}
