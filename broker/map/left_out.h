// The publications that peers reported and the map left out, because another participant had them. When that one ends,
// only a full report of the peer brings them.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc {

class left_out {
 public:
  static constexpr std::size_t most = 4'096;  // of a peer

  // Makes room for a new peer. Throws std::bad_alloc.
  void join(const table::participant& peer) { peers_.try_emplace(&peer); }
  void leave(const table::participant& peer) noexcept { peers_.erase(&peer); }
  // A full report begins.
  void clear(const table::participant& peer) noexcept {
    auto& of = peers_.at(&peer);
    of.publications.clear();
    of.misses_any = false;
  }
  void add(const table::participant& peer, const wire::id& which) {
    auto& of = peers_.at(&peer);
    if (of.publications.size() < most) of.publications.insert(which);
  }
  // A publication ended, so peers that reported it too have to report it again.
  void missed(const wire::id& which) noexcept {
    for (auto& [peer, of] : peers_) of.misses_any = of.misses_any || of.publications.contains(which);
  }
  // Perhaps one of them ended.
  void doubt() noexcept {
    for (auto& [peer, of] : peers_) of.misses_any = of.misses_any || !of.publications.empty();
  }
  [[nodiscard]] bool misses_any(const table::participant& peer) const noexcept { return peers_.at(&peer).misses_any; }

 private:
  struct omissions {
    std::set<wire::id> publications;  // of its report: live publications of others
    bool misses_any = false;          // one of them is not live any more
  };
  std::map<const table::participant*, omissions> peers_;
};

}  // namespace orc
