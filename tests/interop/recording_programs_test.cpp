// Recordings that other programs read and wrote: PyPI's mcap and rosbags, npm's @mcap/core, liblcm.
#include <lcm/eventlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "interop/crc32.h"
#include "interop/peers.h"
#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

std::string hex_crc(std::span<const std::byte> data) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(crc32(data.data(), data.size())));
  return text;
}

// What is in a file, as recording_peer.py and recording_peer.mjs say it.
std::string messages_of(reader& from) {
  std::ostringstream out;
  for (const auto& s : rest_of(from)) {
    const channel& c = from.channels().at(s.channel);
    out << "message " << c.topic << ' ' << s.sequence << ' ' << s.received_ns << ' ' << s.stamp_ns << ' '
        << s.data.size() << ' ' << hex_crc(s.data) << ' ' << c.type.name << '|' << c.type.schema_encoding << '|'
        << c.type.message_encoding << '|' << c.type.schema.size() << '\n';
  }
  return out.str();
}

std::string others_of(reader& from) {
  std::ostringstream out;
  for (const auto& m : from.metadata()) {
    out << "metadata " << m.name;
    for (const auto& [key, value] : m.entries) out << ' ' << key << '=' << value;
    out << '\n';
  }
  std::vector<std::byte> data;
  for (std::size_t i = 0; i < from.attachments().size(); ++i) {
    require_ok(from.read_attachment(i, data));
    out << "attachment " << from.attachments()[i].name << ' ' << from.attachments()[i].media_type << ' ' << data.size()
        << ' ' << hex_crc(data) << '\n';
  }
  return out.str();
}

