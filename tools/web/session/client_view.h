// What a client of any protocol has open, and the answers to it.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "tools/web/session/client_session.h"
#include "tools/web/session/outbox.h"

namespace orc::web {

// Something that a client has open: a topic, a list, the answers.
class client_view : public outgoing {
 public:
  // When it has a frame to send: not after `now` if it has one; time_point::max() if nothing is new.
  [[nodiscard]] virtual clock::time_point refresh(clock::time_point now) = 0;
};

// Gives it a turn when it has a frame, else lowers `earliest` to the time when it has one.
void give_turn(outbox& turns, client_view& view, clock::time_point now, clock::time_point& earliest);

// Answers, in order.
class text_replies final : public client_view {
 public:
  void add(std::string text) {
    bytes_ += text.size();
    texts_.push_back(std::move(text));
  }
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] clock::time_point refresh(clock::time_point now) override;
  bool take(frame& to) override;
  [[nodiscard]] bool has_more() const override { return !texts_.empty(); }

 private:
  std::deque<std::string> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace orc::web
