// Where this participant's endpoints belong beside the broker that it uses: the directory, and the addresses of this
// host that others can connect to. liborc/doc/design/addresses.md says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/links/route.h"
#include "core/publication/publication.h"
#include "orc/options.h"

namespace orc::detail {

// Not thread-safe: the broker session owns it.
class own_addresses {
 public:
  // `alone`: no broker is used, and the scope is known at once.
  own_addresses(const participant_options& options, bool alone);

  // A broker answered at `endpoint`. `named`: the user named it. `remote`: it listens for other hosts. `is_new`: the
  // last answer came from another endpoint. Returns a warning for the user; empty: none.
  [[nodiscard]] std::string learn(const std::string& endpoint, bool named, bool remote, bool is_new);

  struct followed {
    bool has_route = false;         // to the broker; false: nothing was changed
    bool begins_elsewhere = false;  // the route begins at another address than before
  };
  // Looks at this host's addresses again. Needs a scope.
  [[nodiscard]] followed follow(const std::string& endpoint);

  // Known once a broker has answered.
  [[nodiscard]] const std::optional<network_scope>& scope() const noexcept { return scope_; }
  // Our address on the route to the broker, when last checked.
  [[nodiscard]] const std::string& route_begins_at() const noexcept { return route_begins_at_; }
  // Of the broker's users.
  [[nodiscard]] const std::string& run_directory() const noexcept { return run_directory_; }

 private:
  [[nodiscard]] network_scope scope_beside(const std::string& endpoint, bool named, bool remote);
  [[nodiscard]] std::vector<std::string> addresses(const std::optional<route>& to_broker) const;

  const std::string advertise_;
  const std::string ports_;
  std::optional<network_scope> scope_;
  std::string route_begins_at_;
  std::string run_directory_;
};

}  // namespace orc::detail
