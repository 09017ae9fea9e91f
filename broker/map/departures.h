// Participants and peers that left. Their topics are free, but their entries count until clean_up() has removed them,
// in parts.
#pragma once

#include <cstddef>
#include <memory>

#include "broker/map/map_table.h"
#include "broker/map/table_records.h"

namespace orc {

class departures {
 public:
  explicit departures(map_table& of) noexcept : table_(of) {}
  departures(const departures&) = delete;
  departures& operator=(const departures&) = delete;
  ~departures();

  void add(std::unique_ptr<table::participant> gone) noexcept;
  // Removes at most `most` entries, and reduces it by them.
  void clean_up(table::time now, std::size_t& most) noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  map_table& table_;
  std::unique_ptr<table::participant> first_;
  std::size_t count_ = 0;
};

}  // namespace orc
