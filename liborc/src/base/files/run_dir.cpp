#include "base/files/run_dir.h"

#include <sys/un.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/process/environment.h"
#include "base/text/comma_list.h"

namespace orc::detail {
namespace {

// The XDG specification says to ignore relative paths.
std::string xdg_dir() {
  const auto base = environment("XDG_RUNTIME_DIR");
  return base.starts_with('/') ? base + "/orc" : "";
}

std::string temporary_dir() { return "/tmp/orc-" + std::to_string(geteuid()); }

std::string endpoint_in(const std::string& directory) { return std::string(ipc_scheme) + directory + "/broker"; }

bool fits(std::string_view directory) {
  return directory.size() + std::string_view("/broker").size() < sizeof(sockaddr_un::sun_path);
}

std::vector<std::string> named_endpoints(const std::string& named) {
  for (const auto& text : {named, environment("ORC_BROKER")}) {
    if (const auto words = comma_list(text); !words.empty()) return {words.begin(), words.end()};
  }
  return {};
}

}  // namespace

std::string default_broker_dir() {
  if (auto directory = xdg_dir(); !directory.empty()) return directory;
  if (geteuid() == 0 || access(system_broker_dir, W_OK | X_OK) == 0) return system_broker_dir;
  return temporary_dir();
}

std::string default_broker_endpoint() { return endpoint_in(default_broker_dir()); }

std::string directory_beside(const std::string& broker_endpoint) {
  if (!broker_endpoint.starts_with(ipc_scheme)) return default_broker_dir();
  const std::string path = broker_endpoint.substr(ipc_scheme.size());
  return path.substr(0, path.rfind('/'));
}

bool is_directory_of(std::string_view name, std::string_view uid) noexcept {
  if (!name.starts_with(uid)) return false;
  const std::string_view rest = name.substr(uid.size());
  return rest.empty() || (rest.size() == 9 && rest.front() == '-' &&
                          rest.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos);
}

bool broker_is_named(const std::string& named) { return !named_endpoints(named).empty(); }

std::vector<std::string> well_known_dirs() {
  std::vector<std::string> found{system_broker_dir, temporary_dir(), "/run/user/" + std::to_string(geteuid()) + "/orc"};
  if (auto directory = xdg_dir(); !directory.empty()) found.push_back(std::move(directory));
  return found;
}

std::vector<std::string> broker_candidates(const std::string& named) {
  if (auto chosen = named_endpoints(named); !chosen.empty()) return chosen;
  std::vector<std::string> found;
  for (const auto& directory : {xdg_dir(), std::string(system_broker_dir), temporary_dir()}) {
    if (!directory.empty() && fits(directory)) found.push_back(endpoint_in(directory));
  }
  found.emplace_back(default_tcp_endpoint);
  return found;
}

}  // namespace orc::detail
