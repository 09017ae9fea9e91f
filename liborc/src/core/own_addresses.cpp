#include "core/own_addresses.h"

#include <utility>

#include "base/run_dir.h"
#include "transport/endpoint_directory.h"

namespace orc::detail {

namespace {

// with_environment() has checked them.
[[nodiscard]] port_range ports_of(const std::string& text) {
  const auto parsed = port_range::parse(text);
  return parsed ? *parsed : port_range{};
}

[[nodiscard]] bool is_cut_off(const std::optional<route>& way, const std::string& endpoint) noexcept {
  return !way && endpoint.starts_with("tcp://");
}

}  // namespace

own_addresses::own_addresses(const participant_options& options, bool alone)
    : advertise_(options.advertise), ports_(options.ports) {
  if (!alone) return;
  scope_ = network_scope{
      .directory = {}, .directory_problem = {}, .alone = true, .addresses = {}, .ports = ports_of(ports_)};
}

std::string own_addresses::learn(const std::string& endpoint, bool named, bool remote, bool is_new) {
  const auto way = route_to(endpoint);
  if (!scope_ || is_new)
    scope_ = scope_beside(endpoint, named, remote || (way && way->leaves_host));
  else if (is_cut_off(way, endpoint))
    return {};
  way_begins_at_ = way ? way->address : std::string();
  scope_->addresses = addresses(way);
  if (!way || !way->leaves_host || !advertise_.empty() || way_begins_at_.find('%') == std::string::npos) return {};
  return "the broker is reached from the link-local address " + way_begins_at_ +
         ", which other hosts cannot use: no topic is offered over tcp; name another address of the broker in "
         "ORC_BROKER";
}

own_addresses::followed own_addresses::follow(const std::string& endpoint) {
  const auto way = route_to(endpoint);
  if (is_cut_off(way, endpoint)) return {};
  const bool elsewhere = way && std::exchange(way_begins_at_, way->address) != way->address;
  scope_->addresses = addresses(way);
  return {.has_way = true, .begins_elsewhere = elsewhere};
}

network_scope own_addresses::scope_beside(const std::string& endpoint, bool named, bool remote) {
  run_directory_ = directory_beside(endpoint);
  auto directory = prepare_endpoint_directory(run_directory_, named && endpoint.starts_with("ipc://"));
  network_scope scope;
  if (directory)
    scope.directory = *std::move(directory);
  else
    scope.directory_problem = directory.error();
  scope.remote = remote;
  scope.ports = ports_of(ports_);
  scope.across_hosts = scope.remote || endpoint.starts_with("tcp://");
  return scope;
}

// From another host the broker accepts only the address that the connection comes from.
std::vector<std::string> own_addresses::addresses(const std::optional<route>& way) const {
  if (!advertise_.empty()) return {advertise_};
  if (way && way->leaves_host) return {way->address};
  return scope_->remote ? outside_addresses() : std::vector<std::string>();
}

}  // namespace orc::detail
