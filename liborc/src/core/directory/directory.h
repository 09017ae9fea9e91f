// Asks the address broker and waits for its answers; behind orc::directory.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "core/broker/broker_client.h"
#include "orc/directory.h"

namespace orc::detail {

// The error names the option that is wrong.
[[nodiscard]] expected<std::unique_ptr<broker_client>> client_for(const directory_options& options);

// The result of a question that the broker refused.
[[nodiscard]] result refusal(const wire::error& by_broker, const broker_client& client);

// Any thread may call.
class directory {
 public:
  explicit directory(directory_options options);

  [[nodiscard]] result broker(broker_state& found);
  [[nodiscard]] result topics(std::string_view pattern, std::vector<topic_state>& found);
  [[nodiscard]] result describe(std::string_view topic, topic_state& found);
  [[nodiscard]] result find_type(const topic_type& which, type_description& found);
  [[nodiscard]] result participants(std::vector<participant_state>& found);
  [[nodiscard]] result hosts(std::vector<host_state>& found);
  [[nodiscard]] result federation(federation_state& found);

  [[nodiscard]] const directory_options& options() const noexcept { return options_; }
  [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation(); }

 private:
  // Waits for an answer of the expected kind.
  template <class Answer>
  [[nodiscard]] result ask(wire::body question, Answer& answer);
  [[nodiscard]] expected<wire::body> ask(wire::body question);

  const directory_options options_;
  const unsigned generation_;
  std::mutex mutex_;
  result ready_;
  std::unique_ptr<broker_client> client_;
};

}  // namespace orc::detail
