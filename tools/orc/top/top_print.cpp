#include "tools/orc/top/top_print.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/top/top_columns.h"
#include "tools/orc/top/top_text.h"
#include "tools/view/broker_poller.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;
using clock = detail::stop_signal::clock;

// Participants report once a second, and a rate takes two reports.
constexpr auto longest_wait = 2500ms;

template <class Row>
std::string table_of(const view::system_figures& figures, const std::string& filter) {
  const auto columns = top_columns<Row>();
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& each : columns) rows.front().emplace_back(each.shape.name);
  for (const Row& row : rows_of(figures, static_cast<const Row*>(nullptr))) {
    if (!matches_filter(search_text(row), filter)) continue;
    auto& cells = rows.emplace_back();
    for (const auto& each : columns) cells.push_back(escaped(each.text(row), detail::backslashes::kept));
  }
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], terminal::display_width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i == 0 ? "" : "  ") + terminal::fitted(row[i], widths[i], columns[i].shape.side);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Follows the broker's answers until there is something to print.
class first_look {
 public:
  first_look(const std::string& broker, bool all) : poller_(broker, all) {}

  // Null: Ctrl-C, or a problem.
  std::shared_ptr<const view::system_figures> wait(const detail::stop_signal& stop, std::string& problem) {
    std::optional<clock::time_point> until;
    view::observation known;
    for (;;) {
      const auto now = clock::now();
      if (until && now >= *until) return known.figures;
      if (stop.raised()) return nullptr;
      if (!stop.wait_readable(poller_.fd(), until.value_or(now + 1s))) continue;
      known = poller_.newest();
      if (!known.figures) {
        if (known.problem.empty()) continue;
        problem = known.problem;
        return nullptr;
      }
      if (known.rates_known) return known.figures;
      if (!until) until = clock::now() + longest_wait;
    }
  }

 private:
  view::broker_poller poller_;
};

}  // namespace

std::string top_table(const view::system_figures& figures, top_view shown, const std::string& filter) {
  switch (shown) {
    case top_view::participants: return table_of<view::participant_figures>(figures, filter);
    case top_view::hosts: return table_of<view::host_figures>(figures, filter);
    case top_view::topics:
    case top_view::services:
    case top_view::parameters: break;
  }
  return table_of<view::topic_figures>(figures, filter);
}

int print_top(const top_options& options) {
  console out;
  const detail::stop_signal stop;
  std::string problem;
  const auto figures = first_look(options.common.broker, options.all).wait(stop, problem);
  if (!figures) {
    if (problem.empty()) return exit_code::interrupted;
    out.note(escaped(problem));
    return exit_code::failed;
  }
  out.write(options.common.json ? top_json(*figures, options.filter)
                                : top_table(*figures, options.view, options.filter));
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace orc::cli
