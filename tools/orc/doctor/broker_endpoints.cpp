#include "tools/orc/doctor/broker_endpoints.h"

#include <chrono>
#include <utility>

#include "base/broker_trust.h"
#include "base/endpoint_check.h"
#include "base/host_addresses.h"

namespace orc::cli {

namespace {

constexpr std::chrono::milliseconds quick{200};

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

std::string why_ignored(const std::string& endpoint) {
  const std::string distrusted = detail::why_distrusted(endpoint);
  return distrusted.empty() ? distrusted : distrusted + ": ignored";
}

}  // namespace orc::cli
