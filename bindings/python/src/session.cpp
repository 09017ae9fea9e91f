#include "session.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>

#include "calls/offered_service.h"
#include "errors.h"
#include "gil.h"
#include "interpreter.h"

namespace orc::python {

namespace {

// No call of liborc waits longer, so that a thread ends soon when no caller waits for it any more.
constexpr std::chrono::nanoseconds max_call = std::chrono::seconds(2);
constexpr std::chrono::milliseconds between_signals{20};

class answer {
 public:
  void give(result outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    given_.notify_all();
  }
  [[nodiscard]] std::optional<result> wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    given_.wait_for(lock, longest, [this] { return outcome_.has_value(); });
    return outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<result> outcome_;
};

[[nodiscard]] result call_beside(const std::shared_ptr<orc::participant>& broker, const session::set_up& wanted) {
  const auto told = std::make_shared<answer>();
  try {
    interpreter::run_beside([told, used = broker, wanted]() mutable {
      result outcome = wanted(*used);
      used.reset();  // before the caller goes on, because its close() must end the participant
      told->give(std::move(outcome));
    });
  } catch (const std::system_error& problem) {
    return {errc::system_error, std::string("no thread for the call: ") + problem.what()};
  }
  for (;;) {
    const auto outcome = without_gil([&]() noexcept { return told->wait(between_signals); });
    if (outcome) return *outcome;
    raise_signals();
  }
}

}  // namespace

session::session(participant_options options, std::shared_ptr<log_sink> sink)
    : broker_endpoints_(options.broker), broker_timeout_(options.broker_timeout), sink_(std::move(sink)) {
  if (interpreter::is_ending()) fail(errc::closed, "the interpreter is ending");
  options.broker_timeout = std::min(broker_timeout_, max_call);
  options.log = [to = sink_](log_level level, std::string_view text) { to->write(level, text); };
  without_gil([&]() noexcept { broker_ = std::make_shared<orc::participant>(std::move(options)); });
  interpreter::add(this);
}

session::~session() {
  interpreter::remove(this);
  close();
  if (auto left = parameters_.release(); !left.empty()) let_go(std::move(left));
  sink_->clear();
}

void session::close() noexcept {
  if (!broker_) return;
  closing_.request_stop();
  subscriptions_.clear();
  const auto services = std::exchange(services_, {});
  for (const auto& each : services) each->leave();
  auto ended = std::exchange(broker_, nullptr);
  parameters_.end();
  if (log_sink::in_a_call() && !declared_parameter::in_a_call()) {
    // Garbage collection ran in a log callback, perhaps on the thread for which the participant would wait.
    interpreter::run_beside([kept = std::move(ended)] {});
  } else {
    let_go(std::move(ended));
  }
  for (const auto& each : services) each->end();
  without_gil([directory = std::move(directory_)]() mutable noexcept { directory.reset(); });
}

void session::add(std::shared_ptr<offered_service> service) {
  if (broker_) return services_.push_back(std::move(service));
  service->end();
  fail(errc::closed);
}

void session::remove(const offered_service& service) noexcept {
  std::erase_if(services_, [&](const auto& each) { return each.get() == &service; });
}

template <typename Ending>
void session::let_go(Ending ending) noexcept {
  const declared_parameters now = parameters_;
  interpreter::closes();
  bool is_idle = !declared_parameter::in_a_call() && !log_sink::in_a_call();
  without_gil([&]() noexcept {
    is_idle = is_idle && now.are_idle();
    if (is_idle) ending = Ending();
  });
  if (!is_idle) interpreter::leave([kept = std::move(ending)] {});
  interpreter::closed();
}

const std::shared_ptr<orc::participant>& session::broker() const {
  if (!broker_) fail(errc::closed);
  return broker_;
}

std::shared_ptr<orc::directory> session::directory() {
  (void)broker();
  if (!directory_) {
    const directory_options options{.broker = broker_endpoints_, .broker_timeout = max_call};
    auto made = without_gil([&]() noexcept { return std::make_shared<orc::directory>(options); });
    if (!directory_) directory_ = std::move(made);  // another thread may have been faster
  }
  return directory_;
}

std::shared_ptr<subscription> session::find(std::string_view topic) {
  if (const auto known = subscriptions_.find(topic); known != subscriptions_.end()) {
    const auto same = known->second;
    const errc now = without_gil([&]() noexcept { return same->end.wait_connected(0).code(); });
    if (now == errc::forked) fail(now);
    if (now != errc::closed) return same;
    if (const auto still = subscriptions_.find(topic); still != subscriptions_.end() && still->second == same)
      subscriptions_.erase(still);
  }
  errc why = errc::not_requested;
  const std::string absolute = "/" + std::string(topic);
  auto end = with_participant([&](orc::participant& broker) {
    auto found = broker.subscriber(absolute);
    if (!found && broker.recv_msg(absolute, 0).status() == errc::forked) why = errc::forked;
    return found;
  });
  if (!end) fail(why);
  auto& same = subscriptions_[std::string(topic)];
  if (!same) same = std::make_shared<subscription>(std::move(end));
  return same;
}

result session::release(const std::string& topic) {
  const std::string name = full_name(topic);
  const auto known = subscriptions_.find(name);
  const auto same = known != subscriptions_.end() ? known->second : nullptr;
  result outcome = call([topic](orc::participant& broker) { return broker.release_topic(topic); });
  if (const auto still = subscriptions_.find(name); same && still != subscriptions_.end() && still->second == same)
    subscriptions_.erase(still);
  return outcome;
}

result session::call(const set_up& wanted) const {
  // Only a call that is longer than one of liborc's reads the clock, by which a replay repeats it.
  const bool is_long = broker_timeout_ != orc::forever && broker_timeout_ > max_call;
  const std::int64_t ends = is_long ? orc::monotonic_ns() + broker_timeout_.count() : 0;
  for (;;) {
    result outcome = call_beside(broker(), wanted);
    if (outcome.code() != errc::no_broker) return outcome;
    if (broker_timeout_ != orc::forever && !(is_long && orc::monotonic_ns() < ends)) return outcome;
    raise_signals();  // also when answers come at once
  }
}

}  // namespace orc::python
