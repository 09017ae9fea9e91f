// Follows which services there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "orc/calls.h"
#include "orc/directory.h"
#include "tools/web/live/described_topics.h"
#include "tools/web/memory_budget.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

struct shown_service {
  std::uint32_t id = 0;  // another one for a service of the same name with other types; no id comes twice
  service_description about = {};
  detail::hashed_type request = {};  // empty: bytes
  detail::hashed_type reply = {};
  std::shared_ptr<const void> share = {};  // of the memory for schemas
};

// By name.
using shown_services = std::map<std::string, std::shared_ptr<const shown_service>>;

// A thread at a time. The directory outlives it.
class service_follower {
 public:
  static constexpr std::size_t max_services = 1024;                       // that are shown, the first by their names
  static constexpr std::size_t max_schema_bytes = std::size_t{16} << 20;  // of all together

  // `all`: also ORC's own. `last_id` outlives it, and goes on with the next one.
  service_follower(directory& from, bool all, std::uint32_t& last_id);

  // Waits for the broker when services came or went. Returns the list if it is another one, else null.
  [[nodiscard]] std::shared_ptr<const shown_services> refresh(clock::time_point now);
  [[nodiscard]] int fd() const noexcept { return topics_.fd(); }
  [[nodiscard]] clock::time_point next() const { return topics_.next(); }

 private:
  struct followed {
    std::string publication = {};  // its id
    std::shared_ptr<const shown_service> shown = {};
  };

  [[nodiscard]] std::shared_ptr<const shown_service> describe(const std::string& name, const followed* before);

  directory& from_;
  described_topics topics_;
  const std::shared_ptr<memory_budget> schemas_ = std::make_shared<memory_budget>(max_schema_bytes);
  std::map<std::string, followed> services_;
  std::uint32_t& last_id_;
};

}  // namespace orc::web
