#include "base/network/name_lookup.h"

#include <cstddef>
#include <new>
#include <system_error>
#include <utility>

#include "base/network/host_addresses.h"

namespace orc::detail {

name_lookup::~name_lookup() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool name_lookup::ask(std::vector<std::string> endpoints) {
  if (thread_.joinable()) return false;
  found_.clear();
  found_.resize(endpoints.size());
  done_ = false;
  try {
    thread_ = std::thread([this, asked = std::move(endpoints)] {
      try {
        for (std::size_t i = 0; i < asked.size() && !stop_; ++i) found_[i] = numeric_endpoints(asked[i]);
      } catch (const std::bad_alloc&) {  // the rest counts as unknown until the next lookup
      }
      done_ = true;
    });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

std::optional<std::vector<std::vector<std::string>>> name_lookup::try_take() {
  if (!thread_.joinable() || !done_) return std::nullopt;
  thread_.join();
  return std::move(found_);
}

}  // namespace orc::detail
