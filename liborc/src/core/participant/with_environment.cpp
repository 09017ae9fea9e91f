#include "core/participant/with_environment.h"

#include "base/files/run_dir.h"
#include "base/network/host_addresses.h"
#include "base/network/port_range.h"
#include "base/process/environment.h"
#include "base/text/comma_list.h"
#include "wire/broker_endpoint.h"
#include "wire/control.h"
#include "wire/multicast_url.h"
#include "wire/name_space.h"

namespace orc::detail {

namespace {

// "ipc, tcp" -> {ipc, tcp}
[[nodiscard]] expected<transport_set> transports_from(std::string_view list) {
  transport_set set;
  for (const auto word : comma_list(list)) {
    const auto named = wire::transport_named(word);
    if (!named || *named == wire::transport::none)
      return error(errc::bad_argument,
                   "there is no transport " + std::string(word) + "; there are inproc, shm, ipc, tcp and multicast");
    set.insert(static_cast<transport>(*named));
  }
  return set;
}

// Subscribers get a number, because only the owner of a name should wait for its lookup. Empty: unknown.
[[nodiscard]] std::string number_of(const std::string& host) {
  const auto known = addresses_of_host(host);
  return known.empty() ? std::string() : known.front().text();
}

}  // namespace

result check_broker(const std::string& named) {
  if (named == without_broker || !broker_is_named(named)) return {};
  for (const auto& each : broker_candidates(named)) {
    if (const auto problem = wire::problem_of_broker_endpoint(each))
      return {errc::bad_argument, "the broker's endpoint " + problem->text};
  }
  return {};
}

expected<participant_options> with_environment(participant_options options) {
  if (options.transports.empty()) {
    const auto named = transports_from(environment("ORC_TRANSPORTS"));
    if (!named) return error(errc::bad_argument, "ORC_TRANSPORTS: " + named.error().message());
    options.transports = *named;
  }
  if (options.ports.empty()) options.ports = environment("ORC_PORTS");
  if (const auto ports = port_range::parse(options.ports); !ports)
    return error(errc::bad_argument, "ports (ORC_PORTS): " + ports.error().message());
  if (options.name_space.empty()) options.name_space = environment("ORC_NAMESPACE");
  if (const auto names = wire::name_space::parse(options.name_space); !names)
    return error(errc::bad_argument, "name_space (ORC_NAMESPACE): " + names.error().message());
  if (options.broker.empty() && environment("ORC_BROKER") == without_broker) options.broker = without_broker;
  if (const auto good = check_broker(options.broker); !good) return good.error();
  const bool own = !options.multicast.empty() || !environment("ORC_MULTICAST").empty();
  if (options.multicast.empty()) options.multicast = wire::multicast_url::from_environment().text;
  const auto url = wire::multicast_url::parse(options.multicast);
  if (!url && own) return url.error();
  // LCM_DEFAULT_URL may hold something for LCM programs that ORC does not know.
  if (!url && options.log)
    options.log(log_level::warning, "LCM_DEFAULT_URL: " + url.error().message() + "; " +
                                        std::string(wire::multicast_url::usual) + " is used");
  options.multicast = url ? url->text() : wire::multicast_url::usual;
  if (options.advertise.empty()) options.advertise = environment("ORC_ADVERTISE");
  if (options.advertise.empty()) return options;
  auto number = number_of(options.advertise);
  if (number.empty())
    return error(errc::bad_argument,
                 "the address to advertise, " + options.advertise +
                     " (ORC_ADVERTISE), is no address or known host: no scheme, no port, no brackets");
  options.advertise = std::move(number);
  return options;
}

}  // namespace orc::detail
