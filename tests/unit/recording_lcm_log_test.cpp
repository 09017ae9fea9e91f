// LCM event logs, written, read and damaged.
#include <algorithm>

#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

// Big-endian, as liblcm writes: sync word, number, µs, lengths.
std::string event(std::uint64_t number, std::uint64_t us, const std::string& name, const std::string& data) {
  std::string bytes("\xED\xA1\xDA\x01", 4);
  const auto put = [&](std::uint64_t value, int size) {
    while (size-- > 0) bytes += static_cast<char>(value >> (8 * size));
  };
  put(number, 8);
  put(us, 8);
  put(name.size(), 4);
  put(data.size(), 4);
  return bytes + name + data;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("recording lcm log: what is written has liblcm's bytes", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.lcm");
  std::unique_ptr<writer> to;
  require_ok(create_lcm_log(path, false, to));
  channel_id pose = 0;
  channel_id imu = 0;
  require_ok(to->add_channel(json_channel("POSE"), pose));
  require_ok(to->add_channel(json_channel("IMU"), imu));
  CHECK(to->add_channel(json_channel(std::string(1000, 'x')), imu).code() == errc::bad_argument);
  require_ok(to->add_metadata("dropped", {}));
  const std::string large(100'000, 'l');
  std::string expected;
  std::uint64_t n = 0;
  for (const std::string& data : {std::string("abc"), std::string(), large, std::string("d")}) {
    const auto which = n % 2 == 0 ? pose : imu;
    require_ok(
        to->write({which, 99, static_cast<std::int64_t>(5000 + n) * 1000 + 999, 1, std::as_bytes(std::span(data))}));
    expected += event(n, 5000 + n, which == pose ? "POSE" : "IMU", data);
    ++n;
  }
  require_ok(to->close());
  CHECK(bytes_of_file(path) == bytes_of(expected));

  const auto from = open_recording(path);
  CHECK(from->summary().format == "lcm");
  CHECK(from->summary().closed);
  CHECK(from->summary().samples_of == std::vector<std::uint64_t>{2, 2});
  REQUIRE(from->channels().size() == 2);
  CHECK(from->channels()[0].topic == "POSE");
  CHECK(from->channels()[0].type == type_description{"", "", "lcm", ""});
  const auto got = rest_of(*from);
  REQUIRE(got.size() == 4);
  CHECK(got[2].received_ns == 5'002'000);
  CHECK(got[2].data == bytes_of(large));
  CHECK(problems_of(*from).empty());
}

TEST_CASE("recording lcm log: cut anywhere, it has its whole events", "[unit]") {
  std::string log;
  std::vector<std::size_t> ends;
  for (std::uint64_t n = 0; n < 8; ++n) {
    log += event(n, n, n % 2 == 0 ? "A" : "LONGER", std::string(n * 5, 'x'));
    ends.push_back(log.size());
  }
  for (std::size_t length = 4; length <= log.size(); ++length) {
    INFO(length);
    const auto from = open_bytes(bytes_of(log.substr(0, length)));
    REQUIRE(from != nullptr);
    const auto whole = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), length) - ends.begin());
    CHECK(rest_of(*from).size() == whole);
    const bool at_end = whole > 0 && ends[whole - 1] == length;
    CHECK(from->summary().closed == at_end);
    CHECK(problems_of(*from).empty() == at_end);
  }
}

TEST_CASE("recording lcm log: behind damage, it goes on at the next event", "[unit]") {
  const std::string a = event(0, 10, "A", "first");
  const std::string b = event(1, 20, "B", "second, which will be damaged");
  const std::string c = event(2, 30, "C", "third");
  const auto check = [&](const std::string& middle, const std::vector<std::int64_t>& expected) {
    const auto from = open_bytes(bytes_of(a + middle + c));
    REQUIRE(from != nullptr);
    std::vector<std::int64_t> got;
    for (const auto& s : rest_of(*from)) got.push_back(s.received_ns / 1000);
    CHECK(got == expected);
    CHECK(from->summary().closed);
    CHECK(problems_of(*from).size() == 1);
  };
  std::string damaged = b;
  damaged[1] ^= 1;  // the sync word
  check(damaged, {10, 30});
  damaged = b;
  damaged[24] = 0x7F;  // data of 2 GB
  check(damaged, {10, 30});
  damaged = b;
  damaged[27] = static_cast<char>(damaged[27] + 4);  // 4 bytes into the next event
  check(damaged, {10, 30});
  check(b.substr(0, 30), {10, 30});                         // the rest was never written
  check(b + "some bytes that are no event", {10, 20, 30});  // after a whole one
  check(std::string(100'000, '\xED'), {10, 30});
}

TEST_CASE("recording lcm log: 3,000 events of many blocks: seek, select and last_before", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.lcm");
  std::unique_ptr<writer> to;
  require_ok(create_lcm_log(path, false, to));
  channel_id channels[2] = {};
  require_ok(to->add_channel(json_channel("A"), channels[0]));
  require_ok(to->add_channel(json_channel("B"), channels[1]));
  for (std::uint64_t n = 0; n < 3000; ++n) require_ok(to->write(numbered_sample(channels[n % 7 == 0], n, 1500)));
  require_ok(to->close());
  const auto from = open_recording(path);
  require_ok(from->seek(recording_start + 2'500'000'000));
  CHECK(rest_of(*from).size() == 500);
  // The reader numbers channels as they come: B is the first.
  REQUIRE(from->channels()[0].topic == "B");
  from->select({true, false});
  require_ok(from->seek(0));
  CHECK(rest_of(*from).size() == 429);
  sample s;
  std::vector<std::byte> kept;
  require_ok(from->last_before(0, recording_start + 1'000'000'000, s, kept));
  CHECK(s.received_ns == recording_start + 994'000'000);
  CHECK(kept == numbered_sample(0, 994, 1500).data);
}
