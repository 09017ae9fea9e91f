#include "calls/calls_component.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/process/fork_generation.h"
#include "orc/calls.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_name = 255 - std::string_view("/.reply/0123456789abcdef").size();
constexpr std::size_t max_patterns = 16;  // watch_options::topics
constexpr int look_after_ms = 200;

[[nodiscard]] result check_name(std::string_view name) {
  if (name.size() <= max_name) return {};
  return {errc::bad_name, "the name of a service has at most " + std::to_string(max_name) + " bytes, not " +
                              std::to_string(name.size())};
}

[[nodiscard]] result check_options(const service_options& options) {
  const auto outside = [](const char* option, std::size_t least, std::size_t most, std::size_t value) {
    return result(errc::bad_argument, std::string(option) + " is " + std::to_string(least) + " to " +
                                          std::to_string(most) + ", not " + std::to_string(value));
  };
  if (options.threads > 256) return outside("threads", 0, 256, options.threads);
  if (options.queue < 1 || options.queue > 65536) return outside("queue", 1, 65536, options.queue);
  if (options.queue_bytes < 1) return {errc::bad_argument, "queue_bytes is at least 1, not 0"};
  if (options.max_clients < 1 || options.max_clients > 1024)
    return outside("max_clients", 1, 1024, options.max_clients);
  if (options.interfaces.size() > 32) return outside("the number of interfaces", 0, 32, options.interfaces.size());
  for (const std::string& name : options.interfaces) {
    if (name.empty() || name.size() > 255) return outside("the length of an interface's name", 1, 255, name.size());
  }
  if (options.transports.contains(transport::multicast))
    return {errc::bad_argument, "calls have one reader per topic, so they do not use multicast: leave it out"};
  return {};
}

constexpr int key = 0;

}  // namespace

std::shared_ptr<calls_component> calls_component::of(orc::participant& by) {
  count_forks();
  return std::static_pointer_cast<calls_component>(
      components::of(by, &key, [](orc::participant& stays) { return std::make_shared<calls_component>(stays); }));
}

calls_component::~calls_component() {
  if (wake_watch_ >= 0) ::close(wake_watch_);
}

void calls_component::end() noexcept {
  decltype(channels_) channels;
  decltype(services_) services;
  decltype(leaving_) left;
  decltype(closing_) closing;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    channels.swap(channels_);
    services.swap(services_);
    left.swap(leaving_);
    closing.swap(closing_);
    wake_watch();
  }
  finish(watch_);
  const auto begun = monotonic::now();
  for (const auto& [name, service] : services) service->end(begun);
  for (leaving& each : left) {
    each.of->end(begun);
    each.of->finish(each.thread);
  }
  for (const auto& [name, channel] : channels) channel->stop();
  for (const auto& channel : closing) channel->stop();
}

// ---- calls ----

std::shared_ptr<client_channel> calls_component::channel(const orc::participant& by, std::string_view service,
                                                         call_error& why_not) {
  const std::lock_guard lock(mutex_);
  if (ended_) {
    why_not = {.code = call_errc::closed};
    return nullptr;
  }
  const auto found = channels_.find(service);
  if (found != channels_.end()) return found->second;
  std::string name = by.resolve(service);
  if (const result ok = check_name(name); !ok) {
    why_not = {.code = call_errc::bad_argument, .text = ok.error().message()};
    return nullptr;
  }
  if (channels_.size() >= max_called_services && !close_unused()) {
    why_not = {.code = call_errc::too_many_calls,
               .text = "this participant has calls to " + std::to_string(max_called_services) + " services"};
    return nullptr;
  }
  auto made = std::make_shared<client_channel>(participant_, std::move(name));
  channels_.emplace(service, made);
  return made;
}

// Closes the channel without calls that was used longest ago. False: there is none.
bool calls_component::close_unused() {
  std::erase_if(closing_, [](const auto& each) { return each->has_stopped(); });
  auto oldest = channels_.end();
  for (auto each = channels_.begin(); each != channels_.end(); ++each) {
    if (each->second.use_count() != 1) continue;  // its calls and those who wait keep it
    if (oldest == channels_.end() || each->second->last_used() < oldest->second->last_used()) oldest = each;
  }
  if (oldest == channels_.end() || closing_.size() >= max_called_services) return false;
  closing_.push_back(oldest->second);
  channels_.erase(oldest);
  closing_.back()->begin_stop();
  return true;
}

// ---- services ----

std::shared_ptr<service_core> calls_component::serve(std::string_view name, call_types types, raw_handler handler,
                                                     const service_options& options, std::chrono::nanoseconds patience,
                                                     result& made) {
  if (made = check_name(name); !made) return nullptr;
  if (made = check_options(options); !made) return nullptr;
  if (participant_.broker_endpoint() == "none") {
    made = {errc::bad_argument, "a service needs a broker, and this participant uses none"};
    return nullptr;
  }
  auto core = std::make_shared<service_core>(participant_, std::string(name), std::move(types), std::move(handler),
                                             options, patience);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      made = errc::closed;
      return nullptr;
    }
    if (wake_watch_ < 0 && (wake_watch_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
      made = errc::no_descriptors;
      return nullptr;
    }
    leaving_.reserve(services_.size() + leaving_.size() + 1);  // withdraw() needs no memory
    if (!services_.emplace(name, core).second) {
      made = {errc::name_taken, "this participant serves " + std::string(name) + " already"};
      return nullptr;
    }
  }
  core->set_owner([owner = weak_from_this(), service = std::weak_ptr(core)](monotonic::time_point until) {
    const auto by = owner.lock();
    const auto self = service.lock();
    return !by || !self || by->withdraw(self, until);
  });
  made = core->start();
  {
    const std::lock_guard lock(mutex_);
    try {
      if ((made || made.code() == errc::no_broker) && !watch_.joinable() && !ended_)
        watch_ = start_quiet([this] { watch(); });
    } catch (const std::system_error& problem) {
      made = {errc::system_error, std::string("cannot start a thread: ") + problem.what()};
    }
    if (made || made.code() == errc::no_broker) {
      ++services_changed_;
      wake_watch();
      return core;
    }
    services_.erase(std::string(name));
  }
  if (core->is_started()) {
    core->begin_stop();
    (void)core->join();
  }
  return nullptr;
}

