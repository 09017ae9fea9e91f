// Topics that say by their type what they are: parameters, services.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "orc/directory.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

// Knows which topics have a type of one name, and when it is time to read their descriptions. A thread at a time.
class described_topics {
 public:
  // `all`: also ORC's own topics.
  described_topics(directory& from, std::string type_name, bool all);

  // Takes changes. Never waits.
  void refresh(clock::time_point now);
  // Whether to read the descriptions: topics came or went, or some were not readable the last time.
  [[nodiscard]] bool is_due(clock::time_point now) const { return complete_ && stale_ && now >= due_; }
  // The descriptions were asked for, and this many could be read.
  void read(clock::time_point now, std::size_t found);
  // The broker did not answer.
  void failed(clock::time_point now) { due_ = now + pause_; }

  // The ids of their publications by the names of the topics.
  [[nodiscard]] const std::map<std::string, std::string>& publications() const noexcept { return publications_; }

  // Readable when refresh() may find a change.
  [[nodiscard]] int fd() const noexcept { return watch_.fd(); }
  // When to call refresh() although nothing has changed.
  [[nodiscard]] clock::time_point next() const { return complete_ && stale_ ? due_ : clock::time_point::max(); }

 private:
  void take(const topic_state& topic, clock::time_point now);

  const std::string type_name_;
  const bool all_;
  directory_watch watch_;
  std::map<std::string, std::string> publications_;
  bool complete_ = false;  // the watch has told all
  bool stale_ = true;      // topics came or went since they were read
  clock::time_point due_ = {};
  clock::duration pause_;  // before the next time
};

}  // namespace orc::web
