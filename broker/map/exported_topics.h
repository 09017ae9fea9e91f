// What peer brokers may see: the topics that participants of this broker publish at endpoints that other hosts reach,
// and which publications of the peers lost a name.
#pragma once

#include <cstddef>

#include "broker/map/change_log.h"
#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc {

class exported_topics {
 public:
  exported_topics(const table::topics& all, std::size_t max_gone) noexcept : all_(all), changes_(max_gone) {}
  exported_topics(const exported_topics&) = delete;
  exported_topics& operator=(const exported_topics&) = delete;

  // A participant of this broker publishes the topic. Throws std::bad_alloc; the other calls cannot fail.
  void begin(table::row& which);
  void changed(table::topic& which) noexcept;
  // None does any more.
  void end(table::topic& which) noexcept;
  void end_unless_published(table::topic& which) noexcept;

  // As topic_map::changes_since(). `same_host`: the peer runs on this host, and reaches loopback addresses too.
  [[nodiscard]] wire::changes since(const wire::watch& what, bool same_host, std::size_t& steps, table::time now) const;
  [[nodiscard]] change_log::revision newest() const noexcept { return changes_.newest(); }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  const table::topics& all_;
  change_log changes_;
  std::size_t count_ = 0;
};

}  // namespace orc
