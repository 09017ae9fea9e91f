#include "open_file.h"

#include <algorithm>
#include <array>

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
  if (lcm_log_reader::begins(*file)) return open_as<lcm_log_reader>(std::move(file), made);
  return broken(file->name(), "is neither an MCAP file nor an LCM log: byte 0 begins neither");
}

}  // namespace detail

result reader::open(const std::string& path, std::unique_ptr<reader>& made) {
  std::unique_ptr<detail::input_file> file;
  if (auto done = detail::input_file::open(path, file); !done) return done;
  return detail::open_file(std::move(file), made);
}

}  // namespace orc::recording
