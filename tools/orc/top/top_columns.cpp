#include "tools/orc/top/top_columns.h"

#include <algorithm>
#include <array>

#include "tools/orc/text.h"
#include "tools/orc/top/top_text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

using terminal::align;
using topic = view::topic_figures;
using participant = view::participant_figures;
using host = view::host_figures;

template <class Row, auto Text>
bool text_less(const Row& a, const Row& b) {
  return Text(a) < Text(b);
}

// `Value` returns a number, or an optional one; an unknown one is less than all others.
template <class Row, auto Value>
bool number_less(const Row& a, const Row& b) {
  return Value(a) < Value(b);
}

std::string name_text(const topic& t) { return t.name; }
std::string type_name(const topic& t) { return t.type ? t.type->name.empty() ? "unnamed" : t.type->name : "-"; }
std::string used_text(const topic& t) { return transports_text(t); }
std::string sender_text(const topic& t) { return publisher_text(t); }

constexpr std::array<top_column<topic>, 11> topic_columns{{
    {{"TOPIC", 17, 64, align::left, 0}, name_text, [](const topic& a, const topic& b) { return a.name < b.name; }},
    {{"TYPE", 16, 40, align::left, 9}, type_name, text_less<topic, type_name>},
    {{"PUBLISHER", 16, 32, align::left, 8}, sender_text, text_less<topic, sender_text>},
    {{"TRANSPORT", 9, 15, align::left, 7}, used_text, text_less<topic, used_text>},
    {{"RATE Hz", 9, 9, align::right, 1},
     [](const topic& t) { return rate_text(t.rate_hz); },
     number_less<topic, [](const topic& t) { return t.rate_hz; }>},
    {{"JITTER", 8, 8, align::right, 6},
     [](const topic& t) { return span_text(t.jitter); },
     number_less<topic, [](const topic& t) { return t.jitter; }>},
    {{"BANDWIDTH", 10, 10, align::right, 2},
     [](const topic& t) { return bandwidth_text(t.bytes_per_s); },
     number_less<topic, [](const topic& t) { return t.bytes_per_s; }>},
    {{"AGE", 8, 8, align::right, 4},
     [](const topic& t) { return span_text(t.age); },
     number_less<topic, [](const topic& t) { return t.age; }>},
    {{"MISSED/s", 8, 8, align::right, 5},
     [](const topic& t) { return rate_text(t.missed_per_s); },
     number_less<topic, [](const topic& t) { return t.missed_per_s; }>},
    {{"DROPPED/s", 9, 9, align::right, 10},
     [](const topic& t) { return rate_text(t.dropped_per_s); },
     number_less<topic, [](const topic& t) { return t.dropped_per_s; }>},
    {{"SUBS", 4, 4, align::right, 3},
     [](const topic& t) { return count_text(t.subscribers); },
     number_less<topic, [](const topic& t) { return t.subscribers; }>},
}};

std::string program_text(const participant& p) { return p.participant.name.empty() ? "?" : p.participant.name; }
std::string host_of(const participant& p) { return host_text(p.participant.host); }
std::string library_of(const participant& p) { return p.participant.library; }

// What participants and hosts have in common: the sums of what they send and receive.
template <class Row>
constexpr std::array<top_column<Row>, 8> sums{{
    {{"PUBLISHES", 9, 9, align::right, 2},
     [](const Row& r) { return count_text(r.published); },
     number_less<Row, [](const Row& r) { return r.published; }>},
    {{"SUBSCRIBES", 10, 10, align::right, 3},
     [](const Row& r) { return count_text(r.subscribed); },
     number_less<Row, [](const Row& r) { return r.subscribed; }>},
    {{"SENT Hz", 9, 9, align::right, 7},
     [](const Row& r) { return rate_text(r.sum.sent_hz); },
     number_less<Row, [](const Row& r) { return r.sum.sent_hz; }>},
    {{"OUT", 10, 10, align::right, 4},
     [](const Row& r) { return bandwidth_text(r.sum.sent_bytes_per_s); },
     number_less<Row, [](const Row& r) { return r.sum.sent_bytes_per_s; }>},
    {{"RECEIVED Hz", 11, 11, align::right, 8},
     [](const Row& r) { return rate_text(r.sum.received_hz); },
     number_less<Row, [](const Row& r) { return r.sum.received_hz; }>},
    {{"IN", 10, 10, align::right, 5},
     [](const Row& r) { return bandwidth_text(r.sum.received_bytes_per_s); },
     number_less<Row, [](const Row& r) { return r.sum.received_bytes_per_s; }>},
    {{"MISSED/s", 8, 8, align::right, 6},
     [](const Row& r) { return rate_text(r.sum.missed_per_s); },
     number_less<Row, [](const Row& r) { return r.sum.missed_per_s; }>},
    {{"DROPPED/s", 9, 9, align::right, 9},
     [](const Row& r) { return rate_text(r.sum.dropped_per_s); },
     number_less<Row, [](const Row& r) { return r.sum.dropped_per_s; }>},
}};

