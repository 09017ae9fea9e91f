// orc-broker: configuration, signals, service manager. The broker itself is address_broker.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>

#include "base/files/fd_limit.h"
#include "base/process/stop_signal.h"
#include "broker/address_broker.h"
#include "broker/program/broker_config.h"
#include "broker/program/service_manager.h"

namespace {

using orc::broker_log_level;

// Writes one line to standard error. Drops it when its reader does not read, because the broker never blocks.
void write_line(std::string line) {
  constexpr std::size_t longest = 2'048;  // a pipe that polls writable takes 4 KiB without blocking
  if (line.size() > longest) line.resize(longest);
  line += '\n';
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

orc::broker_log logger(broker_log_level most) {
  return [most, journal = orc::journal_reads_stderr()](broker_log_level level, std::string_view text) {
    if (level > most) return;
    constexpr std::array priorities{"<3>", "<4>", "<6>", "<7>"};
    constexpr std::array names{"error: ", "warning: ", "", "debug: "};
    const auto index = static_cast<std::size_t>(level);
    write_line((journal ? std::string(priorities[index]) : "orc-broker: " + std::string(names[index])) +
               std::string(text));
  };
}

// Waits until a signal arrives. Reports to the service manager only while the broker's loop turns.
void wait_for_signal(const orc::detail::stop_signal& stop, const orc::address_broker& broker,
                     const orc::service_manager& manager) {
  using clock = orc::detail::stop_signal::clock;
  const auto period = manager.alive_period();
  auto passes = broker.stats().passes;
  while (!stop.wait_until(period ? clock::now() + *period : clock::time_point::max())) {
    const auto now = broker.stats().passes;
    if (now != passes) manager.alive();
    passes = now;
  }
}

int serve(const orc::broker_config& config) {
  const auto log = logger(config.log_level);
  signal(SIGPIPE, SIG_IGN);
  const orc::detail::stop_signal stop;
  orc::detail::raise_fd_limit();
  orc::address_broker_options options;
  options.listen = config.listen;
  options.group = config.group_id;
  options.limits = config.limits;
  options.allowed_endpoints = config.allowed_endpoints;
  options.peers = config.peers;
  options.discover = config.discover;
  options.domain = config.domain;
  options.peer_lease = std::chrono::seconds(config.peer_lease_s);
  options.host_name = config.host_name;
  options.version = std::string("orc-broker ") + ORC_VERSION;
  options.log = log;
  auto started = orc::address_broker::start(options);
  if (!started) {
    log(broker_log_level::error, started.error().message());
    return orc::exit_code::cannot_serve;
  }
  auto& broker = **started;
  for (const auto& endpoint : broker.endpoints()) log(broker_log_level::info, "serves " + endpoint);
  const orc::service_manager manager;
  manager.ready();
  wait_for_signal(stop, broker, manager);
  manager.stopping();
  broker.stop();
  log(broker_log_level::info, "ended by a signal");
  return orc::exit_code::ended_by_signal;
}

}  // namespace

int main(int argc, char** argv) {
  const auto config = orc::read_config(argc, argv);
  if (const auto* code = std::get_if<int>(&config)) return *code;
  try {
    return serve(std::get<orc::broker_config>(config));
  } catch (const std::system_error& error) {
    write_line(std::string("orc-broker: error: ") + error.what());
    return orc::exit_code::cannot_serve;
  } catch (const std::bad_alloc&) {
    write_line("orc-broker: error: out of memory");
    return orc::exit_code::cannot_serve;
  }
}
