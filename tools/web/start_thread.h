// Threads that leave signals to the main thread.
#pragma once

#include <functional>
#include <thread>

namespace orc::web {

// Throws std::system_error when the system has no thread left.
[[nodiscard]] std::thread start_thread(std::function<void()> body);

}  // namespace orc::web
