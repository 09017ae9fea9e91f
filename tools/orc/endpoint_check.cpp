#include "endpoint_check.h"

#include <algorithm>
#include <system_error>

#include "base/broker_trust.h"
#include "base/endpoint_check.h"
#include "base/host_addresses.h"
#include "text.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto quick = 200ms;
constexpr auto longest_check = 5s;
constexpr auto slice = 10ms;

}  // namespace

std::vector<std::string> ways_to(const std::vector<std::string>& endpoints) {
  std::vector<std::string> ways;
  for (const auto& each : endpoints) {
    auto numbers = detail::numeric_endpoints(each);
    if (numbers.empty()) numbers.push_back(each);
    ways.insert(ways.end(), numbers.begin(), numbers.end());
  }
  return ways;
}

std::string why_silent(const std::string& endpoint) {
  if (detail::names_a_host(endpoint)) return "no such host";
  auto found = detail::look_at_endpoint(endpoint, quick, detail::names_are::left_out);
  return found.what == detail::endpoint_finding::kind::failed ? std::move(found.text) : std::string();
}

std::string why_none_answers(const std::vector<std::string>& endpoints, const detail::stop_signal& stop) try {
  const detail::endpoint_check check(endpoints);
  const auto until = detail::stop_signal::clock::now() + longest_check;
  while (!check.is_done() && !stop.raised() && detail::stop_signal::clock::now() < until)
    stop.wait_until(std::min(until, detail::stop_signal::clock::now() + slice));
  std::string all;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::string found = check.is_done() ? check.findings()[i] : "the system's resolver does not answer";
    if (!all.empty()) all += ", ";
    all += escaped(endpoints[i]) + (found.empty() ? "" : " (" + found + ")");
  }
  return all;
} catch (const std::system_error& no_thread) {
  return no_thread.what();
}

std::string why_ignored(const std::string& endpoint) {
  const std::string distrusted = detail::why_distrusted(endpoint);
  return distrusted.empty() ? distrusted : distrusted + ": ignored";
}

}  // namespace orc::cli
