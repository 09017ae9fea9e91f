// What the screen of `orc top` shows.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "tools/orc/text.h"
#include "tools/orc/top/top_screen.h"
#include "tools/orc/top/top_text.h"
#include "tools/terminal/styled_line.h"

namespace orc::cli {

namespace {

using terminal::style;
using terminal::styled_line;

constexpr style strong = {.bold = true};
constexpr style chosen = {.bold = true, .reverse = true};
constexpr style dim = {.dim = true};
constexpr style good = {.color = terminal::color::green};
constexpr style bad = {.color = terminal::color::red, .bold = true};
constexpr style typed = {.color = terminal::color::yellow, .bold = true};

constexpr std::array<std::pair<const char*, const char*>, 17> help_of_keys{{
    {"Up Down PgUp PgDn Home End", "move (also k j g G Space)"},
    {"Enter", "open a topic; a program's topics; a host's programs"},
    {"Esc", "back; removes a filter"},
    {"1 2 3, Tab", "topics, participants, hosts"},
    {"s, p", "services, parameters; the same key goes back"},
    {"/", "filter as you type; Enter keeps the words, Esc removes them"},
    {"< >, Left Right", "sort by another column"},
    {"r", "reverse the order"},
    {"a", "also ORC's own topics, which carry calls, or without them"},
    {"q, Ctrl-C", "quit"},
    {"Ctrl-Z, Ctrl-L", "suspend, and fg comes back; draw the screen anew"},
    {"", ""},
    {"", "In an opened topic:"},
    {"l, Tab", "links and their counters, or the fields"},
    {"f", "arrays of more than 16 elements whole, or folded"},
    {"Left, Backspace, Esc", "back"},
    {"", ""},
}};

constexpr std::array<const char*, 4> help_of_figures = {
    "AGE: since the newest sample was sent. JITTER: deviation of the intervals.",
    "MISSED, at the subscribers: samples that they did not receive. Normal where a",
    "program looks less often than the topic sends: it gets the newest each time.",
    "DROPPED, at the publisher: replaced by newer samples before they were sent."};

constexpr std::size_t most_lines = 4;  // of a message

// A message on as many lines as it needs, broken between words.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns, bool colored,
                                               const style& with) {
  std::vector<std::string> lines;
  const std::string shown = escaped(text, detail::backslashes::kept);
  for (std::string_view rest = shown; !rest.empty() && lines.size() < most_lines;) {
    const std::string_view part = terminal::line_of_words(rest, columns);
    lines.push_back(styled_line(columns, colored).add(part, with).finish());
    rest.remove_prefix(part.size());
  }
  return lines;
}

}  // namespace

void top_screen::draw() {
  const auto [rows, columns] = terminal_.size();
  subscription_.fit(columns);
  std::vector<std::string> lines;
  std::vector<std::string> below = status(columns);
  const std::size_t other = 2 + below.size();  // lines
  const std::size_t body = rows > other ? rows - other : 0;
  lines.push_back(title(columns));
  auto middle = help_     ? help(body, columns)
                : opened_ ? opened_->draw(body, columns, options_.colored)
                          : list().draw(body, columns, options_.colored, is_silent());
  for (std::string& each : middle) lines.push_back(std::move(each));
  for (std::string& each : below) lines.push_back(std::move(each));
  lines.push_back(keys_line(columns));
  lines.resize(rows);
  screen_.show(std::move(lines));
}

std::string top_screen::title(std::size_t columns) const {
  styled_line line(columns, options_.colored);
  line.add("orc top ", strong);
  const auto tab = [&](top_view which, const char* name, std::size_t shown, std::size_t total) {
    line.add(" ");
    const std::string count =
        shown == total ? std::to_string(total) : std::to_string(shown) + "/" + std::to_string(total);
    line.add(std::string(" ") + name + " " + count + " ", which == view_ ? chosen : style{});
  };
  if (shows_programs()) {
    const bool services = view_ == top_view::services;
    tab(view_, services ? "Services" : "Parameters", list().size(), list().total());
    if (shown_programs_ && shown_programs_->left_out != 0)
      line.add("  … " + count_text(shown_programs_->left_out) + " more are not shown", typed);
  } else {
    tab(top_view::topics, "1 Topics", topics_.size(), topics_.total());
    tab(top_view::participants, "2 Participants", participants_.size(), participants_.total());
    tab(top_view::hosts, "3 Hosts", hosts_.size(), hosts_.total());
  }
  if (const auto& owner = list().owner()) line.add("  of ", typed).add(owner->name, typed);
  if (const std::string& words = list().filter(); !words.empty() && !typing_) line.add("  /", typed).add(words, typed);
  return line.finish();
}

std::vector<std::string> top_screen::status(std::size_t columns) const {
  styled_line line(columns, options_.colored);
  if (is_silent()) {
    if (!known_.figures) return wrapped(known_.problem, columns, options_.colored, bad);
    const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - known_.figures->taken);
    std::vector<std::string> lines = {
        line.add("no answer for " + span_text(age) + ": these figures are the last ones", bad).finish()};
    for (std::string& each : wrapped(known_.problem, columns, options_.colored, dim)) lines.push_back(std::move(each));
    return lines;
  }
  if (!known_.figures) return {line.add("asking the broker", dim).finish()};
  const view::system_figures& figures = *known_.figures;
  line.add("broker ", good).add(figures.broker.endpoint);
  line.add("  up " + span_text(figures.broker.uptime));
  if (figures.broker.rejected != 0)
    line.add("  rejected " + count_text(figures.broker.rejected) + " malformed messages", typed);
  if (!known_.rates_known) line.add("  measuring rates", dim);
  return {line.finish()};
}

std::string top_screen::keys_line(std::size_t columns) const {
  styled_line line(columns, options_.colored);
  if (typing_) {
    return line.add("/" + list().filter() + "_", typed).add("   Enter keeps the filter   Esc removes it", dim).finish();
  }
  const char* const text = help_     ? "any key closes this"
                           : opened_ ? opened_->keys(folded_)
                           : view_ == top_view::services
                               ? "Esc back   Enter open   / filter   < > sort   p parameters   ? help"
                           : view_ == top_view::parameters
                               ? "Esc back   Enter open   / filter   < > sort   s services   ? help"
                               : "Enter open   / filter   < > sort   s services   p parameters   ? help   q quit";
  return line.add(text, dim).finish();
}

std::vector<std::string> top_screen::help(std::size_t rows, std::size_t columns) const {
  std::vector<std::string> lines;
  for (const auto& [keys, meaning] : help_of_keys)
    lines.push_back(styled_line(columns, options_.colored)
                        .add("  ")
                        .cell(keys, 27, terminal::align::left, strong)
                        .add(meaning)
                        .finish());
  for (const char* const each : help_of_figures)
    lines.push_back(styled_line(columns, options_.colored).add("  ").add(each).finish());
  lines.resize(rows);
  return lines;
}

}  // namespace orc::cli
