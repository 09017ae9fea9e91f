#include "tools/orc/broker_directory.h"

#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// A broker that restarts is back within this time.
constexpr auto patience = std::chrono::milliseconds(2'000);

}  // namespace

directory broker_directory(const std::string& broker, const detail::stop_signal& stop) {
  return directory({.broker = broker, .broker_timeout = patience, .stop_fd = stop.fd()});
}

int exit_code_of(const result& failure) {
  if (failure.code() == errc::unknown_topic) return exit_code::no_topic;
  return failure.code() == errc::closed ? exit_code::interrupted : exit_code::failed;
}

std::string text_of(const result& failure) {
  return failure.code() == errc::closed ? "interrupted" : escaped(failure.error().message());
}

}  // namespace orc::cli