// What a program prints. It must succeed.
std::string output_of(std::vector<std::string> command, const std::string& scratch) {
  // To a file: thousands of lines, and no pipe that fills up.
  std::string line = "exec \"$@\" >'" + scratch + "'";
  command.insert(command.begin(), {"sh", "-c", line, "sh"});
  std::string why;
  const bool done = run_command(command, why);
  INFO(why);
  REQUIRE(done);
  std::ifstream in(scratch);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<std::string> no_mcap_for_python() {
  if (auto why = missing(kind::python)) return why;
  std::string why;
  if (run_command({of_venv("python3"), "-c", "import mcap, lz4, zstandard, rosbags"}, why)) return std::nullopt;
  return "no mcap for Python in " ORC_LCM_VENV ": tools/dev setup installs it, with access to PyPI";
}

std::optional<std::string> no_mcap_for_node() {
  if (std::filesystem::exists(ORC_MCAP_NODE "/@mcap/core")) return std::nullopt;
  return "no @mcap/core in " ORC_MCAP_NODE ": tools/dev setup installs it where npm is, with access to npm";
}

void write_ours(const std::string& path, compression which) {
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {.compression = which, .chunk_bytes = 20'000}, to));
  channel_id typed = 0;
  channel_id untyped = 0;
  channel_id silent = 0;
  require_ok(to->add_channel(json_channel("typed"), typed));
  require_ok(to->add_channel({"untyped", {}, {}}, untyped));
  require_ok(to->add_metadata("info", {{"a", "1"}, {"b", ""}}));
  for (std::uint64_t n = 0; n < 500; ++n) {
    require_ok(to->write(numbered_sample(n % 3 == 0 ? untyped : typed, n, n % 50 == 0 ? 100'000 : n)));
  }
  require_ok(to->add_channel(json_channel("silent", "Other"), silent));
  require_ok(to->add_attachment({"file", "text/plain", recording_start, recording_start},
                                std::vector<std::byte>(100, std::byte{7})));
  require_ok(to->close());
}

// Two typed topics: a struct with a field of each kind, and JSON with arrays that grow.
void write_typed(const std::string& path) {
  const type_description of_struct = {
      .name = "test.Every",
      .schema_encoding = "struct",
      .message_encoding = "struct",
      .schema = R"({"byte_order":"little","size":72,"fields":[{"name":"count","type":"int64","offset":0},)"
                R"({"name":"small","type":"uint8","offset":8},{"name":"on","type":"bool","offset":9},)"
                R"({"name":"label","type":"char","offset":10,"shape":[6]},)"
                R"({"name":"q","type":"float32","offset":16,"shape":[2,3]},)"
                R"({"name":"parts","type":{"size":16,"fields":[{"name":"x","type":"float64","offset":0},)"
                R"({"name":"n","type":"uint64","offset":8}]},"offset":40,"shape":[2]}]})"};
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {.chunk_bytes = 2000}, to));
  channel_id structs = 0;
  channel_id texts = 0;
  require_ok(to->add_channel({"struct", of_struct, {}}, structs));
  require_ok(to->add_channel({"json", {"any", "jsonschema", "json", "{}"}, {}}, texts));
  for (std::uint64_t n = 0; n < 200; ++n) {
    owned_sample sent = numbered_sample(structs, n, 72);
    const auto put = [&](std::size_t at, auto value) { std::memcpy(sent.data.data() + at, &value, sizeof value); };
    put(0, INT64_MIN + static_cast<std::int64_t>(n));
    put(8, static_cast<std::uint8_t>(n + 100));
    put(9, n % 2 == 0);
    const std::string label = n % 3 == 0 ? "a,\"b" : n % 3 == 1 ? "" : "plain";
    std::array<char, 6> letters{};
    std::copy(label.begin(), label.end(), letters.begin());
    put(10, letters);
    for (std::size_t i = 0; i < 6; ++i) put(16 + 4 * i, 1.0F / static_cast<float>(n + i + 1));
    for (std::size_t i = 0; i < 2; ++i) {
      put(40 + 16 * i, std::pow(10.0, static_cast<double>(n) - 100) / 3);
      put(48 + 16 * i, UINT64_MAX - n);
    }
    require_ok(to->write(sent));
    std::string text = R"({"n":)" + std::to_string(n) + R"(,"half":)" + std::to_string(n) + ".5" +
                       R"(,"none":null,"text":"two\nlines, \"q\" \u00e9","grows":[)";
    for (std::uint64_t i = 0; i < n % 4; ++i)
      text += (i == 0 ? "" : ",") + std::string(R"({"x":)") + std::to_string(i) + "}";
    text += "]}";
    sent.channel = texts;
    const auto bytes = std::as_bytes(std::span(text));
    sent.data.assign(bytes.begin(), bytes.end());
    require_ok(to->write(sent));
  }
  require_ok(to->close());
}

}  // namespace

TEST_CASE("recording programs: a table has the values that PyPI's mcap reads", "[interop]") {
  if (const auto why = no_mcap_for_python()) return skip(*why);
  const temporary_directory dir;
  const auto path = dir.file("typed.mcap");
  write_typed(path);
  for (const std::string topic : {"struct", "json"}) {
    INFO(topic);
    const auto table = dir.file(topic + ".csv");
    output_of({program("orc"), "log", "convert", path, "-o", table, "--topic", topic}, dir.file("out"));
    CHECK(output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "compare", topic, path, table}, dir.file("out")) ==
          "200 rows are equal\n");
  }
}

TEST_CASE("recording programs: PyPI's mcap reads ours", "[interop]") {
  if (const auto why = no_mcap_for_python()) return skip(*why);
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  for (const auto which : {compression::none, compression::lz4, compression::zstd}) {
    std::filesystem::remove(path);
    write_ours(path, which);
    const auto from = open_recording(path);
    const auto expected = messages_of(*from) + others_of(*from);
    for (const std::string how : {"indexed", "streamed"}) {
      INFO(how << ", compression " << static_cast<int>(which));
      CHECK((output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "read", how, path}, dir.file("out")) == expected));
    }
  }
}

TEST_CASE("recording programs: we read what PyPI's mcap wrote", "[interop]") {
  if (const auto why = no_mcap_for_python()) return skip(*why);
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  for (const std::string what : {"unchunked", "bare", "none", "lz4", "zstd"}) {
    INFO(what);
    output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "write", what, path}, dir.file("out"));
    const auto theirs =
        output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "read", "streamed", path}, dir.file("out"));
    const auto from = open_recording(path);
    const auto ours = messages_of(*from);
    CHECK(from->summary().closed);
    CHECK(from->summary().samples == 300);
    CHECK(from->summary().profile == "test");
    CHECK(from->attachments().size() == 1);
    // Python's streaming reader sees attachments and metadata of indexed files only.
    CHECK((theirs.substr(0, ours.size()) == ours));
    if (what != "bare") CHECK((theirs == ours + others_of(*from)));
    CHECK(problems_of(*from).empty());
  }
}

