#include "tools/command_line/nearest_name.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace orc::cli {

namespace {

constexpr int max_edits = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

// A name of one letter is near to none: every other one would be.
int edits_allowed(std::size_t letters) {
  return letters < 2 ? 0 : std::clamp(static_cast<int>(letters / 3), 1, max_edits);
}

}  // namespace

int edit_distance(std::string_view one, std::string_view other, int most) {
  if (std::abs(static_cast<int>(one.size()) - static_cast<int>(other.size())) > most) return most + 1;
  // Rows of the table of distances between beginnings: the one before the last, the last, this one.
  std::vector<int> before(other.size() + 1), last(other.size() + 1), row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const int replaced = last[j - 1] + (same(one[i - 1], other[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && same(one[i - 1], other[j - 2]) && same(one[i - 2], other[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    if (*std::min_element(row.begin(), row.end()) > most) return most + 1;  // it never falls again
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

std::string nearest_name(std::string_view typed, std::span<const std::string> known) {
  std::string nearest;
  int fewest = max_edits + 1;
  for (const std::string& each : known) {
    const int allowed = std::min(fewest - 1, edits_allowed(std::max(typed.size(), each.size())));
    const int edits = edit_distance(typed, each, allowed);
    if (edits > allowed) continue;
    nearest = each;
    fewest = edits;
  }
  return nearest;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
  const std::string nearest = nearest_name(typed, known);
  return nearest.empty() ? nearest : ": did you mean " + nearest + "?";
}

}  // namespace orc::cli
