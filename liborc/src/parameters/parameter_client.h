// Asks the programs that have parameters for their values, or to set them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "orc/calls.h"
#include "orc/directory.h"
#include "orc/parameters/remote_parameters.h"
#include "parameters/parameter_messages.h"

namespace orc::detail {

// What to ask of one parameter.
struct parameter_question {
  std::string name = {};
  std::string owner = {};                     // participant_state::id
  std::optional<parameter_value> value = {};  // to set; nothing: only read
};

[[nodiscard]] bool is_parameter(const topic_state& topic) noexcept;
[[nodiscard]] result no_parameter(std::string_view name);

// One thread at a time.
class parameter_client {
 public:
  explicit parameter_client(orc::participant& by) noexcept : participant_(by) {}

  // Learns which service answers for the parameters of each program.
  [[nodiscard]] result look_up(orc::directory& in);
  // One outcome per question, in their order. Waits at most `timeout` in all. A bounded number of owners are asked at a
  // time; one that does not answer takes only its own share of the time. After `stop` the rest is timed_out.
  [[nodiscard]] std::vector<parameter_outcome> ask(std::span<const parameter_question> questions,
                                                   std::chrono::nanoseconds timeout, const std::stop_token& stop);
  // Asks one question without waiting: calls `ended` once, from a thread of ORC or from this one.
  void ask(const parameter_question& question, std::chrono::nanoseconds timeout,
           std::function<void(parameter_outcome)> ended);

 private:
  // The questions to one owner.
  struct conversation {
    std::vector<std::size_t> questions = {};              // their indices
    std::size_t asked = 0;                                // of these
    std::deque<call_future<parameter_reply>> calls = {};  // open, those asked last
    std::chrono::steady_clock::time_point end = {};
  };
  void go_on(conversation& with, std::span<const parameter_question> questions,
             std::vector<parameter_outcome>& outcomes);
  static void wait_for_any(std::list<conversation>& open, bool may_stop);
  [[nodiscard]] call_future<parameter_reply> start(const parameter_question& question,
                                                   std::chrono::nanoseconds timeout);

  orc::participant& participant_;
  std::map<std::string, std::string> services_;  // by the program's participant_state::id
};

}  // namespace orc::detail
