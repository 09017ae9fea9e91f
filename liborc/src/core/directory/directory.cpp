#include "core/directory/directory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/files/run_dir.h"
#include "base/network/endpoint_check.h"
#include "core/directory/directory_state.h"
#include "core/participant/with_environment.h"
#include "wire/name_pattern.h"
#include "wire/name_space.h"

namespace orc::detail {

namespace {

constexpr std::chrono::milliseconds patience{1'000};  // for an answer, before it asks again
constexpr std::chrono::milliseconds look_again{100};

}  // namespace

expected<std::unique_ptr<broker_client>> client_for(const directory_options& options) {
  if (options.broker_timeout.count() < 0)
    return error(errc::bad_argument, "broker_timeout is 0 or more; orc::forever waits without limit");
  if (broker_candidates(options.broker).front() == without_broker)
    return error(errc::bad_argument, "only a broker knows that, and \"none\" (ORC_BROKER) means to do without one");
  if (const auto good = check_broker(options.broker); !good) return good.error();
  auto acquired = process::acquire();
  if (!acquired) return acquired.error();
  auto client = std::make_unique<broker_client>(*std::move(acquired), options.broker);
  if (client->fd() < 0) return error(errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)");
  return client;
}

result refusal(const wire::error& by_broker, const broker_client& client) {
  if (by_broker.code == wire::error_code::unknown_topic) return {errc::unknown_topic, by_broker.text};
  if (by_broker.code == wire::error_code::unknown_schema) return {errc::unknown_type, by_broker.text};
  return {errc::refused,
          "the broker at " + client.endpoint() + " (" + client.version() + ") refused: " + by_broker.text};
}

directory::directory(directory_options options) : options_(std::move(options)), generation_(fork_generation()) {
  auto made = client_for(options_);
  if (made)
    client_ = *std::move(made);
  else
    ready_ = made.error();
}

expected<wire::body> directory::ask(wire::body question) {
  if (!ready_) return ready_.error();
  deadline until(options_.broker_timeout);
  bool is_extended = options_.broker_timeout.count() <= 0;
  client_->ask(std::move(question), patience);
  for (;;) {
    if (auto answer = client_->step(monotonic::now())) {
      if (const auto* const error = std::get_if<wire::error>(&*answer)) return refusal(*error, *client_).error();
      return *std::move(answer);
    }
    const errc waited = client_->wait(until, options_.stop_fd);
    if (waited == errc::ok) continue;
    if (waited != errc::timed_out) return error(waited);
    if (client_->is_patient() && !is_extended) {
      until = deadline(look_again);
    } else if (client_->round_trip() >= slow_round_trip && !std::exchange(is_extended, true)) {
      until = deadline(round_trips_more * client_->round_trip());
    } else {
      return error(errc::no_broker, client_->why_silent());
    }
  }
}

template <class Answer>
result directory::ask(wire::body question, Answer& answer) {
  auto got = ask(std::move(question));
  if (!got) return got.error();
  auto* const wanted = std::get_if<Answer>(&*got);
  if (wanted == nullptr)
    return {errc::refused, "the broker at " + client_->endpoint() + " sent another kind of answer"};
  answer = std::move(*wanted);
  return {};
}

result directory::broker(broker_state& found) {
  if (forked()) return errc::forked;
  const std::lock_guard lock(mutex_);
  wire::topic_list page;
  if (auto ok = ask(wire::list_topics{{}, 1}, page); !ok) return ok;
  found = {client_->endpoint(), client_->version(), page.epoch, std::chrono::milliseconds(page.uptime_ms),
           page.participants,   page.rejected};
  return {};
}

result directory::topics(std::string_view pattern, std::vector<topic_state>& found) {
  if (forked()) return errc::forked;
  pattern = wire::without_slash(pattern);
  if (auto checked = wire::check_name_pattern(pattern); !checked) return checked;
  const std::lock_guard lock(mutex_);
  std::vector<topic_state> all;
  wire::list_topics question;
  for (;;) {
    wire::topic_list page;
    if (auto ok = ask(question, page); !ok) return ok;
    const std::string last = page.topics.empty() ? std::string() : page.topics.back().topic;
    for (auto& each : page.topics) {
      if (wire::matches(pattern, each.topic)) all.push_back(state_of(std::move(each)));
    }
    // Names must grow, or a broken broker would keep us asking for ever.
    if (!page.more || last <= question.after) break;
    question.after = last;
  }
  found = std::move(all);
  return {};
}

result directory::describe(std::string_view topic, topic_state& found) {
  if (forked()) return errc::forked;
  topic = wire::without_slash(topic);
  if (auto checked = wire::check_topic_name(topic); !checked) return checked;
  const std::lock_guard lock(mutex_);
  wire::describe_topic question{std::string(topic)};
  std::optional<wire::topic_state> all;
  for (;;) {
    wire::topic_state page;
    if (auto ok = ask(question, page); !ok) return ok;
    const auto last = page.subscriptions.empty() ? wire::id{} : page.subscriptions.back().subscription;
    const bool more = page.more;
    if (!all) {
      all = std::move(page);
    } else {
      std::move(page.subscriptions.begin(), page.subscriptions.end(), std::back_inserter(all->subscriptions));
      all->subscription_count = page.subscription_count;
    }
    if (!more || last <= question.after) break;
    question.after = last;
  }
  found = state_of(*std::move(all));
  return {};
}

result directory::find_type(const topic_type& which, type_description& found) {
  if (forked()) return errc::forked;
  type_description whole{which.name, which.schema_encoding, which.message_encoding, {}};
  if (which.schema_size > max_schema_bytes)
    return {errc::bad_argument, "a schema has at most " + std::to_string(max_schema_bytes) + " bytes, not " +
                                    std::to_string(which.schema_size)};
  const std::lock_guard lock(mutex_);
  while (whole.schema.size() < which.schema_size) {
    const auto offset = static_cast<std::uint32_t>(whole.schema.size());
    wire::schema_part part;
    if (auto ok = ask(wire::get_schema{which.hash, offset}, part); !ok) return ok;
    // Parts are never shorter than they could be: else a broken broker would keep us asking a million times.
    if (part.hash != which.hash || part.offset != offset ||
        part.bytes.size() != std::min(which.schema_size - offset, wire::max_schema_part))
      return {errc::refused, "the broker at " + client_->endpoint() + " sent a part of another schema"};
    whole.schema += part.bytes;
  }
  if (hash_of(whole) != which.hash)
    return {errc::unknown_type, "the broker at " + client_->endpoint() + " has another type with this hash"};
  found = std::move(whole);
  return {};
}

result directory::participants(std::vector<participant_state>& found) {
  if (forked()) return errc::forked;
  const std::lock_guard lock(mutex_);
  std::map<wire::id, participant_state> all;  // their ids are numbers, in the order in which they came
  wire::watch question;
  question.participants = true;
  for (;;) {
    wire::changes page;
    if (auto ok = ask(question, page); !ok) return ok;
    if (page.reset) all.clear();
    for (auto& each : page.participants) {
      const auto id = each.participant;
      if (each.gone)
        all.erase(id);
      else
        all.insert_or_assign(id, state_of(std::move(each)));
    }
    if (!page.more || page.position == question.position) break;
    question.position = page.position;
  }
  found.clear();
  for (auto& [id, each] : all) found.push_back(std::move(each));
  return {};
}

result directory::hosts(std::vector<host_state>& found) {
  std::vector<participant_state> all;
  if (auto ok = participants(all); !ok) return ok;
  std::map<std::string, std::size_t> count;
  for (const auto& each : all) ++count[each.host];
  found.clear();
  for (const auto& [host, number] : count) found.push_back({host, number});
  return {};
}

result directory::federation(federation_state& found) {
  if (forked()) return errc::forked;
  const std::lock_guard lock(mutex_);
  wire::peer_list answer;
  if (auto ok = ask(wire::list_peers{}, answer); !ok) return ok;
  found = state_of(std::move(answer));
  return {};
}

}  // namespace orc::detail
