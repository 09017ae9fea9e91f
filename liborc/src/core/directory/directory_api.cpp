// The public classes of orc/directory.h, which hand over to the core.
#include <new>
#include <utility>

#include "core/directory/directory.h"
#include "core/directory/directory_watcher.h"
#include "core/trace/interceptor.h"
#include "orc/directory.h"

namespace orc {

namespace {

// After fork() the sockets and locks in there belong to the parent.
template <typename Core>
void end(std::unique_ptr<Core>& core) noexcept {
  if (core && core->forked()) (void)core.release();
  core.reset();
}

template <typename Core, typename Call>
result call(const std::unique_ptr<Core>& core, Call&& wanted) try {
  if (!core) return errc::closed;
  if (detail::interceptor* const instead = detail::interceptor::current();
      instead != nullptr && !instead->unseen("orc::directory"))
    return {errc::refused, "this program is replayed: a trace has no answers of the broker's directory"};
  return wanted(*core);
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

}  // namespace

directory::directory() : directory(directory_options{}) {}
directory::directory(directory_options options) : directory_(std::make_unique<detail::directory>(std::move(options))) {}
directory::~directory() { end(directory_); }
directory::directory(directory&&) noexcept = default;
directory& directory::operator=(directory&& other) noexcept {
  end(directory_);
  directory_ = std::move(other.directory_);
  return *this;
}

result directory::broker(broker_state& found) {
  return call(directory_, [&](auto& core) { return core.broker(found); });
}
result directory::topics(std::string_view pattern, std::vector<topic_state>& found) {
  return call(directory_, [&](auto& core) { return core.topics(pattern, found); });
}
result directory::describe(std::string_view topic, topic_state& found) {
  return call(directory_, [&](auto& core) { return core.describe(topic, found); });
}
result directory::find_type(const topic_type& which, type_description& found) {
  return call(directory_, [&](auto& core) { return core.find_type(which, found); });
}
result directory::participants(std::vector<participant_state>& found) {
  return call(directory_, [&](auto& core) { return core.participants(found); });
}
result directory::hosts(std::vector<host_state>& found) {
  return call(directory_, [&](auto& core) { return core.hosts(found); });
}
result directory::federation(federation_state& found) {
  return call(directory_, [&](auto& core) { return core.federation(found); });
}

std::string_view to_string(peer_broker_state::kind state) noexcept {
  switch (state) {
    case peer_broker_state::kind::connecting: return "connecting";
    case peer_broker_state::kind::up: return "up";
    case peer_broker_state::kind::stale: return "stale";
    case peer_broker_state::kind::lost: return "lost";
    case peer_broker_state::kind::refused: return "refused";
  }
  return "unknown";
}

directory_watch directory::watch(watch_options options) const {
  if (!directory_) return directory_watch(nullptr);
  return directory_watch(std::make_unique<detail::directory_watcher>(directory_->options(), std::move(options)));
}

directory_watch::directory_watch(std::unique_ptr<detail::directory_watcher> made) noexcept
    : watcher_(std::move(made)) {}
directory_watch::~directory_watch() { end(watcher_); }
directory_watch::directory_watch(directory_watch&&) noexcept = default;
directory_watch& directory_watch::operator=(directory_watch&& other) noexcept {
  end(watcher_);
  watcher_ = std::move(other.watcher_);
  return *this;
}

result directory_watch::next_change(directory_change& change, std::chrono::nanoseconds timeout) {
  return call(watcher_, [&](auto& core) { return core.next_change(change, timeout); });
}
int directory_watch::fd() const noexcept { return watcher_ ? watcher_->fd() : -1; }

}  // namespace orc
