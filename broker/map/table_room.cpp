#include "broker/map/table_room.h"

#include <string>

namespace orc {

detail::expected<wire::ack, wire::error> room(const char* what, std::size_t all, std::size_t limit, const client& by,
                                              std::size_t of_client, std::size_t of_participant,
                                              std::size_t limit_each) {
  const auto refuse = [&](const std::string& holder, std::size_t most) {
    return wire::error{wire::error_code::limit,
                       holder + " no more than " + std::to_string(most) + " " + what + ": see orc-broker --help"};
  };
  if (of_participant >= limit_each) return refuse("a participant may have", limit_each);
  if (all >= limit) return refuse("the broker keeps", limit);
  const std::size_t share = client_table::share(limit, all > of_client ? all - of_client : 0);
  if (of_client >= share) return refuse(by.name + " may have, over all its connections,", share);
  return wire::ack{};
}

}  // namespace orc