template <class Row, std::size_t First, std::size_t Last>
[[nodiscard]] std::vector<top_column<Row>> around_sums(const std::array<top_column<Row>, First>& first,
                                                       const std::array<top_column<Row>, Last>& last) {
  std::vector<top_column<Row>> all(first.begin(), first.end());
  all.insert(all.end(), sums<Row>.begin(), sums<Row>.end());
  all.insert(all.end(), last.begin(), last.end());
  return all;
}

constexpr std::array<top_column<participant>, 3> participant_names{{
    {{"PROGRAM", 16, 40, align::left, 0}, program_text, text_less<participant, program_text>},
    {{"PID", 7, 7, align::right, 1},
     [](const participant& p) { return std::to_string(p.participant.pid); },
     number_less<participant, [](const participant& p) { return p.participant.pid; }>},
    {{"HOST", 15, 15, align::left, 10}, host_of, text_less<participant, host_of>},
}};

constexpr std::array<top_column<participant>, 1> participant_rest{{
    {{"LIBRARY", 14, 20, align::left, 11}, library_of, text_less<participant, library_of>},
}};

constexpr std::array<top_column<host>, 2> host_names{{
    {{"HOST", 15, 40, align::left, 0},
     [](const host& h) { return host_text(h.id); },
     [](const host& a, const host& b) { return a.id < b.id; }},
    {{"PROGRAMS", 8, 8, align::right, 1},
     [](const host& h) { return count_text(h.participants); },
     number_less<host, [](const host& h) { return h.participants; }>},
}};

}  // namespace

std::vector<std::size_t> fit(std::span<const column_shape> shapes, std::size_t columns) {
  std::vector<std::size_t> by_rank(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) by_rank[i] = i;
  std::sort(by_rank.begin(), by_rank.end(), [&](auto a, auto b) { return shapes[a].rank < shapes[b].rank; });
  std::vector<std::size_t> widths(shapes.size(), 0);
  std::size_t left = columns + 1;
  for (const std::size_t i : by_rank) {
    if (shapes[i].width + 1 > left) break;
    widths[i] = shapes[i].width;
    left -= shapes[i].width + 1;
  }
  if (!by_rank.empty() && widths[by_rank.front()] == 0) {
    widths[by_rank.front()] = columns;  // rather cut than nothing
    left = 0;
  }
  for (bool grew = true; grew && left > 0;) {
    grew = false;
    for (std::size_t i = 0; i < shapes.size() && left > 0; ++i) {
      if (widths[i] == 0 || widths[i] >= shapes[i].most) continue;
      ++widths[i];
      --left;
      grew = true;
    }
  }
  return widths;
}

std::span<const top_column<topic>> columns_of(const topic*) { return topic_columns; }

std::span<const top_column<participant>> columns_of(const participant*) {
  static const auto all = around_sums(participant_names, participant_rest);
  return all;
}

std::span<const top_column<host>> columns_of(const host*) {
  static const auto all = around_sums(host_names, std::array<top_column<host>, 0>{});
  return all;
}

std::string search_text(const topic& t) {
  std::string text = t.name + '\n' + type_name(t) + '\n' + publisher_text(t);
  for (const auto& each : t.shared_by)
    text +=
        '\n' + publisher_text(each.publisher, each.host_name, each.stale) + (each.type ? '\n' + each.type->name : "");
  return text;
}

std::string search_text(const participant& p) {
  return participant_text(p.participant) + '\n' + host_text(p.participant.host);
}

std::string search_text(const host& h) { return h.id + '\n' + host_text(h.id); }

bool belongs_to(const topic& t, const std::string& participant) noexcept {
  if (t.publisher && t.publisher->id == participant) return true;
  if (std::any_of(t.shared_by.begin(), t.shared_by.end(),
                  [&](const auto& each) { return each.publisher.id == participant; }))
    return true;
  return std::any_of(t.subscriptions.begin(), t.subscriptions.end(),
                     [&](const auto& each) { return each.subscriber.id == participant; });
}

bool belongs_to(const participant& p, const std::string& host) noexcept { return p.participant.host == host; }

bool belongs_to(const host&, const std::string&) noexcept { return false; }

}  // namespace orc::cli
