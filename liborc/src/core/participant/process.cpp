#include "core/participant/process.h"

#include <pthread.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "base/files/fd_limit.h"

namespace orc::detail {

namespace {

std::mutex current_mutex;

// Never destroyed, because static participants may outlive any static object of ours.
std::weak_ptr<process>& current() {
  static auto* const instance = new std::weak_ptr<process>;
  return *instance;
}

void before_fork() { current_mutex.lock(); }
void after_fork_in_parent() { current_mutex.unlock(); }
void after_fork_in_child() {
  current().reset();
  current_mutex.unlock();
}

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] {
    count_forks();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  });
}

}  // namespace

expected<std::shared_ptr<process>> process::acquire() {
  watch_forks();
  const std::lock_guard lock(current_mutex);
  if (auto existing = current().lock()) return existing;
  if (!room_for_fds(32))
    return error(errc::no_descriptors,
                 "not enough file descriptors left to start ORC: 32 are needed; raise the limit (ulimit -n)");
  try {
    zmq::context_t context;
    context.set(zmq::ctxopt::max_sockets, context.get(zmq::ctxopt::socket_limit));
    context.set(zmq::ctxopt::blocky, 0);
    auto made = std::make_shared<process>(std::move(context));
    current() = made;
    return made;
  } catch (const zmq::error_t& failed) {
    return error(errc::system_error, std::string("libzmq: ") + failed.what());
  }
}

process::~process() {
  if (generation_ == fork_generation()) context_.~context_t();
}

}  // namespace orc::detail
