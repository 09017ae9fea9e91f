// What peer brokers report: takes it into the map, and decides which of two publications on different hosts keeps the
// name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"
#include "broker/map/departures.h"
#include "broker/map/map_table.h"
#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc {

class peer_reports {
 public:
  using time = table::time;
  using done = map_table::done;
  // One of the peer brokers, as the caller numbers them.
  using peer_key = std::size_t;

  struct peer_facts {
    std::string endpoint;  // names it as a client that pays for its topics
    std::string host_name;
    bool same_host = false;
    bool discovered = false;  // by its beacon, which anyone can send
    // Of every two brokers, one decides which of their publications gets a name, and tells the other.
    bool decided_here = false;
  };
  // A publication of a participant here that an older one on another host displaced.
  struct displaced {
    wire::id participant;
    std::string text;  // for the log
  };
  struct imported {
    std::vector<displaced> lost;
    std::vector<std::string> contested;  // for the log: publications of the peer that an older one keeps hidden
    std::vector<std::uint64_t> lacking;  // hashes of types without a schema here
  };

  peer_reports(map_table& of, departures& leaving) noexcept : table_(of), departures_(leaving) {}
  peer_reports(const peer_reports&) = delete;
  peer_reports& operator=(const peer_reports&) = delete;

  // A peer broker answers: its topics are not stale any more.
  void up(peer_key which, const peer_facts& what);
  // It does not answer. Its topics stay, and states say so.
  void stale(peer_key which) noexcept;
  // Forgets it. Its topics leave with the next clean-up.
  void gone(peer_key which) noexcept;
  // It reports everything from here on. What it has not reported until end_report() is gone then.
  void begin_report(peer_key which) noexcept;
  void end_report(peer_key which) noexcept;
  // Takes the publications of one topic that a peer broker reports in place of those that it reported before. Of
  // publications that exclude each other, the older one wins where this broker decides. Where the peer does, its report
  // names those that lose. Returns an error when the report breaks a rule or a table is full. The caller has checked
  // the endpoints.
  [[nodiscard]] detail::expected<imported, wire::error> import(peer_key which, wire::topic_state&& what, time now);
  [[nodiscard]] done add_schema(peer_key which, const wire::schema_part& part, time now);

  [[nodiscard]] std::size_t topics_of(peer_key which) const noexcept;
  // Whether import() left out a publication because another participant had it, which does not have it any more. Then
  // only a full report brings it. begin_report() ends that.
  [[nodiscard]] bool misses_any(peer_key which) const noexcept;
  // Whether a publication that it reported has a type with this hash.
  [[nodiscard]] bool uses_type(peer_key which, std::uint64_t hash) const noexcept;

  // Removes what full reports did not have any more: at most `most` publications, and reduces it by them.
  void clean_up(time now, std::size_t& most) noexcept;
  [[nodiscard]] bool clean() const noexcept { return sweeping_ == 0; }

  // Whether the host of a peer broker reaches one of these.
  [[nodiscard]] static bool reaches(const std::vector<wire::endpoint>& endpoints, const table::participant& peer);

 private:
  // Takes a peer's report into a topic. When it returns an error or throws, part of it may be done.
  [[nodiscard]] done merge(map_table::place& at, table::participant& self, wire::topic_state& what, imported& into,
                           bool& moved, time now);
  [[nodiscard]] detail::expected<bool, wire::error> import(map_table::place& at, table::participant& self,
                                                           const std::string& name, wire::publication_info& info,
                                                           bool shared, imported& into, time now);
  // `news`: the report of `reporter` has some.
  void resolve(map_table::place at, const table::participant& reporter, imported& into, bool news);
  void obey(map_table::place at, const table::participant& peer, const std::vector<wire::id>& losers, imported& into);
  void displace(map_table::place at, const wire::id& loser, const table::publication& winner, imported& into);
  void sweep(table::participant& peer, time now, std::size_t& most) noexcept;

  map_table& table_;
  departures& departures_;
  std::map<peer_key, std::unique_ptr<table::participant>> peers_;
  std::size_t sweeping_ = 0;
};

}  // namespace orc
