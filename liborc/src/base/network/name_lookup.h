// Looks up names on a thread of its own, because the resolver may take seconds.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace orc::detail {

// Not thread-safe. One lookup at a time. The destructor waits for one answer of the resolver.
class name_lookup {
 public:
  name_lookup() noexcept = default;
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  ~name_lookup();

  // False: one is under way, or no thread can be started.
  bool ask(std::vector<std::string> endpoints);
  [[nodiscard]] bool is_under_way() const noexcept { return thread_.joinable(); }
  // Returns numeric_endpoints() of each endpoint of the lookup, once. Nothing: not yet.
  [[nodiscard]] std::optional<std::vector<std::vector<std::string>>> try_take();

 private:
  std::vector<std::vector<std::string>> found_;  // the thread's until done_ is set
  std::atomic<bool> done_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace orc::detail
