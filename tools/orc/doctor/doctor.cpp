// orc doctor
#include "tools/orc/doctor/doctor.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/command_line/help.h"
#include "tools/orc/commands.h"
#include "tools/orc/console.h"
#include "tools/orc/doctor/doctor_conversation.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

struct doctor_options {
  std::string broker;
  std::string multicast;
  std::string json;
  bool huge_pages = false;
  bool realtime = false;
  std::string to;
  bool answer = false;
  std::uint16_t port = doctor_port;
};

constexpr const char* doctor_footer =
    "One line for each check: ok; note: works, within limits; FAIL: something will not work. Commands\n"
    "that fix it follow as 'fix:'. Nothing is changed, and no program is disturbed.\n\n"
    "Between two hosts: 'orc doctor --answer' on one of them, 'orc doctor --to HOST' on the other.\n\n"
    "Exit codes: 0 no FAIL, 1 at least one FAIL, 2 usage, 130 Ctrl-C.";

const char* word(severity level) {
  switch (level) {
    case severity::ok: return "ok";
    case severity::note: return "note";
    case severity::fail: break;
  }
  return "FAIL";
}

std::string text_of(const finding& each) {
  std::string text = word(each.level);
  text.resize(6, ' ');
  text += each.name + ": " + escaped(each.found) + "\n";
  for (const std::string& fix : each.fixes) text += "      fix: " + escaped(fix) + "\n";
  return text;
}

std::string json_of(const std::vector<finding>& findings, bool healthy) {
  json_value checks = json_value::array();
  for (const finding& each : findings)
    checks.push_back({{"result", word(each.level)}, {"name", each.name}, {"found", each.found}, {"fixes", each.fixes}});
  return to_text({{"healthy", healthy}, {"checks", std::move(checks)}}) + "\n";
}

// The network that programs use for multicast. Nothing: it is named wrongly, which has been told.
std::optional<multicast_wish> wished_network(const examine& add, const doctor_options& options) {
  wire::multicast_url::setting source{options.multicast, {}};
  if (source.text.empty()) source = wire::multicast_url::from_environment();
  const auto parsed = wire::multicast_url::parse(source.text);
  if (!parsed) {
    add({severity::fail,
         "multicast URL",
         std::string(source.variable) + ": " + parsed.error().message(),
         {"unset " + std::string(source.variable)}});
    return std::nullopt;
  }
  return multicast_wish{*parsed, source.text.find("recv_buf_size=") != std::string::npos};
}

void check_this_host(const examine& add, const doctor_options& options, const detail::stop_signal& stop) {
  check_versions(add);
  const auto broker = check_broker(add, options.broker, stop);
  if (stop.raised()) return;
  check_run_directory(add, broker);
  check_limits(add, options.huge_pages);
  if (const auto wish = wished_network(add, options)) {
    check_receive_buffer(add, *wish);
    check_multicast(add, *wish);
  }
  check_clock(add);
}

// False: it could not be written, which has been told.
bool write_json(console& out, const doctor_options& options, const std::string& document) {
  if (options.json.empty()) return true;
  if (options.json == "-") return out.write(document) || !out.failed();
  if (write_text(options.json, document)) return true;
  out.note("cannot write " + options.json);
  return false;
}

int run(const doctor_options& options) {
  console out;
  const detail::stop_signal stop;
  std::vector<finding> findings;
  const examine add = [&](finding each) {
    const std::string text = text_of(each);
    if (options.json == "-")
      std::fputs(text.c_str(), stderr);
    else
      out.write(text);
    findings.push_back(std::move(each));
  };
  if (options.realtime)
    check_realtime(add);
  else if (options.to.empty())
    check_this_host(add, options, stop);
  else if (const auto wish = wished_network(add, options))
    check_other_host(add, options.to, options.port, wish->url, stop);
  if (stop.raised()) return exit_code::interrupted;

  const bool healthy =
      std::none_of(findings.begin(), findings.end(), [](const finding& f) { return f.level == severity::fail; });
  if (!write_json(out, options, json_of(findings, healthy)) || out.failed()) return exit_code::failed;
  return healthy ? exit_code::ok : exit_code::failed;
}

int answer_others(const doctor_options& options) {
  bool wrong = false;
  const auto wish = wished_network(
      [&](const finding& each) {
        wrong = true;
        console().note(each.found);
      },
      options);
  return wrong ? exit_code::failed : answer_doctors(wish->url, options.port);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<doctor_options>();
  CLI::App* command = app.add_subcommand("doctor", "Check this machine, and print the command that fixes each finding");
  command->footer(doctor_footer);
  command
      ->add_option("--broker", options->broker,
                   "Endpoint of the address broker (default: where programs look for it: ORC_BROKER, ...)")
      ->type_name("ENDPOINT");
  command
      ->add_option("--multicast", options->multicast,
                   "Multicast group to check (default: ORC_MULTICAST, else LCM_DEFAULT_URL, else " +
                       std::string(wire::multicast_url::usual) + ")")
      ->type_name("URL")
      ->check([](const std::string& text) {
        const auto parsed = wire::multicast_url::parse(text);
        return parsed ? std::string() : parsed.error().message();
      });
  command->add_flag("--huge-pages", options->huge_pages,
                    "Check huge pages as well (shared_memory_options::huge_pages)");
  auto* const realtime = command->add_flag(
      "--realtime", options->realtime, "Check instead what a control loop needs: kernel, CPUs, power states, limits");
  command->add_option("--json", options->json, "Write JSON to FILE, - is stdout (the lines then go to stderr)")
      ->type_name("FILE|-");
  auto* const to = command
                       ->add_option("--to", options->to,
                                    "Check the network between this host and HOST, where 'orc doctor --answer' runs")
                       ->type_name("HOST")
                       ->excludes(realtime);
  command->add_flag("--answer", options->answer, "Answer 'orc doctor --to' of other hosts, until Ctrl-C")
      ->excludes(to)
      ->excludes(realtime);
  command->add_option("--port", options->port, "Port of --answer, and of --to")
      ->type_name("PORT")
      ->capture_default_str()
      ->check(between(1, 65535));
  command->callback([options, &exit_code] { exit_code = options->answer ? answer_others(*options) : run(*options); });
}

}  // namespace orc::cli
