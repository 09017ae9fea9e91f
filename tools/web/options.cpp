#include "tools/web/options.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "base/files/run_dir.h"
#include "orc/version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/pages.h"
#include "tools/command_line/usage.h"
#include "wire/broker_endpoint.h"

namespace orc::web {

namespace {

constexpr const char* footer =
    "Open the address that it prints in a browser. Foxglove viewers connect to the same address with ws:// instead of "
    "http://. Ctrl-C ends it.\n\n"
    "Exit codes:\n"
    "  0  ended by SIGINT, SIGTERM or SIGHUP\n"
    "  1  error: the port is in use, a recording cannot be read, ...\n"
    "  2  usage";

constexpr std::uint16_t default_port = 8765;

// "ADDRESS:PORT", "ADDRESS" or "PORT"; localhost is an address.
[[nodiscard]] std::optional<detail::ip_port> address_of(std::string text) {
  constexpr std::string_view local = "localhost";
  if (text == local || text.starts_with("localhost:")) text.replace(0, local.size(), "127.0.0.1");
  if (auto both = detail::ip_port::parse(text)) return both;
  if (auto address = detail::ip_address::parse(text)) return detail::ip_port{*address, default_port};
  if (auto port = detail::ip_port::parse("127.0.0.1:" + text)) return port;
  return std::nullopt;
}

// As browsers write it: a scheme and a host, without a path.
[[nodiscard]] bool is_origin(const std::string& text) {
  const auto scheme = text.find("://");
  return scheme != std::string::npos && scheme != 0 && text.find('/', scheme + 3) == std::string::npos &&
         text.find_first_of("* \t") == std::string::npos;
}

[[nodiscard]] std::string problem_of_address(const std::string& text) {
  if (address_of(text)) return {};
  const std::string_view port = std::string_view(text).substr(text.rfind(':') + 1);  // all of it without a colon
  const bool has_address = text.size() == port.size() || address_of(text.substr(0, text.size() - port.size() - 1));
  if (has_address && !port.empty() && port.front() >= '0' && port.front() <= '9' && port.find('.') == port.npos)
    return "'" + std::string(port) + "' is not a port: use a number from 0 to 65535";
  return "'" + text + "' is not an address: use an IP address, not a name, such as 127.0.0.1:8765";
}

// Empty: each endpoint of the broker has the form of one.
[[nodiscard]] std::string problem_of_broker(const std::string& broker) {
  const auto candidates = detail::broker_candidates(broker);
  if (candidates.size() == 1 && candidates.front() == detail::without_broker) return {};
  for (const std::string& each : candidates)
    if (const auto problem = wire::problem_of_broker_endpoint(each)) return problem->text;
  return {};
}

}  // namespace

std::variant<options, int> read_options(int argc, char** argv) {
  options found;
  std::string listen = "127.0.0.1:8765";
  int port = default_port;
  CLI::App app(
      "Shows a running system in the browser: topics, decoded samples, plots and pictures. With FILE it shows a "
      "recording",
      "orc-web");
  cli::use_readable_help(app);
  app.footer(footer);
  app.set_version_flag("--version", std::string("orc-web ") + orc::version());
  app.add_option("file", found.files, "Recordings: MCAP files or LCM logs. Several are shown as one")
      ->type_name("FILE");
  auto* const where = app.add_option("--listen", listen,
                                     "Serve at this IP address and port; one of them is enough. There is no password: "
                                     "every program that reaches the "
                                     "address sees all topics")
                          ->type_name("ADDRESS:PORT")
                          ->check(problem_of_address)
                          ->capture_default_str();
  app.add_option("--port", port, "The same as --listen 127.0.0.1:PORT. 0: any free port")
      ->type_name("PORT")
      ->check(cli::between(0, 65535))
      ->excludes(where);
  auto* const publish = app.add_flag(
      "--allow-publish", found.allow_publish,
      "Let the page and Foxglove viewers publish on topics that have no publisher, set parameters and call "
      "services");
  app.add_option("--allow-origin", found.origins,
                 "Let the Foxglove viewer of this web page connect, such as https://app.foxglove.dev. Repeat it for "
                 "several pages")
      ->type_name("ORIGIN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check([](const std::string& text) {
        return is_origin(text) ? std::string() : "'" + text + "' is no origin such as https://app.foxglove.dev";
      });
  app.add_flag("--all", found.all_topics, "Also topics of ORC itself, which carry calls and set parameters");
  app.add_option("--broker", found.broker,
                 "Endpoints of the address broker (default: ORC_BROKER, else the usual places)")
      ->type_name("ENDPOINT");
  if (const auto done = cli::generate_pages(app, 1, "orc(1)", argc, argv)) return *done;
  try {
    app.parse(argc, argv);
    if (found.files.empty())
      if (const std::string problem = problem_of_broker(found.broker); !problem.empty())
        throw CLI::ValidationError(problem);
    if (found.allow_publish && !found.files.empty()) throw CLI::ExcludesError("file", publish->get_name());
  } catch (const CLI::ParseError& error) {
    return cli::report(app, error);
  }
  found.listen = *address_of(where->count() != 0 ? listen : std::to_string(port));
  return found;
}

}  // namespace orc::web
