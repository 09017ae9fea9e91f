// What the keys of `orc top` do.
#include <utility>

#include "tools/orc/top/top_screen.h"
#include "tools/orc/top/top_text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

using kind = terminal::key_press::kind;

constexpr std::size_t longest_filter = 200;

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u) text.pop_back();
  if (!text.empty()) text.pop_back();
}

[[nodiscard]] bool is(const terminal::key_press& key, std::string_view character) {
  return key.what == kind::character && key.text == character;
}

}  // namespace

void top_screen::press(const terminal::key_press& key) {
  changed_ = true;
  if (typing_) return press_in_filter(key);
  if (help_) {
    help_ = false;
    if (!is(key, "q")) return;
  }
  if (is(key, "q")) {
    if (shows_programs() && !opened_) return leave_programs();
    quit_ = true;
  } else if (is(key, "?") || is(key, "h")) {
    help_ = true;
  } else if (key == terminal::key_press{.what = kind::control, .text = "l"}) {
    screen_.forget();
  } else if (is(key, "1")) {
    show_all(top_view::topics);
  } else if (is(key, "2")) {
    show_all(top_view::participants);
  } else if (is(key, "3")) {
    show_all(top_view::hosts);
  } else if (is(key, "s")) {
    show_programs(top_view::services);
  } else if (is(key, "p")) {
    show_programs(top_view::parameters);
  } else if (key.what == kind::escape) {
    go_back();
  } else if (!press_to_move(key)) {
    if (opened_)
      press_in_opened(key);
    else
      press_in_list(key);
  }
}

void top_screen::press_in_filter(const terminal::key_press& key) {
  std::string words = list().filter();
  if (key.what == kind::character && words.size() < longest_filter) {
    words += key.text;
  } else if (key.what == kind::backspace) {
    remove_last_character(words);
  } else if (key == terminal::key_press{.what = kind::control, .text = "u"}) {
    words.clear();
  } else if (key.what == kind::escape) {
    words.clear();
    typing_ = false;
  } else if (key.what == kind::enter) {
    typing_ = false;
  } else {
    press_to_move(key);
  }
  list().filter(std::move(words));
}

bool top_screen::press_to_move(const terminal::key_press& key) {
  const auto move = [&](auto& what) {
    switch (key.what) {
      case kind::up: what.move(-1); return true;
      case kind::down: what.move(1); return true;
      case kind::page_up: what.move_page(-1); return true;
      case kind::page_down: what.move_page(1); return true;
      case kind::home: what.move_to_first(); return true;
      case kind::end: what.move_to_last(); return true;
      default: break;
    }
    if (key.what != kind::character || typing_) return false;
    if (key.text == "k") return what.move(-1), true;
    if (key.text == "j") return what.move(1), true;
    if (key.text == "g") return what.move_to_first(), true;
    if (key.text == "G") return what.move_to_last(), true;
    if (key.text == " ") return what.move_page(1), true;
    return false;
  };
  return opened_ ? move(*opened_) : move(list());
}

void top_screen::press_in_list(const terminal::key_press& key) {
  const auto next = [this](int step) {
    const top_view from = shows_programs() ? before_programs_ : view_;
    return static_cast<top_view>((static_cast<int>(from) + step + 3) % 3);
  };
  if (is(key, "/")) {
    list().filter({});
    typing_ = true;
  } else if (is(key, ">") || key.what == kind::right) {
    list().sort_by_neighbour(1);
  } else if (is(key, "<") || key.what == kind::left) {
    list().sort_by_neighbour(-1);
  } else if (is(key, "r")) {
    list().reverse();
  } else if (is(key, "a")) {
    all_topics_ = !all_topics_;
    poller_.show_all(all_topics_);
    set_view(view_);
  } else if (key.what == kind::tab) {
    show_all(next(1));
  } else if (key.what == kind::back_tab) {
    show_all(next(-1));
  } else if (key.what == kind::enter) {
    open_selected();
  }
}

void top_screen::press_in_opened(const terminal::key_press& key) {
  if (is(key, "l") || key.what == kind::tab) {
    opened_->show_links(!opened_->shows_links());
  } else if (is(key, "f")) {
    folded_ = !folded_;
    subscription_.fold(folded_);
  } else if (key.what == kind::left || key.what == kind::backspace) {
    close();
  }
}

// An opened topic leads to its list, a filter to all rows, services and parameters to the view before them, the topics
// of a participant to the participants, and those of a host to the hosts.
void top_screen::go_back() {
  if (opened_) return close();
  if (!list().filter().empty()) return list().filter({});
  if (shows_programs()) return leave_programs();
  if (!list().owner()) return;
  list().show_only({});
  set_view(view_ == top_view::topics ? top_view::participants : top_view::hosts);
}

// A participant leads to its topics, a host to its participants, a service and a parameter to the topic of their name.
void top_screen::open_selected() {
  if (view_ == top_view::topics) {
    if (const auto* const row = topics_.selected()) open(row->name);
  } else if (view_ == top_view::participants) {
    if (const auto* const row = participants_.selected())
      show_only(top_view::topics, {row->participant.id, participant_text(row->participant)});
  } else if (view_ == top_view::hosts) {
    if (const auto* const row = hosts_.selected()) show_only(top_view::participants, {row->id, host_text(row->id)});
  } else if (view_ == top_view::services) {
    if (const auto* const row = services_.selected()) open(row->service.name);
  } else if (const auto* const row = parameters_.selected()) {
    open(row->name);
  }
}

void top_screen::show_only(top_view which, top_owner owner) {
  set_view(which);
  list().filter({});
  list().show_only(std::move(owner));
}

void top_screen::show_all(top_view which) {
  close();
  for (top_list* const each : lists()) each->show_only({});
  set_view(which);
}

// Asks programs only while their answers are shown.
void top_screen::set_view(top_view which) {
  view_ = which;
  programs_.watch(which == top_view::services     ? program_poller::subject::services
                  : which == top_view::parameters ? program_poller::subject::parameters
                                                  : program_poller::subject::none,
                  all_topics_);
}

// The key of the view that is shown already leads back.
void top_screen::show_programs(top_view which) {
  if (view_ == which && !opened_) return leave_programs();
  close();
  if (!shows_programs()) before_programs_ = view_;
  set_view(which);
}

void top_screen::leave_programs() {
  list().filter({});
  set_view(before_programs_);
}

}  // namespace orc::cli
