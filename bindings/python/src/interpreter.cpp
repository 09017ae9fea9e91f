#include "interpreter.h"

#include <unistd.h>

#include <atomic>
#include <list>
#include <memory>
#include <set>
#include <thread>

#include "gil.h"
#include "session.h"

namespace orc::python::interpreter {

namespace {

std::atomic<bool> ending{false};
std::atomic<std::thread::id> ended_by{};

struct helper {
  std::thread thread;
  std::shared_ptr<std::atomic<bool>> done;
};

// Protected by the GIL. Never destroyed, and the child of a fork() starts with none: its parent's threads are not
// there.
struct registry {
  pid_t process = getpid();
  std::set<session*> sessions;
  std::list<helper> helpers;
};

registry& living() {
  static auto* instance = new registry;
  if (instance->process != getpid()) instance = new registry;
  return *instance;
}

void end() {
  ended_by = std::this_thread::get_id();
  ending = true;
  const auto sessions = living().sessions;
  for (session* const each : sessions) each->close();
  auto helpers = std::move(living().helpers);
  without_gil([&]() noexcept {
    for (auto& each : helpers) each.thread.join();
  });
}

}  // namespace

void watch_end() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end)); }

bool is_ending() noexcept { return ending; }

void come_back(PyThreadState* thread) noexcept {
  while (ending.load(std::memory_order_relaxed) && ended_by.load() != std::this_thread::get_id()) pause();
  PyEval_RestoreThread(thread);
}

void add(session* living_one) { living().sessions.insert(living_one); }
void remove(session* living_one) noexcept { living().sessions.erase(living_one); }

void run_beside(std::function<void()> work) {
  auto& helpers = living().helpers;
  for (auto each = helpers.begin(); each != helpers.end();) {
    if (*each->done) {
      each->thread.join();
      each = helpers.erase(each);
    } else {
      ++each;
    }
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  helpers.push_back({std::thread([work = std::move(work), done]() mutable {
                       work();
                       work = nullptr;
                       *done = true;
                     }),
                     done});
}

}  // namespace orc::python::interpreter
