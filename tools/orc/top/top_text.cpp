#include "tools/orc/top/top_text.h"

#include <algorithm>

#include "base/process/process_identity.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

constexpr std::string_view unknown = "-";

[[nodiscard]] char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string rate_text(const std::optional<double>& hz) {
  if (!hz) return std::string(unknown);
  if (*hz == 0) return "0";
  if (*hz < 0.995) return fixed(*hz, 2);
  if (*hz < 1e5) return fixed(*hz, 1);
  if (*hz < 1e6) return fixed(*hz / 1e3, 1) + "k";
  return fixed(*hz / 1e6, 1) + "M";
}

std::string bandwidth_text(const std::optional<double>& bytes_per_s) {
  return bytes_per_s ? size_text(*bytes_per_s) + "/s" : std::string(unknown);
}

std::string span_text(const std::optional<std::chrono::nanoseconds>& span) {
  if (!span) return std::string(unknown);
  using namespace std::chrono;
  if (*span < minutes(2)) return duration_text(span->count());
  if (*span < hours(2)) return std::to_string(duration_cast<minutes>(*span).count()) + " min";
  if (*span < hours(48)) return std::to_string(duration_cast<hours>(*span).count()) + " h";
  return std::to_string(duration_cast<hours>(*span).count() / 24) + " d";
}

std::string count_text(std::uint64_t count) {
  if (count < 1'000'000) return std::to_string(count);
  const auto value = static_cast<double>(count);
  return value < 1e9 ? fixed(value / 1e6, 1) + "M" : fixed(value / 1e9, 1) + "G";
}

std::string transports_text(const view::topic_figures& topic) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty()) text += ',';
    text += part;
  };
  for (const view::transport_use& each : topic.transports) {
    add(to_string(each.transport));
    if (topic.transports.size() > 1) text += ' ' + std::to_string(each.subscriptions);
  }
  if (!text.empty()) return text;
  // Nearly every topic offers inproc: it says nothing until a subscriber uses it.
  for (const orc::transport each : topic.offered)
    if (each != orc::transport::inproc || topic.offered.size() == 1) add(to_string(each));
  return text.empty() ? std::string(unknown) : "(" + text + ")";
}

std::string publisher_text(const view::topic_figures& topic) {
  if (topic.shared_by.size() > 1) return std::to_string(topic.shared_by.size()) + " publishers";
  return topic.publisher ? publisher_text(*topic.publisher, topic.host_name, topic.stale) : std::string(unknown);
}

std::string host_text(const std::string& host) {
  static const std::string here = detail::host_identity();
  if (host.empty()) return "?";
  return short_host(host) + (host == here ? " (here)" : "");
}

bool matches_filter(std::string_view text, std::string_view filter) {
  while (!filter.empty()) {
    const std::size_t blank = filter.find(' ');
    const std::string_view word = filter.substr(0, blank);
    filter.remove_prefix(blank == std::string_view::npos ? filter.size() : blank + 1);
    const auto found = std::search(text.begin(), text.end(), word.begin(), word.end(),
                                   [](char a, char b) { return lower(a) == lower(b); });
    if (found == text.end() && !word.empty()) return false;
  }
  return true;
}

}  // namespace orc::cli
