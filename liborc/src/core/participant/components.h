// What components of ORC, such as the one of services, keep in a participant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "orc/participant.h"

namespace orc::detail {

class subscription;

// What a component keeps in a participant, which ends it.
class participant_component {
 public:
  virtual ~participant_component() = default;
  // Ends it: its threads have returned, and it makes no more calls on the participant. The participant calls this once,
  // before its topics end.
  virtual void end() noexcept = 0;
};

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
  // Returns the component `key` of a participant; the first call makes it with `make`, whose participant stays valid
  // until the component was ended, also when `by` is moved, and has no namespace: it takes full names. Null, without a
  // call of `make`: see `why_none`.
  [[nodiscard]] static std::shared_ptr<participant_component> of(orc::participant& by, const void* key,
                                                                 const maker& make);
  // Why `of` returned null: forked or closed. Never waits.
  [[nodiscard]] static errc why_none(const orc::participant& by) noexcept;
  // The subscription of a topic by its full name, as a component watches it; null: there is none. It may outlive the
  // participant.
  [[nodiscard]] static std::shared_ptr<const subscription> watched(const orc::participant& by,
                                                                   std::string_view topic) noexcept;
  // Whether its link stands: as orc::subscriber::connected(), and also after the broker reported that the publication
  // left, while the process at the other end has not ended and its host answers.
  [[nodiscard]] static bool is_linked(const subscription& of) noexcept;
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
