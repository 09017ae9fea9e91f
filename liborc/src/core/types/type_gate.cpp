#include "core/types/type_gate.h"

#include <utility>

#include "base/text/printable.h"

namespace orc::detail {

namespace {

[[nodiscard]] std::string name_of(const wire::publication_info& publication) {
  return publication.participant_name + " (" + std::to_string(publication.pid) + ")";
}

}  // namespace

type_gate::type_gate(std::string topic, std::shared_ptr<const described_type> expected, type_check how)
    : topic_(std::move(topic)), expected_(how == type_check::off ? nullptr : std::move(expected)) {}

void type_gate::look_at(const wire::publication_info& publication, type_checks& checks) {
  if (!expected_) return;
  wire::type_reference published = publication.type.value_or(wire::type_reference());
  std::string publisher = name_of(publication);
  const bool is_known = verdict_ != verdict::none && publication.publication == publication_ && published == published_;
  publisher_ = std::move(publisher);
  if (is_known) return;
  publication_ = publication.publication;
  published_ = std::move(published);
  verdict_ = verdict::unknown;
  const bool is_untyped = published_ == wire::type_reference();
  if (is_untyped || published_.hash == expected_->reference.hash) return pass();
  if (const result* const known = checks.find(published_.hash, expected_->reference.hash, publisher_))
    return decide(*known);
  if (published_.schema_size > 0) return;
  const type_description complete{published_.name, published_.schema_encoding, published_.message_encoding, {}};
  if (hash_of(complete) == published_.hash) compare(complete, checks);
}

void type_gate::look_away() noexcept {
  if (verdict_ == verdict::unknown) verdict_ = verdict::none;
}

const wire::type_reference* type_gate::awaited() const noexcept {
  return verdict_ == verdict::unknown ? &published_ : nullptr;
}

void type_gate::compare(const type_description& published, type_checks& checks) {
  decide(checks.compare(published, published_.hash, expected_->description, expected_->reference.hash, publisher_));
}

// A schema that cannot be read is a mismatch too: nothing shows that the samples are what the subscriber expects. What
// needs memory comes first: without memory there is no verdict.
void type_gate::decide(const result& outcome) {
  if (outcome) return pass();
  std::string sentence = "topic " + topic_ + ": " + outcome.error().message();
  error mismatch(errc::type_mismatch, sentence);
  if (reported_ != sentence) {
    news_.emplace(news{log_level::warning, sentence});
    reported_ = std::move(sentence);
  }
  report_.emplace(outcome.error().message());
  mismatch_ = std::move(mismatch);
  verdict_ = verdict::mismatch;
}

void type_gate::pass() {
  report_.reset();
  if (!reported_.empty()) {
    news_.emplace(
        news{log_level::info, "topic " + topic_ + ": the type of publisher `" + escaped(publisher_) + "` matches now"});
    reported_.clear();
  }
  verdict_ = verdict::match;
}

std::optional<obstacle> type_gate::closed_by() const {
  if (verdict_ == verdict::mismatch) return obstacle{mismatch_.message(), mismatch_};
  if (verdict_ != verdict::unknown) return std::nullopt;
  const std::string name = published_.name.empty() ? "the publisher's type" : escaped(published_.name);
  return obstacle{"waits for the schema of " + name, std::nullopt};
}

std::optional<type_gate::news> type_gate::take_news() { return std::exchange(news_, std::nullopt); }

}  // namespace orc::detail
