// Decides whether a subscription may link to the publication that the broker reports. liborc/doc/design/types.md says
// why the subscriber decides.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/types/type_checks.h"
#include "orc/log.h"
#include "orc/options.h"
#include "wire/described_type.h"

namespace orc::detail {

// Why a subscription keeps away from a publication.
struct obstacle {
  std::string reason;             // for people
  std::optional<error> mismatch;  // nothing: it is not known yet whether the types match
};

// Not thread-safe: the housekeeping owns it. It compares types, which can take long, so call it without locks.
class type_gate {
 public:
  // `expected`: null is any type.
  type_gate(std::string topic, std::shared_ptr<const described_type> expected, type_check how);

  // The broker reports this publication. The verdict about the same publication with the same type stays, whatever the
  // name of the publisher.
  void look_at(const wire::publication_info& publication, type_checks& checks);
  // The broker reports that there is no publication any more.
  void look_away() noexcept;
  // The type whose schema it needs for a verdict; null: none.
  [[nodiscard]] const wire::type_reference* awaited() const noexcept;
  // Decides with the description that belongs to awaited().
  void compare(const type_description& published, type_checks& checks);

  // Nothing: the subscription may link.
  [[nodiscard]] std::optional<obstacle> closed_by() const;

  struct news {
    log_level level;
    std::string text;
  };
  // Returns what the user should learn, once: a mismatch, and its end.
  [[nodiscard]] std::optional<news> take_news();
  [[nodiscard]] bool has_news() const noexcept { return news_.has_value(); }
  // Returns what the publisher should learn: the mismatch in words, once for each verdict.
  [[nodiscard]] const std::optional<std::string>& report() const noexcept { return report_; }
  void forget_report() noexcept { report_.reset(); }
  // That it decided about last.
  [[nodiscard]] const wire::id& publication() const noexcept { return publication_; }

 private:
  enum class verdict { none, unknown, match, mismatch };

  void decide(const result& outcome);
  void pass();

  const std::string topic_;
  const std::shared_ptr<const described_type> expected_;  // null: everything passes
  verdict verdict_ = verdict::none;
  wire::id publication_;
  wire::type_reference published_;
  std::string publisher_;  // "arm (4711)"
  error mismatch_;
  std::string reported_;  // the last mismatch that take_news() has or will return; empty: its end was
  std::optional<news> news_;
  std::optional<std::string> report_;
};

}  // namespace orc::detail
