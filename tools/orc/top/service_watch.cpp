#include "tools/orc/top/service_watch.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "json/json_io.h"
#include "tools/orc/text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

constexpr std::size_t most_services = 256;
constexpr std::size_t largest_figures = 4096;  // bytes
constexpr auto longest_requests = std::chrono::milliseconds(200);

// False: it is not there, or no count.
template <class Count>
[[nodiscard]] bool read_count(const json_value& from, const char* name, Count& into) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number_unsigned()) return false;
  into = found->get<Count>();
  return true;
}

// Nothing: this is no sample of a service.
std::optional<service_figures> figures_of_sample(std::span<const std::byte> sample) {
  if (sample.size() > largest_figures) return std::nullopt;
  json_value read_from;
  if (detail::read_json(as_text(sample), read_from) || !read_from.is_object()) return std::nullopt;
  service_figures figures;
  const bool whole = read_count(read_from, "clients", figures.clients) &&
                     read_count(read_from, "waiting", figures.waiting) &&
                     read_count(read_from, "calls", figures.calls) && read_count(read_from, "failed", figures.failed);
  return whole ? std::optional(figures) : std::nullopt;
}

}  // namespace

result service_watch::look(bool all, program_figures& found) {
  std::vector<service_description> services;
  if (result listed = find_services(directory_, {}, services); !listed) return listed;
  if (!all) std::erase_if(services, [](const service_description& each) { return is_reserved(each.name); });
  found.left_out = services.size() - std::min(services.size(), most_services);
  services.resize(services.size() - found.left_out);
  for (service_description& each : services) found.services.push_back({.service = std::move(each)});
  release_gone(found);
  const auto until = std::chrono::steady_clock::now() + longest_requests;
  bool answers = true;  // the broker: a request waits for it
  unfinished_ = false;
  for (auto& [service, figures] : found.services) {
    followed& known = followed_[service.name];
    if (!known.from && std::chrono::steady_clock::now() >= until) unfinished_ = true;
    if (!known.from && answers && !unfinished_) {
      known.from = participant_.request_topic(service.name);
      answers = known.from.result().code() != errc::no_broker;
    }
    if (std::exchange(known.server, service.server.id) != service.server.id) known.figures.reset();
    if (const message sample = known.from.recv(0)) known.figures = figures_of_sample(sample.bytes());
    figures = known.figures;
  }
  return {};
}

void service_watch::release_gone(const program_figures& found) {
  std::erase_if(followed_, [&](const auto& each) {
    const auto at = std::ranges::lower_bound(found.services, each.first, {},
                                             [](const service_row& row) { return std::string_view(row.service.name); });
    if (at != found.services.end() && at->service.name == each.first) return false;
    (void)participant_.release_topic(each.first);
    return true;
  });
}

}  // namespace orc::cli
