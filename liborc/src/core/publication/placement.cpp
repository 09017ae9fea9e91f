#include "core/publication/placement.h"

namespace orc::detail {

namespace {

[[nodiscard]] transport name_of(const transport_kind& kind) noexcept { return static_cast<transport>(kind.name()); }

[[nodiscard]] bool is_wanted(const transport_kind& kind, transport_set named, const network_scope& scope) noexcept {
  const capabilities can = kind.can();
  if (!named.empty() && !named.contains(name_of(kind))) return false;
  if (scope.alone) return !can.needs_broker;
  return !named.empty() || (can.by_default && (!can.leaves_host || scope.across_hosts));
}

}  // namespace

expected<std::vector<const transport_kind*>> transports_to_open(const transport_list& all, transport_set named,
                                                                transport_set open, const network_scope& scope,
                                                                const std::string& topic) {
  std::vector<const transport_kind*> chosen;
  for (const auto& kind : all) {
    if (is_wanted(*kind, named, scope)) chosen.push_back(kind.get());
  }
  if (scope.alone && chosen.empty()) return without_multicast(topic).error();
  std::erase_if(chosen, [&](const auto* kind) { return open.contains(name_of(*kind)); });
  for (const auto* kind : chosen) {
    if (kind->can().needs_directory && scope.directory.empty()) return scope.directory_problem;
  }
  return chosen;
}

bool can_do_without(const transport_kind& kind, transport_set named, const error& failure) {
  const bool has_others = named != transport_set{name_of(kind)};
  return has_others && kind.can().may_be_missing && failure.code() == errc::system_error;
}

result without_multicast(const std::string& topic) {
  return {errc::bad_argument,
          "without a broker (none) there is only multicast, which topic " + topic + " does not name as a transport"};
}

}  // namespace orc::detail
