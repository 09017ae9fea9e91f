#include "orc/recording/recover.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace orc::recording {
namespace {

class recovery {
 public:
  recovery(reader& from, writer& to, recovered& found) : from_(from), to_(to), found_(found) {}

  result copy_metadata();
  result copy_attachments();
  result copy_samples(const std::function<bool()>& stopped);

 private:
  // True: the new file cannot have this record; it is left out.
  bool leaves_out(const result& written) {
    if (written.code() != errc::bad_argument) return false;
    found_.left_out.add(written.error().message());
    return true;
  }
  result copy_channels();
  result copy(sample s);

  reader& from_;
  writer& to_;
  recovered& found_;
  struct copied_channel {
    std::optional<channel_id> id;  // in the new file; empty: left out
    bool has_samples = false;
  };
  std::vector<copied_channel> channels_;  // by channel of `from_`
};

result recovery::copy_metadata() {
  for (const auto& m : from_.metadata()) {
    auto done = to_.add_metadata(m.name, m.entries);
    if (leaves_out(done)) continue;
    if (!done) return done;
    ++found_.metadata;
  }
  return {};
}

result recovery::copy_attachments() {
  std::vector<std::byte> data;
  for (std::size_t i = 0; i < from_.attachments().size(); ++i) {
    const auto& a = from_.attachments()[i];
    if (const auto got = from_.read_attachment(i, data); !got) {
      found_.left_out.add(got.error().message());
      continue;
    }
    auto done = to_.add_attachment(a, data);
    if (leaves_out(done)) continue;
    if (!done) return done;
    ++found_.attachments;
  }
  return {};
}

result recovery::copy_channels() {
  while (channels_.size() < from_.channels().size()) {
    channel_id made = 0;
    auto done = to_.add_channel(from_.channels()[channels_.size()], made);
    const bool left_out = leaves_out(done);
    if (!done && !left_out) return done;
    channels_.push_back({left_out ? std::nullopt : std::optional(made)});
  }
  return {};
}

result recovery::copy(sample s) {
  if (auto done = copy_channels(); !done) return done;
  copied_channel& to = channels_[s.channel];
  if (!to.id) return {};
  s.channel = *to.id;
  auto done = to_.write(s);
  if (leaves_out(done)) return {};
  if (!done) return done;
  ++found_.samples;
  to.has_samples = true;
  return {};
}

result recovery::copy_samples(const std::function<bool()>& stopped) {
  if (auto done = copy_channels(); !done) return done;
  while (!stopped || !stopped()) {
    sample s;
    const auto got = from_.next(s);
    if (got.code() == errc::nothing_new) break;
    if (!got) {
      found_.left_out.add(got.error().message());
    } else if (auto done = copy(s); !done) {
      return done;
    }
  }
  std::set<std::string> topics;
  for (std::size_t i = 0; i < channels_.size(); ++i)
    if (channels_[i].has_samples) topics.insert(from_.channels()[i].topic);
  found_.topics = topics.size();
  const std::uint64_t counted = from_.summary().samples;
  found_.missing_samples = counted > found_.samples ? counted - found_.samples : 0;
  return {};
}

}  // namespace

result recover(reader& from, writer& to, recovered& found, const std::function<bool()>& stopped) {
  found = {};
  found.left_out = from.summary().left_out;
  recovery all(from, to, found);
  if (auto done = all.copy_metadata(); !done) return done;
  if (auto done = all.copy_attachments(); !done) return done;
  return all.copy_samples(stopped);
}

}  // namespace orc::recording
