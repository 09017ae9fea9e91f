// Follows which parameters there are, and their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "orc/directory.h"
#include "orc/parameters.h"
#include "tools/web/live/described_topics.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

struct shown_parameter {
  parameter_description about = {};
  std::optional<parameter_value> value = {};  // nothing: not known yet
  std::uint64_t change = 0;                   // another one for another value or description
};

// In the order of their names.
using shown_parameters = std::map<std::string, std::shared_ptr<const shown_parameter>>;

// A thread at a time. What it is made with outlives it.
class parameter_follower {
 public:
  // `all`: also ORC's own. Follows at most `limit`. `last_change` goes on with the next one.
  parameter_follower(participant& by, directory& from, bool all, std::size_t limit, std::uint64_t& last_change);
  ~parameter_follower();
  parameter_follower(const parameter_follower&) = delete;
  parameter_follower& operator=(const parameter_follower&) = delete;

  // Takes what is new; waits for the broker when parameters came or went. Returns the list if it is another one, else
  // null.
  [[nodiscard]] std::shared_ptr<const shown_parameters> refresh(clock::time_point now);
  // Waits until there may be something new, or a descriptor is readable. Then pauses, for what comes together, unless
  // `stop_fd` is readable.
  void wait(int stop_fd, int order_fd);

 private:
  struct followed {
    subscriber values = {};
    std::string publication = {};  // its id
    std::shared_ptr<const shown_parameter> shown = {};
    std::size_t bytes = 0;  // of the sample with its value
  };

  void list(clock::time_point now);
  void follow(parameter_description about);
  void take_value(followed& parameter);

  participant& by_;
  directory& from_;
  const bool all_;
  const std::size_t limit_;
  described_topics topics_;
  std::map<std::string, followed> parameters_;
  bool changed_ = false;
  std::uint64_t& last_change_;
  std::size_t value_bytes_ = 0;
};

}  // namespace orc::web
