#include "interpreter.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <set>
#include <thread>

#include "call_python.h"
#include "gil.h"
#include "session.h"

namespace orc::python::interpreter {

namespace {

std::atomic<bool> ending{false};

struct helper {
  std::thread thread;
  std::shared_ptr<std::atomic<bool>> done;
};

// Protected by the GIL. Never destroyed. The child of a fork() starts with none, because the parent's threads do not
// exist there.
struct registry {
  pid_t process = getpid();
  std::set<session*> sessions;
  int closing = 0;
  std::list<helper> helpers;
  std::list<helper> left;  // never joined at the end
};

registry& living() {
  static auto* instance = new registry;
  if (instance->process != getpid()) instance = new registry;
  return *instance;
}

// Also joins those that have ended.
void start(std::list<helper>& among, std::function<void()> work) {
  std::list<helper> over;
  for (auto each = among.begin(); each != among.end();) {
    const auto one = each++;
    if (*one->done) over.splice(over.end(), among, one);
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  among.push_back({std::thread([work = std::move(work), done]() mutable {
                     work();
                     work = nullptr;
                     *done = true;
                   }),
                   done});
  // Where one ran Python code, it takes the GIL once more when it ends.
  without_gil([&]() noexcept {
    for (auto& each : over) each.thread.join();
  });
}

void end() {
  ending = true;
  PyObject* const told = call_python("orc._errors", "expect_the_end", PyTuple_New(0));
  if (told == nullptr) PyErr_Clear();
  Py_XDECREF(told);
  // One at a time, because others close and drop theirs while the GIL is free.
  auto& sessions = living().sessions;
  while (!sessions.empty()) sessions.extract(sessions.begin()).value()->close();
  while (living().closing != 0)
    without_gil([]() noexcept { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  auto helpers = std::move(living().helpers);
  without_gil([&]() noexcept {
    for (auto& each : helpers) each.thread.join();
  });
}

}  // namespace

void watch_end() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end)); }

bool is_ending() noexcept { return ending; }

void closes() { ++living().closing; }
void closed() noexcept { --living().closing; }

void add(session* living_one) { living().sessions.insert(living_one); }
void remove(session* living_one) noexcept { living().sessions.erase(living_one); }

void run_beside(std::function<void()> work) { start(living().helpers, std::move(work)); }
void leave(std::function<void()> work) { start(living().left, std::move(work)); }

}  // namespace orc::python::interpreter
