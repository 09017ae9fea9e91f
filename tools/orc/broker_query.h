// Questions to the address broker without being a participant: one request, one reply (schemas/PROTOCOL.md).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/stop_signal.h"
#include "wire/control.h"

namespace orc::cli {

// Why a question has no answer, and the exit code that goes with it.
struct query_failure {
  int exit_code = 1;
  std::string text;
};

template <typename T>
using query_result = std::variant<T, query_failure>;

// For one thread. Finds the broker at the first question, and again whenever it does not answer: a broker that is
// restarted in between is no error. A host's name stands for all of its addresses. Every question ends within 3 s, with
// more than two places that do not answer within 1.2 s for each, or at once when `stop` is raised.
class broker_query {
 public:
  // Empty endpoint: where participants look for it (ORC_BROKER, ...).
  broker_query(const std::string& endpoint, const detail::stop_signal& stop);
  ~broker_query();
  broker_query(const broker_query&) = delete;
  broker_query& operator=(const broker_query&) = delete;

  // Who the broker is.
  [[nodiscard]] query_result<wire::welcome> greet();

  // All topics in the order of their names, however many pages that takes, with a few subscriptions of each.
  [[nodiscard]] query_result<wire::topic_list> list();

  // One topic, with its schema and all subscriptions, however many pages that takes. A topic nobody knows is a
  // query_failure with exit_code::no_topic.
  [[nodiscard]] query_result<wire::topic_state> describe(const std::string& topic);

  // Where the last answer came from.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }

 private:
  struct connection;

  [[nodiscard]] query_result<wire::body> ask(const wire::body& question);
  // The same with the bytes of a frame; the answer names `request`.
  [[nodiscard]] query_result<wire::body> ask(const std::string& frame, std::uint64_t request);
  [[nodiscard]] bool connect();
  [[nodiscard]] query_failure nobody_answers() const;

  const detail::stop_signal& stop_;
  const bool searches_;  // else the broker was named
  std::vector<std::string> candidates_;
  std::vector<std::string> ways_;  // to them; sought anew in each round
  std::size_t next_ = 0;           // of them
  std::string findings_;           // what the last connect() found at each candidate
  std::string endpoint_;
  std::unique_ptr<connection> connection_;
  std::uint64_t last_request_ = 0;
};

}  // namespace orc::cli
