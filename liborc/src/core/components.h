// What components of ORC, such as the one of services, keep in a participant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "orc/participant.h"

namespace orc::detail {

// Any thread.
class components {
 public:
  explicit components(participant& owner);
  ~components();
  components(const components&) = delete;
  components& operator=(const components&) = delete;

  using maker = std::function<std::shared_ptr<participant_component>(orc::participant&)>;
  // Returns the component, which the first call makes. Null: end() was called, or `make` returned null.
  [[nodiscard]] std::shared_ptr<participant_component> find_or_make(const void* key, const maker& make);
  // Ends all of them. Later calls find none.
  void end() noexcept;

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::map<const void*, std::shared_ptr<participant_component>> by_key_;
  // The owner as programs see it, with full names. Their own object moves; this one stays.
  orc::participant public_;
};

}  // namespace orc::detail
