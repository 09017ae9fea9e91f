// The changes of the topic map, in their order: every topic and participant once, at its last change, and a bounded
// number of those that are gone. A reader that knows the state at one revision learns the state at the newest one from
// the changes after it, so the log keeps nothing for its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "wire/control.h"

namespace orc {

// Not thread-safe. The caller owns the names and hellos that entries point to, and keeps them in place until it calls
// gone() or forget().
class change_log {
 public:
  using revision = std::uint64_t;
  struct entry {
    const std::string* topic = nullptr;        // name of a topic that exists
    const wire::hello* participant = nullptr;  // of a participant that exists
    wire::id shown = {};                       // id of a participant
    std::string name = {};                     // of a topic that is gone
    [[nodiscard]] bool gone() const noexcept { return topic == nullptr && participant == nullptr; }
  };
  using table = std::map<revision, entry>;
  using handle = table::iterator;

  explicit change_log(std::size_t max_gone) noexcept : max_gone_(max_gone) {}

  // Throws std::bad_alloc. The other calls need no memory, so they cannot fail.
  [[nodiscard]] handle add(const entry& what);
  void changed(handle& which) noexcept;
  // `name`: the name of a topic; of a participant, empty.
  void gone(handle which, std::string&& name) noexcept;
  // Removes an entry as if it had never been added.
  void forget(handle which) noexcept { there_.erase(which); }

  [[nodiscard]] revision newest() const noexcept { return newest_; }
  // The log still has everything that has gone after this revision.
  [[nodiscard]] revision complete_after() const noexcept { return complete_after_; }

  // The changes after a revision, in order. Valid until the next change.
  class walk {
   public:
    walk(const change_log& of, revision after) noexcept;
    [[nodiscard]] bool at_end() const noexcept { return there_ == there_end_ && gone_ == gone_end_; }
    [[nodiscard]] const table::value_type& here() const noexcept { return takes_gone() ? *gone_ : *there_; }
    void next() noexcept { takes_gone() ? ++gone_ : ++there_; }

   private:
    [[nodiscard]] bool takes_gone() const noexcept {
      return there_ == there_end_ || (gone_ != gone_end_ && gone_->first < there_->first);
    }
    table::const_iterator there_;
    table::const_iterator there_end_;
    table::const_iterator gone_;
    table::const_iterator gone_end_;
  };

 private:
  const std::size_t max_gone_;
  table there_;
  table gone_;
  revision newest_ = 1;  // 0 means no revision
  revision complete_after_ = 0;
};

}  // namespace orc
