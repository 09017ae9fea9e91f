// The participants of this broker: which one each connection has, and until when its lease runs. It knows nothing of
// their topics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "broker/connections/peer.h"
#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc {

class leases {
 public:
  using time = table::time;
  // The key of a connection: a counter, unique for the life of the broker. Peers never see it.
  using routing = std::uint64_t;
  using participants = std::map<wire::id, std::unique_ptr<table::participant>>;

  explicit leases(table::duration lease) noexcept : lease_(lease) {}
  leases(const leases&) = delete;
  leases& operator=(const leases&) = delete;

  // Null: none.
  [[nodiscard]] table::participant* at(routing from) const;
  [[nodiscard]] table::participant* of(const wire::id& who) const;
  [[nodiscard]] const participants& all() const noexcept { return participants_; }

  // Whether a session may say Hello as `who` from another connection: it is the same one (secret, process, and on ipc
  // user). From its own connection, `from`, the process is enough.
  [[nodiscard]] static bool may_move(const table::participant& session, routing from, const peer& by,
                                     const wire::hello& who);
  // Takes a new participant. Changes nothing when it throws.
  table::participant& add(std::unique_ptr<table::participant> made, routing from, time now);
  // Takes what a known one says about itself now, from this connection.
  void move(table::participant& session, routing from, const wire::hello& who, time now);
  // The connection is gone. Its participant stays until its lease ends, or until it moves to another connection.
  void closed(routing from) noexcept;

  void renew(table::participant& session, time now) noexcept;
  void renew_all(time now) noexcept;
  [[nodiscard]] bool any_late(time now) const noexcept { return !by_age_.empty() && by_age_.front()->expires <= now; }
  // The one whose lease ends next, when any_late().
  [[nodiscard]] table::participant& next_late() const noexcept { return *by_age_.front(); }
  // From here on no one knows it.
  [[nodiscard]] std::unique_ptr<table::participant> take(table::participant& session) noexcept;

 private:
  const table::duration lease_;
  participants participants_;
  std::list<table::participant*> by_age_;  // the next lease to end comes first
  std::unordered_map<routing, table::participant*> by_route_;
};

}  // namespace orc
