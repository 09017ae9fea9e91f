// The columns of the tables of `orc top`, and which of them fit.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/terminal/display_width.h"
#include "tools/terminal/styled_line.h"
#include "tools/view/figures.h"

namespace orc::cli {

struct column_shape {
  std::string_view name;  // ASCII
  std::size_t width;      // at least
  std::size_t most;       // what it grows to when there is room; equal to `width`: it does not grow
  terminal::align side;   // right: a number, of which the greatest come first
  int rank;               // columns with a higher rank are left out first

  [[nodiscard]] bool is_number() const noexcept { return side == terminal::align::right; }
};

template <class Row>
struct top_column {
  column_shape shape;
  std::string (*text)(const Row&);
  bool (*less)(const Row&, const Row&);
};

// The width of each column on a line of so many; 0: it is left out. One blank is between two.
[[nodiscard]] std::vector<std::size_t> fit(std::span<const column_shape> shapes, std::size_t columns);

[[nodiscard]] std::span<const top_column<view::topic_figures>> columns_of(const view::topic_figures*);
[[nodiscard]] std::span<const top_column<view::participant_figures>> columns_of(const view::participant_figures*);
[[nodiscard]] std::span<const top_column<view::host_figures>> columns_of(const view::host_figures*);

template <class Row>
[[nodiscard]] std::span<const top_column<Row>> top_columns() {
  return columns_of(static_cast<const Row*>(nullptr));
}

// What a filter is looked for in: names, types, programs.
[[nodiscard]] std::string search_text(const view::topic_figures& topic);
[[nodiscard]] std::string search_text(const view::participant_figures& participant);
[[nodiscard]] std::string search_text(const view::host_figures& host);

// Whether the row belongs to the participant or host with this id: a topic to each program that publishes or subscribes
// to it, a participant to its host. A host belongs to none.
[[nodiscard]] bool belongs_to(const view::topic_figures& topic, const std::string& participant) noexcept;
[[nodiscard]] bool belongs_to(const view::participant_figures& participant, const std::string& host) noexcept;
[[nodiscard]] bool belongs_to(const view::host_figures& host, const std::string& id) noexcept;

// What a row is known by when the figures change.
[[nodiscard]] inline const std::string& key_of(const view::topic_figures& topic) { return topic.name; }
[[nodiscard]] inline const std::string& key_of(const view::participant_figures& of) { return of.participant.id; }
[[nodiscard]] inline const std::string& key_of(const view::host_figures& host) { return host.id; }

[[nodiscard]] constexpr std::string_view word_of(const view::topic_figures*) { return "topic"; }
[[nodiscard]] constexpr std::string_view word_of(const view::participant_figures*) { return "participant"; }
[[nodiscard]] constexpr std::string_view word_of(const view::host_figures*) { return "host"; }

[[nodiscard]] inline const std::vector<view::topic_figures>& rows_of(const view::system_figures& all,
                                                                     const view::topic_figures*) {
  return all.topics;
}
[[nodiscard]] inline const std::vector<view::participant_figures>& rows_of(const view::system_figures& all,
                                                                           const view::participant_figures*) {
  return all.participants;
}
[[nodiscard]] inline const std::vector<view::host_figures>& rows_of(const view::system_figures& all,
                                                                    const view::host_figures*) {
  return all.hosts;
}

}  // namespace orc::cli