TEST_CASE("recording programs: we read a rosbag2 file of PyPI's rosbags, with its schemas", "[interop]") {
  if (const auto why = no_mcap_for_python()) return skip(*why);
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "write", "ros2", path}, dir.file("out"));
  const auto from = open_recording(path);
  REQUIRE(from->channels().size() == 1);
  const auto& type = from->channels()[0].type;
  CHECK(from->channels()[0].topic == "/joints");
  CHECK(type.name == "sensor_msgs/msg/JointState");
  CHECK(type.schema_encoding == "ros2msg");
  CHECK(type.message_encoding == "cdr");
  CHECK_THAT(type.schema, contains("MSG: std_msgs/Header"));
  CHECK(from->summary().samples == 50);
  const auto ours = messages_of(*from);
  const auto theirs = output_of({of_venv("python3"), ORC_RECORDING_PEER_PY, "read", "indexed", path}, dir.file("out"));
  CHECK((theirs.substr(0, ours.size()) == ours));
}

TEST_CASE("recording programs: npm's @mcap/core reads ours", "[interop]") {
  if (const auto why = no_mcap_for_node()) return skip(*why);
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  write_ours(path, compression::none);
  const auto expected = messages_of(*open_recording(path));
  for (const std::string how : {"indexed", "streamed"}) {
    INFO(how);
    CHECK((output_of({"node", ORC_RECORDING_PEER_JS, ORC_MCAP_NODE, how, path}, dir.file("out")) == expected));
  }
}

TEST_CASE("recording programs: liblcm reads our event log", "[interop]") {
  const temporary_directory dir;
  const auto path = dir.file("a.lcm");
  std::unique_ptr<writer> to;
  require_ok(create_lcm_log(path, false, to));
  channel_id which = 0;
  require_ok(to->add_channel(json_channel("POSE"), which));
  for (std::uint64_t n = 0; n < 300; ++n) require_ok(to->write(numbered_sample(which, n, n * n)));
  require_ok(to->close());
  lcm_eventlog_t* log = lcm_eventlog_create(path.c_str(), "r");
  REQUIRE(log != nullptr);
  std::uint64_t n = 0;
  for (lcm_eventlog_event_t* e = nullptr; (e = lcm_eventlog_read_next_event(log)) != nullptr; ++n) {
    INFO(n);
    const auto sent = numbered_sample(which, n, n * n);
    CHECK(e->eventnum == static_cast<std::int64_t>(n));
    CHECK(e->timestamp == sent.received_ns / 1000);
    CHECK(std::string(e->channel, static_cast<std::size_t>(e->channellen)) == "POSE");
    const auto data = std::as_bytes(std::span(static_cast<const char*>(e->data), static_cast<std::size_t>(e->datalen)));
    CHECK(std::ranges::equal(data, sent.data));
    lcm_eventlog_free_event(e);
  }
  CHECK(n == 300);
  lcm_eventlog_destroy(log);
}

TEST_CASE("recording programs: we read liblcm's event log", "[interop]") {
  const temporary_directory dir;
  const auto path = dir.file("a.lcm");
  lcm_eventlog_t* log = lcm_eventlog_create(path.c_str(), "w");
  REQUIRE(log != nullptr);
  for (std::uint64_t n = 0; n < 300; ++n) {
    auto sent = numbered_sample(0, n, n * n);
    std::string name = n % 2 == 0 ? "EVEN" : "ODD";
    lcm_eventlog_event_t e{};
    e.timestamp = sent.received_ns / 1000;
    e.channellen = static_cast<std::int32_t>(name.size());
    e.datalen = static_cast<std::int32_t>(sent.data.size());
    e.channel = name.data();
    e.data = sent.data.data();
    REQUIRE(lcm_eventlog_write_event(log, &e) == 0);
  }
  lcm_eventlog_destroy(log);
  const auto from = open_recording(path);
  CHECK(from->summary().samples_of == std::vector<std::uint64_t>{150, 150});
  CHECK(from->channels().at(1).topic == "ODD");
  const auto got = rest_of(*from);
  REQUIRE(got.size() == 300);
  for (std::uint64_t n = 0; n < 300; ++n) CHECK(got[n].data == numbered_sample(0, n, n * n).data);
  CHECK(problems_of(*from).empty());
}
