#include "open_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "files/failure.h"
#include "lcm_log/lcm_log_reader.h"
#include "mcap/mcap_reader.h"

namespace orc::recording {
namespace detail {
namespace {

template <typename Reader>
result open_as(std::unique_ptr<input_file> file, std::unique_ptr<reader>& made) {
  auto opened = std::make_unique<Reader>(std::move(file));
  if (auto done = opened->open(); !done) return done;
  made = std::move(opened);
  return {};
}

// Files that are often taken for recordings: how they begin, what they are, and what to do.
struct other_kind {
  std::string_view begin;
  std::string_view what;
};
constexpr std::array other_kinds = {
    other_kind{"\x28\xB5\x2F\xFD", "is compressed with zstd: zstd -d makes a file of it that can be read"},
    other_kind{"\x1F\x8B", "is compressed with gzip: gunzip makes a file of it that can be read"},
    other_kind{"\x04\x22\x4D\x18", "is compressed with lz4: lz4 -d makes a file of it that can be read"},
    other_kind{"BZh", "is compressed with bzip2: bunzip2 makes a file of it that can be read"},
    other_kind{"\xFD"
               "7zXZ",
               "is compressed with xz: unxz makes a file of it that can be read"},
    other_kind{"PK\x03\x04", "is a ZIP archive: unzip makes files of it that can be read"},
    other_kind{"SQLite format 3", "is an SQLite database, such as a .db3 of ROS 2: ros2 bag convert makes MCAP of it"},
    other_kind{"#ROSBAG V", "is a bag of ROS 1: mcap convert makes MCAP of it"}};

std::string_view other_kind_of(const input_file& file) {
  std::array<std::byte, 16> bytes{};
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), file.size()));
  if (!file.read(0, std::span(bytes).first(size))) return {};
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), size);
  const auto found = std::ranges::find_if(other_kinds, [&](const other_kind& k) { return begin.starts_with(k.begin); });
  return found == other_kinds.end() ? std::string_view() : found->what;
}

}  // namespace

result open_file(std::unique_ptr<input_file> file, std::unique_ptr<reader>& made) {
  if (file->size() == 0) return broken(file->name(), "is empty");
  std::array<std::byte, mcap_magic.size()> first{};
  if (file->size() >= first.size()) {
    if (auto done = file->read(0, first); !done) return done;
    if (std::ranges::equal(first, std::as_bytes(std::span(mcap_magic)))) {
      return open_as<mcap_reader>(std::move(file), made);
    }
  }
  if (const auto what = other_kind_of(*file); !what.empty()) return broken(file->name(), what);
  return open_as<lcm_log_reader>(std::move(file), made);  // also one with other bytes in front
}

}  // namespace detail

result reader::open(const std::string& path, std::unique_ptr<reader>& made) {
  std::unique_ptr<detail::input_file> file;
  if (auto done = detail::input_file::open(path, file); !done) return done;
  return detail::open_file(std::move(file), made);
}

}  // namespace orc::recording
