#include "broker/program/broker_config.h"

#include <grp.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <map>

#include "base/files/run_dir.h"
#include "broker/federation/peer_links.h"
#include "tools/command_line/help.h"
#include "tools/command_line/pages.h"
#include "tools/command_line/usage.h"
#include "wire/beacon.h"

namespace orc {
namespace {

const std::map<std::string, broker_log_level> log_levels{{"error", broker_log_level::error},
                                                         {"warning", broker_log_level::warning},
                                                         {"info", broker_log_level::info},
                                                         {"debug", broker_log_level::debug}};

constexpr const char* footer =
    R"(Without --listen: ipc:// in the run directory ($XDG_RUNTIME_DIR/orc if XDG_RUNTIME_DIR is set, else /run/orc for
root or where it can be written, else /tmp/orc-<uid>) and tcp://127.0.0.1:5570.

Exit codes:
  0  ended by SIGTERM, SIGINT or SIGHUP
  1  cannot serve: an endpoint is taken, a permission is missing, ...
  2  bad command line or configuration file)";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::optional<gid_t> group_of(const std::string& text) {
  if (const group* const known = ::getgrnam(text.c_str())) return known->gr_gid;
  gid_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string log_level_name(broker_log_level level) {
  for (const auto& [name, value] : log_levels) {
    if (value == level) return name;
  }
  return "info";
}

void print(const char* name, const std::vector<std::string>& values, std::ostream& out) {
  out << name << " = [";
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ", ") << quoted(values[i]);
  out << "]\n";
}

// In the format of --config.
void print(const broker_config& config, std::ostream& out) {
  print("listen", config.listen, out);
  if (!config.group.empty()) out << "group = " << quoted(config.group) << '\n';
  out << "log-level = " << quoted(log_level_name(config.log_level)) << "\nmax-topics = " << config.limits.topics
      << "\nmax-participants = " << config.limits.participants
      << "\nmax-subscriptions = " << config.limits.subscriptions
      << "\nmax-schema-bytes = " << config.limits.schema_bytes << '\n';
  if (!config.allow_endpoints.empty()) print("allow-endpoints", config.allow_endpoints, out);
  if (!config.peers.empty()) print("peer", config.peers, out);
  out << "discover = " << (config.discover ? "true" : "false") << "\ndomain = " << quoted(config.domain) << '\n';
  out << "peer-lease = " << config.peer_lease_s << '\n';
  if (!config.host_name.empty()) out << "host-name = " << quoted(config.host_name) << '\n';
}

}  // namespace

std::variant<broker_config, int> read_config(int argc, char** argv) {
  broker_config config;
  std::string log_level = log_level_name(config.log_level);
  bool print_only = false;
  CLI::App app("Address broker of ORC. Tells participants where each topic is published. No sample passes through it.",
               "orc-broker");
  cli::use_readable_help(app);
  app.footer(footer);
  app.set_version_flag("--version", std::string("orc-broker ") + ORC_VERSION);
  app.add_option("--listen", config.listen,
                 "Listen at ipc://PATH, tcp://ADDRESS:PORT or tcp://[ADDRESS]:PORT. tcp://*:PORT is every address of "
                 "this host, IPv4 and IPv6. May be given several times")
      ->type_name("ENDPOINT")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--group", config.group,
                 "Open the directory of ipc://PATH to this group, whose members may then use the broker")
      ->type_name("NAME")
      ->check([&config](const std::string& text) {
        config.group_id = group_of(text);
        return config.group_id ? std::string() : "there is no group " + text;
      });
  app.set_config("--config", "", "Read these options from a TOML file; the command line overrides it")
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  cli::one_of(app.add_option("--log-level", log_level, "Write messages of this level and above to stderr"),
              {"error", "warning", "info", "debug"})
      ->capture_default_str();
  const auto positive = cli::between(std::size_t{1}, std::size_t{1} << 40).description("");
  app.add_option("--max-topics", config.limits.topics,
                 "Refuse more topics. One user or address may have half of what the others leave")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--max-participants", config.limits.participants,
                 "Refuse more participants. One user or address may have half of what the others leave")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--max-subscriptions", config.limits.subscriptions,
                 "Refuse more subscriptions. One user or address may have half of what the others leave")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--max-schema-bytes", config.limits.schema_bytes,
                 "Refuse more bytes of types, schemas (each once) and endpoints. One user or address may have half of "
                 "what the others leave")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--allow-endpoints", config.allow_endpoints,
                 "Let participants offer topics at these addresses beside their own, for NAT and ORC_ADVERTISE")
      ->type_name("CIDR")
      ->delimiter(',')
      ->check([](const std::string& text) {
        return address_range::parse(text) ? std::string() : text + " is no range of addresses such as 192.0.2.0/24";
      });
  app.add_option("--peer", config.peers,
                 "Know the topics of the broker of another host, at tcp://HOST:PORT. It has this host as --peer too. "
                 "May be given several times")
      ->type_name("ENDPOINT")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check([](const std::string& text) {
        const auto good = peer_links::check(text);
        return good ? std::string() : good.error().message();
      });
  app.add_flag("--discover", config.discover,
               "Find brokers of other hosts by multicast on the local network, and let them find this one. Trusts all "
               "programs on that network as if each was a --peer");
  app.add_option("--domain", config.domain, "Discover only brokers with the same name of a domain")
      ->type_name("NAME")
      ->check([](const std::string& text) {
        return wire::is_domain(text)
                   ? std::string()
                   : "a domain has 1 to " + std::to_string(wire::max_domain) + " letters, digits, '-', '_' and '.'";
      })
      ->capture_default_str();
  app.add_option("--peer-lease", config.peer_lease_s, "Keep the topics of a silent peer this many seconds")
      ->check(cli::between(std::size_t{1}, std::size_t{86'400}).description(""))
      ->capture_default_str();
  app.add_option("--host-name", config.host_name, "Name of this host for people on others. Default: its hostname")
      ->type_name("NAME");
  app.add_flag("--print-config", print_only, "Print the configuration in effect and end")->configurable(false);
  if (const auto done = cli::generate_pages(app, 8, "orc(1)", argc, argv)) return *done;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::report(app, error);
  }
  config.log_level = log_levels.at(log_level);
  if (config.listen.empty()) config.listen = {detail::default_broker_endpoint(), detail::default_tcp_endpoint};
  if (config.peers.size() > wire::max_peers) {
    std::cerr << "orc-broker: more than " << wire::max_peers << " peers\n";
    return cli::wrong_usage;
  }
  for (const auto& text : config.allow_endpoints) config.allowed_endpoints.push_back(*address_range::parse(text));
  if (!print_only) return config;
  print(config, std::cout);
  return 0;
}

}  // namespace orc
