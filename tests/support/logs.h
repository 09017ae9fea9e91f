// `orc log` in a directory with a recording.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/orc_tool.h"
#include "support/recording_file.h"

namespace orc::test {

// An int32, a text of 8 bytes, and two doubles.
inline const type_description mixed = {
    .name = "test.Mixed",
    .schema_encoding = "struct",
    .message_encoding = "struct",
    .schema = R"({"byte_order":"little","size":32,"fields":[{"name":"count","type":"int32","offset":0},)"
              R"({"name":"label","type":"char","offset":4,"shape":[8]},)"
              R"({"name":"pose","type":{"size":16,"fields":[{"name":"x","type":"float64","offset":0},)"
              R"({"name":"y","type":"float64","offset":8}]},"offset":16}]})"};

inline std::string mixed_sample(std::int32_t count, std::string label, double x, double y) {
  std::string bytes(32, '\0');
  label.resize(8, '\0');
  std::memcpy(bytes.data(), &count, 4);
  std::memcpy(bytes.data() + 4, label.data(), 8);
  std::memcpy(bytes.data() + 16, &x, 8);
  std::memcpy(bytes.data() + 24, &y, 8);
  return bytes;
}

// The tool without a broker, in a directory of its own, where run.mcap has three topics.
class logs {
 public:
  logs() {
    recording_file file(path("run.mcap"));
    file.channel("mixed", mixed);
    for (int i = 0; i < 10; ++i) {
      file.sample("mixed", 10.0 * i, mixed_sample(i, "a,\"" + std::to_string(i), 0.1 * i, -1.0 / (i + 1)));
      if (i % 2 == 0) file.sample("text", 10.0 * i + 5, "text " + std::to_string(i));
    }
    file.sample("map", 1, "the map");
    REQUIRE(file.writer().add_metadata("site", {{"room", "lab"}}));
    const std::string note = "attached";
    REQUIRE(file.writer().add_attachment({"note.txt", "text/plain", recorded_at_ns, recorded_at_ns},
                                         std::as_bytes(std::span(note))));
    file.close();
  }

  [[nodiscard]] std::string path(const std::string& name) const { return scratch_.file(name); }
  [[nodiscard]] tool::outcome run(const std::string& words) const {
    return orc_.run("cd " + scratch_.path().string() + "; $orc log " + words);
  }
  // Lines after `words`, which must succeed.
  [[nodiscard]] std::string out(const std::string& words) const {
    const auto done = run(words);
    INFO(words << ": " << done.err);
    REQUIRE(done.exit_code == 0);
    return done.out;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& each : std::filesystem::directory_iterator(scratch_.path()))
      all.push_back(each.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] const tool& orc() const { return orc_; }

 private:
  const detail::temporary_directory scratch_;
  const broker_process broker_{broker_process::at::nowhere};
  const tool orc_{broker_};
};

}  // namespace orc::test
