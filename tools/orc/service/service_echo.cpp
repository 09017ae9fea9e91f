// orc service echo
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/process/stop_signal.h"
#include "orc.h"
#include "orc/calls.h"
#include "tools/command_line/help.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/service/call_printer.h"
#include "tools/orc/service/service.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

// How long Ctrl-C or a reader of the pipe that left may go unnoticed while no call ends.
constexpr int silence_ms = 100;
constexpr std::size_t waiting_calls = 1024;  // calls that wait here

struct service_echo_options {
  common_options common;
  std::string service;
  std::uint64_t count = 0;  // 0: until Ctrl-C
};

class service_echo_command {
 public:
  explicit service_echo_command(const service_echo_options& options)
      : options_(options),
        topic_(call_record_topic(options.service)),
        directory_(broker_directory(options.common.broker, stop_)) {}

  int run() {
    service_description service;
    type_description request;
    type_description reply;
    const result found = find_service(directory_, options_.service, service, request, reply);
    if (!found && service.name.empty()) {
      out_.note(failure_of_service(options_.service, directory_, found));
      return exit_code_of(found);
    }
    topic_state records;
    const result asked = directory_.describe(topic_, records);
    if (!asked && exit_code_of(asked) != exit_code::no_topic) {
      out_.note(text_of(asked));
      return exit_code_of(asked);
    }
    if (const std::string why = why_not(service, records); !why.empty()) {
      out_.note(why);
      return exit_code::failed;
    }
    return listen(call_printer(request, reply));
  }

 private:
  // Another program that publishes records would make up calls.
  [[nodiscard]] std::string why_not(const service_description& service, const topic_state& records) const {
    if (!records.publication) {
      return "service '" + options_.service +
             "' does not record its calls: serve it with service_options::recorded = true, in Python recorded=True";
    }
    if (records.publication->participant.id == service.server.id) return {};
    return "'" + topic_ + "' is published by " + publisher_text(*records.publication) + ", and not by the server, " +
           participant_text(service.server);
  }

  int listen(const call_printer& printer) {
    participant_options own;
    own.broker = options_.common.broker;
    own.name = "orc service echo";
    own.name_space = wire::no_name_space;
    participant reader(own);
    subscriber from = reader.request_topic(topic_, {.conflate = 0, .depth = waiting_calls});
    if (!from.result()) {
      out_.note("cannot listen to '" + topic_ + "': " + from.error().message());
      return exit_code::failed;
    }
    for (std::uint64_t shown = 0; !stop_.raised();) {
      const message sample = from.recv(silence_ms);
      if (!sample) {
        if (sample.status() != errc::timed_out && sample.status() != errc::nothing_new) {
          out_.note(std::string(describe(sample.status())));
          return exit_code::failed;
        }
        if (out_.reader_gone()) return exit_code::ok;
        continue;
      }
      if (sample.missed() != 0) out_.note(counted(sample.missed(), "call") + " did not arrive here");
      call_record record;
      if (const result read = read_call_record(sample.bytes(), record); !read) {
        out_.note(escaped(read.error().message()));
        continue;
      }
      if (!out_.line(options_.common.json ? printer.json(options_.service, record) : printer.line(record)))
        return out_.failed() ? exit_code::failed : exit_code::ok;
      if (++shown == options_.count) return exit_code::ok;
    }
    return options_.count == 0 ? exit_code::ok : exit_code::interrupted;
  }

  const service_echo_options& options_;
  const std::string topic_;
  console out_;
  const detail::stop_signal stop_;
  directory directory_;
};

}  // namespace

void add_service_echo(CLI::App& service, int& exit_code) {
  auto options = std::make_shared<service_echo_options>();
  CLI::App* command = service.add_subcommand(
      "echo",
      "Shows the calls of a service as they end, one line each: who called, how long it took, request and reply. The "
      "service must record its calls: service_options::recorded, in Python recorded=True");
  add_service_argument(*command, options->service);
  command->add_option("-n,--count", options->count, "End after N calls (default: Ctrl-C ends it, exit code 0)")
      ->type_name("N")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  add_common_options(*command, options->common, "One JSON object per line, with all of each record");
  command->callback([options, &exit_code] { exit_code = service_echo_command(*options).run(); });
}

}  // namespace orc::cli
