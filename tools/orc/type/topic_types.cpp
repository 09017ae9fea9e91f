#include "tools/orc/type/topic_types.h"

#include <utility>

#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// How long the first sample may wait for the broker's answer.
constexpr int first_answer_ms = 1000;
constexpr auto ask_interval = std::chrono::milliseconds(200);  // for a schema that the broker does not have yet

}  // namespace

topic_types::topic_types(directory from, std::string topic) : topic_(std::move(topic)), directory_(std::move(from)) {}

result topic_types::use(const type_description& type) {
  fixed_ = true;
  return types::decoder::make(type, decoder_);
}

const types::decoder* topic_types::decoder_of(std::span<const std::byte> sample) {
  if (!fixed_) follow();
  if (decoder_) return decoder_.get();
  return lcm_.find(sample);
}

// The watch reports the type together with the publication, so a restarted publisher's type is known about when its
// samples come.
void topic_types::follow() {
  if (!watch_) watch_.emplace(directory_.watch({.topics = {topic_}, .participants = false}));
  directory_change change;
  while (watch_->next_change(change, asked_ ? 0 : first_answer_ms)) {
    if (change.what == directory_change::kind::complete) asked_ = true;
    if (change.what == directory_change::kind::topic)
      take_over(change.topic.publication ? change.topic.publication->type : std::nullopt);
  }
  asked_ = true;
  if (std::exchange(look_again_, false)) {
    topic_state state;
    if (directory_.describe(topic_, state)) take_over(state.publication ? state.publication->type : std::nullopt);
  }
  if (pending_ && clock::now() >= ask_again_) take_over(std::exchange(pending_, std::nullopt));
}

void topic_types::take_over(const std::optional<topic_type>& type) {
  if (type == current_ && decoder_) return;
  decoder_.reset();
  why_.clear();
  current_ = type;
  if (!type) return;
  type_description whole;
  const result found = directory_.find_type(*type, whole);
  pending_.reset();
  if (found.code() == errc::unknown_type || found.code() == errc::no_broker) pending_ = type;
  ask_again_ = clock::now() + ask_interval;
  const result made = found ? types::decoder::make(whole, decoder_) : found;
  if (!made) why_ = escaped(made.error().message());
}

result type_of_topic(directory& from, const std::string& topic, type_description& found) {
  topic_state state;
  if (auto asked = from.describe(topic, state); !asked) return asked;
  if (!state.publication) return {errc::unknown_topic, "no publisher of '" + topic + "'"};
  if (!state.publication->type) return {errc::unknown_type, "topic '" + topic + "' is untyped"};
  return from.find_type(*state.publication->type, found);
}

}  // namespace orc::cli
