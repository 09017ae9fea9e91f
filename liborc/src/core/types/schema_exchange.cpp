#include "core/types/schema_exchange.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/printable.h"

namespace orc::detail {

void schema_exchange::lacks(std::shared_ptr<const described_type> type, monotonic::time_point now) {
  uploads_.add(std::move(type), now);
}

void schema_exchange::begin_again(monotonic::time_point now) {
  uploads_.forget_all();
  fetches_.begin_again(now);
}

void schema_exchange::on_part(std::uint64_t request, wire::schema_part&& part, monotonic::time_point now) {
  fetches_.on_part(request, std::move(part), now);
}

void schema_exchange::on_ack(std::uint64_t request, monotonic::time_point now) { uploads_.on_ack(request, now); }

void schema_exchange::on_error(std::uint64_t request, const wire::error& why, monotonic::time_point now) {
  fetches_.on_error(request, now);
  if (const auto refused = uploads_.on_error(request, why, now); !refused.empty()) log_(log_level::warning, refused);
}

void schema_exchange::on_mismatch(const wire::type_mismatch& report, monotonic::time_point now,
                                  const topic_lists& topics) {
  std::string subscriber = escaped(report.participant_name) + " (" + std::to_string(report.pid) + ")";
  // First what costs the same however many publications there are.
  if (!reports_.allows(subscriber, now)) return;
  const bool is_ours = std::any_of(topics.publications.begin(), topics.publications.end(),
                                   [&](const auto& each) { return each->topic() == report.topic && each->type(); });
  if (!is_ours) return;
  log_(log_level::warning, "topic " + report.topic + ": subscriber `" + subscriber +
                               "` expects another type; it says: " + escaped(report.text, backslashes::kept));
  reports_.charge(std::move(subscriber), now);
}

void schema_exchange::compare(monotonic::time_point now, topic_lists& topics) {
  bool may_compare = now >= next_comparison_;
  has_more_ = false;
  has_reports_ = false;
  const auto look_at = [&](subscription& whole, subscription& each) {
    const auto* const type = each.awaited_type();
    const auto* const published = type != nullptr ? fetches_.want(*type, now) : nullptr;
    if (published != nullptr && std::exchange(may_compare, false)) {
      topics.affected.insert(&whole);
      const auto began = monotonic::now();
      each.check_type(*published, checks_, now);
      next_comparison_ = now + rest * (monotonic::now() - began);
      fetches_.release(*type);
    } else if (published != nullptr) {
      has_more_ = true;
    }
    if (const auto news = each.take_news(now)) log_(news->level, news->text);
    if (each.type_report(now)) has_reports_ = true;
  };
  for (auto* const whole : topics.typed) for_each_part(*whole, [&](subscription& each) { look_at(*whole, each); });
  topics.typed.erase_if([](const subscription* whole) { return !whole->has_type_work(); });
  fetches_.forget_unwanted();
}

void schema_exchange::step(monotonic::time_point now, const topic_lists& topics,
                           const schema_fetches::send& to_broker) {
  const auto is_used = [&](std::uint64_t hash) {
    const auto has_it = [&](const auto& each) { return each->type() && each->type()->reference.hash == hash; };
    return std::any_of(topics.publications.begin(), topics.publications.end(), has_it) ||
           std::any_of(topics.subscriptions.begin(), topics.subscriptions.end(), has_it);
  };
  uploads_.step(now, is_used, to_broker);
  fetches_.step(now, to_broker);
  bool all_sent = true;
  const auto report_of = [&](subscription& each) {
    auto report = all_sent ? each.type_report(now) : std::nullopt;
    if (!report) return;
    if (to_broker(*std::move(report)))
      each.reported(now);
    else
      all_sent = false;
  };
  for (auto* const whole : topics.typed) for_each_part(*whole, report_of);
  if (all_sent) has_reports_ = false;
}

monotonic::time_point schema_exchange::next() const noexcept {
  const auto next = std::min(uploads_.next(), fetches_.next());
  if (has_reports_) return {};
  return has_more_ ? std::min(next, next_comparison_) : next;
}

}  // namespace orc::detail
