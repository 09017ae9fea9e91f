#include "tools/web/options.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "orc/version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/pages.h"
#include "tools/command_line/usage.h"

namespace orc::web {

namespace {

constexpr const char* footer =
    "Open the address that it prints in a browser. Foxglove viewers connect to the same address with ws:// instead of "
    "http://. Ctrl-C ends it.\n\n"
    "Exit codes:\n"
    "  0  ended by SIGINT, SIGTERM or SIGHUP\n"
    "  1  error: the port is in use, a recording cannot be read, ...\n"
    "  2  usage";

// "ADDRESS:PORT", "ADDRESS" or "PORT".
[[nodiscard]] std::optional<detail::ip_port> address_of(const std::string& text) {
  constexpr std::uint16_t default_port = 8765;
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

}  // namespace

std::variant<options, int> read_options(int argc, char** argv) {
  options found;
  std::string listen = "127.0.0.1:8765";
  CLI::App app(
      "Shows a running system in the browser: topics, decoded samples, plots and pictures. With FILE it shows a "
      "recording",
      "orc-web");
  cli::use_readable_help(app);
  app.footer(footer);
  app.set_version_flag("--version", std::string("orc-web ") + orc::version());
  app.add_option("file", found.files, "Recordings: MCAP files or LCM logs. Several are shown as one")
      ->type_name("FILE");
  app.add_option("--listen", listen,
                 "Serve at this address and port. There is no password: whoever reaches the address "
                 "sees all topics")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) {
        return address_of(text) ? std::string() : "'" + text + "' is no address such as 127.0.0.1:8765";
      })
      ->capture_default_str();
  auto* const publish = app.add_flag("--allow-publish", found.allow_publish,
                                     "Let the page and Foxglove viewers publish on topics that have no publisher");
  app.add_option("--allow-origin", found.origins,
                 "Let the Foxglove viewer of this web page connect, such as https://app.foxglove.dev. Repeat it for "
                 "several pages")
      ->type_name("ORIGIN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check([](const std::string& text) {
        return is_origin(text) ? std::string() : "'" + text + "' is no origin such as https://app.foxglove.dev";
      });
  app.add_option("--broker", found.broker,
                 "Endpoints of the address broker (default: ORC_BROKER, else the usual places)")
      ->type_name("ENDPOINT");
  if (const auto done = cli::generate_pages(app, 1, "orc(1)", argc, argv)) return *done;
  try {
    app.parse(argc, argv);
    if (found.allow_publish && !found.files.empty()) throw CLI::ExcludesError("file", publish->get_name());
  } catch (const CLI::ParseError& error) {
    return cli::report(app, error);
  }
  found.listen = *address_of(listen);
  return found;
}

}  // namespace orc::web
