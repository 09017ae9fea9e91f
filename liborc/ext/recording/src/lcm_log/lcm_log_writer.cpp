#include "lcm_log/lcm_log_writer.h"

#include <cstdlib>

#include "lcm_log/lcm_log_format.h"

namespace orc::recording::detail {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::int64_t piece_ns = 1'000'000'000;
constexpr std::size_t large_sample = std::size_t{64} << 10;

}  // namespace

lcm_log_writer::~lcm_log_writer() { static_cast<void>(close()); }

result lcm_log_writer::usable() const {
  if (closed_) return {errc::closed, file_.path() + " is closed"};
  return status_;
}

result lcm_log_writer::add_channel(const channel& added, channel_id& made) {
  if (auto can = usable(); !can) return can;
  if (added.topic.empty() || added.topic.size() > max_lcm_channel) {
    return {errc::bad_argument, "a channel of an LCM log has 1 to " + std::to_string(max_lcm_channel) +
                                    " bytes: topic '" + added.topic.substr(0, 64) + "' does not fit"};
  }
  if (names_.size() >= max_channels) {
    return {errc::bad_argument,
            file_.path() + " has " + std::to_string(max_channels) + " channels, and no place for more"};
  }
  made = static_cast<channel_id>(names_.size());
  names_.push_back(added.topic);
  return {};
}

result lcm_log_writer::append(std::span<const std::byte> tail) {
  auto done = file_.append({events_.bytes(), tail});
  events_.clear();
  if (!done) status_ = done;
  return done;
}

result lcm_log_writer::write(const sample& s) {
  if (auto can = usable(); !can) return can;
  if (s.channel >= names_.size()) {
    return {errc::bad_argument, "there is no channel " + std::to_string(s.channel) + " in " + file_.path()};
  }
  if (s.data.size() > max_lcm_data) {
    return {errc::bad_argument, "a sample of " + std::to_string(s.data.size()) + " bytes is too large for an LCM log"};
  }
  const std::string& name = names_[s.channel];
  const std::size_t size = lcm_event_head + name.size() + s.data.size();
  if (!events_.empty() && (events_.size() + size > piece_bytes || std::abs(s.received_ns - first_) >= piece_ns)) {
    if (auto done = append({}); !done) return done;
  }
  if (events_.empty()) first_ = s.received_ns;
  lcm_event_head_fields head;
  head.number = number_++;
  head.time_us = s.received_ns < 0 ? 0 : static_cast<std::uint64_t>(s.received_ns) / 1000;
  head.channel_length = static_cast<std::uint32_t>(name.size());
  head.data_length = static_cast<std::uint32_t>(s.data.size());
  put_lcm_head(head, std::span<std::byte, lcm_event_head>(events_.extend(lcm_event_head), lcm_event_head));
  events_.put_bytes(std::as_bytes(std::span(name)));
  if (s.data.size() >= large_sample) return append(s.data);
  events_.put_bytes(s.data);
  return {};
}

result lcm_log_writer::flush() {
  if (auto can = usable(); !can) return can;
  return events_.empty() ? result() : append({});
}

result lcm_log_writer::close() {
  if (closed_) return {errc::closed, file_.path() + " is closed"};
  auto done = file_.is_open() ? flush() : status_;
  closed_ = true;
  auto ended = file_.close();
  return done ? ended : done;
}

}  // namespace orc::recording::detail

namespace orc::recording {

result create_lcm_log(const std::string& path, bool overwrite, std::unique_ptr<writer>& made, bool* full) {
  auto opened = std::make_unique<detail::lcm_log_writer>();
  auto done = opened->open(path, overwrite);
  if (full != nullptr) *full = opened->is_full();
  if (!done) return done;
  made = std::move(opened);
  return {};
}

}  // namespace orc::recording
