#include "core/broker/own_addresses.h"

#include <utility>

#include "base/files/run_dir.h"
#include "transport/endpoint_directory.h"

namespace orc::detail {

namespace {

// with_environment() has checked them.
[[nodiscard]] port_range ports_of(const std::string& text) {
  const auto parsed = port_range::parse(text);
  return parsed ? *parsed : port_range{};
}

[[nodiscard]] bool is_cut_off(const std::optional<route>& to_broker, const std::string& endpoint) noexcept {
  return !to_broker && endpoint.starts_with("tcp://");
}

}  // namespace

own_addresses::own_addresses(const participant_options& options, bool alone)
    : advertise_(options.advertise), ports_(options.ports) {
  if (!alone) return;
  scope_ = network_scope{
      .directory = {}, .directory_problem = {}, .alone = true, .addresses = {}, .ports = ports_of(ports_)};
}

std::string own_addresses::learn(const std::string& endpoint, bool named, bool remote, bool is_new) {
  const auto to_broker = route_to(endpoint);
  if (!scope_ || is_new)
    scope_ = scope_beside(endpoint, named, remote || (to_broker && to_broker->leaves_host));
  else if (is_cut_off(to_broker, endpoint))
    return {};
  route_begins_at_ = to_broker ? to_broker->address : std::string();
  scope_->addresses = addresses(to_broker);
  if (!to_broker || !to_broker->leaves_host || !advertise_.empty() || route_begins_at_.find('%') == std::string::npos)
    return {};
  return "the broker is reached from the link-local address " + route_begins_at_ +
         ", which other hosts cannot use: no topic is offered over tcp; name another address of the broker in "
         "ORC_BROKER";
}

own_addresses::followed own_addresses::follow(const std::string& endpoint) {
  const auto to_broker = route_to(endpoint);
  if (is_cut_off(to_broker, endpoint)) return {};
  const bool elsewhere = to_broker && std::exchange(route_begins_at_, to_broker->address) != to_broker->address;
  scope_->addresses = addresses(to_broker);
  return {.has_route = true, .begins_elsewhere = elsewhere};
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
std::vector<std::string> own_addresses::addresses(const std::optional<route>& to_broker) const {
  if (!advertise_.empty()) return {advertise_};
  if (to_broker && to_broker->leaves_host) return {to_broker->address};
  return scope_->remote ? outside_addresses() : std::vector<std::string>();
}

}  // namespace orc::detail
