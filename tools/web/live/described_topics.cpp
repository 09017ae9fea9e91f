#include "tools/web/live/described_topics.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto read_pause = 200ms;
constexpr auto longest_read_pause = 60s;

}  // namespace

described_topics::described_topics(directory& from, std::string type_name, bool all)
    : type_name_(std::move(type_name)), all_(all), watch_(from.watch({.topics = {"**"}})), pause_(read_pause) {}

void described_topics::refresh(clock::time_point now) {
  directory_change change;
  while (watch_.next_change(change, 0)) {
    if (change.what == directory_change::kind::complete) complete_ = true;
    if (change.what == directory_change::kind::topic || change.what == directory_change::kind::topic_gone)
      take(change.topic, now);
  }
}

void described_topics::take(const topic_state& topic, clock::time_point now) {
  if (!all_ && is_reserved(topic.name)) return;
  const auto& publication = topic.publication;
  if (publication && publication->type && publication->type->name == type_name_) {
    std::string& known = publications_[topic.name];
    if (std::exchange(known, publication->id) == publication->id) return;
  } else if (publications_.erase(topic.name) == 0) {
    return;
  }
  stale_ = true;
  pause_ = read_pause;
  due_ = std::min(due_, now + read_pause);
}

void described_topics::read(clock::time_point now, std::size_t found) {
  due_ = now + pause_;
  stale_ = found < publications_.size();
  // Some may never be readable: a program that lies must not take the time from the others.
  if (stale_) pause_ = std::min<clock::duration>(2 * pause_, longest_read_pause);
}

}  // namespace orc::web
