#include "tools/orc/replay/trace_file.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "base/files/readable_file.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

[[nodiscard]] std::string time_text(std::int64_t realtime_ns) {
  const auto seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts{};
  char text[32] = "?";
  if (localtime_r(&seconds, &parts) != nullptr) (void)std::strftime(text, sizeof text, "%F %T", &parts);
  return text;
}

[[nodiscard]] std::string command_text(std::string_view words) {
  std::string text(words.substr(0, words.find_last_not_of('\0') + 1));
  std::replace(text.begin(), text.end(), '\0', ' ');
  return escaped(text);
}

struct traffic {
  std::uint64_t receives = 0;
  std::uint64_t samples = 0;
  std::uint64_t sends = 0;
};

}  // namespace

detail::expected<std::unique_ptr<trace_file>> trace_file::open(const std::string& path) {
  auto file = detail::readable_file::open(path);
  if (!file) return file.error();
  auto reader = wire::trace_reader::open(*std::move(file));
  if (!reader) return error(errc::bad_argument, path + " is no trace: " + reader.error().message());
  std::unique_ptr<trace_file> made(new trace_file);
  made->reader_ = *std::move(reader);
  auto index = wire::trace_index::make(*made->reader_);
  if (!index) return error(errc::bad_argument, path + " cannot be replayed: " + index.error().message());
  made->index_ = *std::move(index);
  return made;
}

std::optional<std::size_t> trace_file::call_at(std::uint64_t position) const {
  const auto& calls = index_->calls();
  const auto found = std::lower_bound(calls.begin(), calls.end(), position,
                                      [](const auto& call, std::uint64_t at) { return call.position < at; });
  if (found == calls.end() || found->position != position) return std::nullopt;
  return static_cast<std::size_t>(found - calls.begin());
}

double trace_file::seconds_at(std::size_t call) const {
  const auto& calls = index_->calls();
  return static_cast<double>(calls[call].at_ns) / 1e9 - static_cast<double>(calls.front().at_ns) / 1e9;
}

std::unique_ptr<types::decoder> trace_file::decoder_of(std::uint32_t endpoint) const {
  std::unique_ptr<types::decoder> made;
  const auto* const of = index_->find(endpoint);
  const auto position = of != nullptr ? index_->type(of->type) : std::nullopt;
  if (!position) return made;
  const auto event = reader_->at(*position);
  if (const auto type = event ? event->type() : std::nullopt) (void)types::decoder::make(*type, made);
  return made;
}

std::string trace_file::early_end() const {
  if (const std::uint32_t why = reader_->start().stopped; why != 0)
    return "tracing stopped before the program ended: " + std::string(std::strerror(static_cast<int>(why)));
  if (!reader_->problem().empty())
    return std::string(reader_->problem()) + " (at byte " + std::to_string(reader_->end()) + ")";
  if (!index_->ended()) return "the program was killed, or ended without ending its participants";
  return {};
}

std::string trace_file::summary() const {
  const auto& calls = index_->calls();
  std::string text = "program:  " + command_text(reader_->command()) + "\n";
  text +=
      "traced:   " + time_text(reader_->start().realtime_ns) + ", pid " + std::to_string(reader_->start().pid) + "\n";
  text += "time:     " + (calls.empty() ? "0" : fixed(seconds_at(calls.size() - 1), 3)) + " s\n";
  text += "calls:    " + std::to_string(calls.size()) + ", of " + counted(index_->threads().size(), "thread") +
          ", in " + size_text(static_cast<double>(reader_->end())) + "\n";
  const std::string early = early_end();
  text += "complete: " + (early.empty() ? "yes" : "no: " + early) + "\n";
  std::map<std::uint32_t, traffic> by_endpoint;
  for (const auto& each : calls) {
    traffic& of = by_endpoint[each.number];
    of.receives += each.kind == wire::trace_kind::receive ? 1 : 0;
    of.samples += each.kind == wire::trace_kind::receive && each.status == 0 ? 1 : 0;
    of.sends += each.kind == wire::trace_kind::send ? 1 : 0;
  }
  std::vector<std::vector<std::string>> rows{{"TOPIC", "RECEIVES", "SAMPLES", "SENDS"}};
  for (const auto& [number, of] : by_endpoint) {
    if (of.receives == 0 && of.sends == 0) continue;
    const auto* const endpoint = index_->find(number);
    rows.push_back({endpoint != nullptr ? escaped(endpoint->topic) : "?", std::to_string(of.receives),
                    std::to_string(of.samples), std::to_string(of.sends)});
  }
  if (rows.size() > 1) text += table(rows);
  for (const std::string& each : index_->obstacles()) text += "not reproducible: " + escaped(each) + "\n";
  return text;
}

}  // namespace orc::cli