bool calls_component::withdraw(const std::shared_ptr<service_core>& service, monotonic::time_point until) noexcept {
  const auto leaves = [&](const leaving& each) { return each.of == service; };
  {
    const std::lock_guard lock(mutex_);
    const auto found = services_.find(service->name());
    if (found != services_.end() && found->second == service) {
      services_.erase(found);
      ++services_changed_;
      wake_watch();
      leaving_.push_back({.of = service});
    } else if (std::ranges::none_of(leaving_, leaves)) {
      return true;  // it was withdrawn, or end() does it
    }
  }
  join_leaving();
  service->begin_stop();
  if (!service->wait_for_handlers(until)) return false;
  std::thread own = service->join();
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(leaving_, leaves);
  if (own.joinable() && at != leaving_.end())
    at->thread = std::move(own);
  else if (at != leaving_.end() && !at->thread.joinable())
    leaving_.erase(at);
  finish(own);
  return true;
}

// Those that only this list still refers to have ended.
void calls_component::join_leaving() noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(leaving_, [](leaving& each) {
    if (each.of.use_count() > 1) return false;
    finish(each.thread);
    return true;
  });
}

std::vector<std::shared_ptr<service_core>> calls_component::services() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<service_core>> all;
  for (const auto& [name, service] : services_) {
    if (service->is_started()) all.push_back(service);
  }
  return all;
}

// ---- the thread that learns of clients ----

void calls_component::wake_watch() noexcept {
  const std::uint64_t one = 1;
  if (wake_watch_ >= 0) (void)!::write(wake_watch_, &one, sizeof one);
}

void calls_component::pause(int timeout_ms) noexcept {
  pollfd wake{.fd = wake_watch_, .events = POLLIN, .revents = 0};
  (void)::poll(&wake, 1, timeout_ms);
}

void calls_component::watch() noexcept {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
    }
    try {
      watch_once();
    } catch (const std::exception&) {
      // Out of memory or threads: again in a moment.
      pause(look_after_ms);
    }
  }
}

// Watches the clients of the services that there are now. Returns when these or the broker change.
void calls_component::watch_once() {
  std::uint64_t events = 0;
  (void)!::read(wake_watch_, &events, sizeof events);
  const auto watched = services();
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    version = services_changed_;
  }
  const std::string broker = participant_.broker_endpoint();
  if (broker.empty() || watched.empty()) return pause(look_after_ms);
  watch_options wanted{.topics = {}};
  for (const auto& service : watched) wanted.topics.push_back(service->name() + "/.call/*");
  if (wanted.topics.size() > max_patterns) wanted.topics = {"**/.call/*"};
  directory_watch changes = orc::directory({.broker = broker, .stop_fd = wake_watch_}).watch(std::move(wanted));
  std::set<std::uint64_t> listed;
  auto look_at = monotonic::now();
  for (;;) {
    directory_change change;
    const result next = changes.next_change(change, look_after_ms);
    if (next) take(change, listed);
    if (next && change.what == directory_change::kind::complete) {
      for (const auto& service : watched) service->go_but(listed);
    }
    if (!next && next.code() != errc::timed_out) pause(look_after_ms);
    if (monotonic::now() >= look_at) {
      bool again = participant_.broker_endpoint() != broker;
      for (const auto& service : watched) {
        service->look_after();
        again = service->wants_clients_again() || again;
      }
      if (again) return;
      look_at = monotonic::now() + std::chrono::milliseconds(look_after_ms);
    }
    const std::lock_guard lock(mutex_);
    if (ended_ || services_changed_ != version) return;
  }
}

// Keeps `listed`, the clients that the broker lists, up to date.
void calls_component::take(const directory_change& change, std::set<std::uint64_t>& listed) {
  if (change.what == directory_change::kind::broker_lost) listed.clear();
  if (change.what != directory_change::kind::topic && change.what != directory_change::kind::topic_gone) return;
  const std::string& topic = change.topic.name;
  const std::size_t at = topic.rfind("/.call/");
  if (at == std::string::npos) return;
  const std::string_view name = std::string_view(topic).substr(0, at);
  const auto client = client_of(topic, name);
  if (!client) return;
  const bool came = change.what == directory_change::kind::topic && change.topic.publication;
  if (came)
    listed.insert(*client);
  else
    listed.erase(*client);
  std::shared_ptr<service_core> service;
  {
    const std::lock_guard lock(mutex_);
    const auto found = services_.find(name);
    if (found == services_.end() || !found->second->is_started()) return;
    service = found->second;
  }
  if (came)
    service->come(*client, *change.topic.publication);
  else
    service->go(*client);
}

}  // namespace orc::detail
