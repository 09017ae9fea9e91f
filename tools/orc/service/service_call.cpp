// orc service call
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "orc.h"
#include "orc/calls.h"
#include "orc/types/json.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/sample/typed_words.h"
#include "tools/orc/service/service.h"
#include "tools/orc/text.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

// Longest time from Ctrl-C to the end of the wait, and between two looks for feedback.
constexpr auto slice = std::chrono::milliseconds(20);

struct call_options {
  common_options common;
  std::string service;
  std::vector<std::string> request;
  double deadline_s = 5;
  bool hex = false;
  bool feedback = false;
};

std::string error_text(const call_error& error) {
  if (error.code == call_errc::exception) return "the handler threw " + error.exception_type + ": " + error.text;
  if (error.code == call_errc::failed && error.number != 0)
    return error.message() + " (" + std::to_string(error.number) + ")";
  return error.message();
}

json_value error_json(const call_error& error) {
  return {{"code", static_cast<int>(error.code)},
          {"number", error.number},
          {"text", error.message()},
          {"exception", error.exception_type}};
}

class call_command {
 public:
  explicit call_command(const call_options& options)
      : options_(options),
        directory_(broker_directory(options.common.broker, stop_)),
        participant_(participant_of(options)) {}

  int run() {
    if (const int outcome = find_types(); outcome != exit_code::ok) return outcome;
    std::vector<std::byte> request;
    if (!encode(request)) return exit_code::usage;
    const auto deadline = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::max(options_.deadline_s, 1e-9)));
    const auto start = std::chrono::steady_clock::now();
    auto call = detail::start_call(participant_, options_.service, request_type_, reply_type_, deadline, request.size(),
                                   [&](std::span<std::byte> to) {
                                     std::ranges::copy(request, to.begin());
                                     return true;
                                   });
    bool ended = false;
    while (!ended) {
      ended = call.wait(std::chrono::steady_clock::now() + slice);
      if (options_.feedback) show_feedback(call);
      if (!ended && stop_.raised()) {
        call.cancel();
        return exit_code::interrupted;
      }
    }
    const auto took = std::chrono::steady_clock::now() - start;
    const auto [error, reply] = call.take();
    return report(error, reply.bytes(), took);
  }

 private:
  static participant_options participant_of(const call_options& options) {
    participant_options own;
    own.broker = options.common.broker;
    own.name = "orc service call";
    own.name_space = wire::no_name_space;
    return own;
  }

  int find_types() {
    service_description service;
    if (const auto found = find_service(directory_, options_.service, service, request_type_.type, reply_type_.type);
        !found) {
      out_.note(failure_of_service(options_.service, directory_, found));
      return exit_code_of(found);
    }
    for (auto* const each : {&request_type_, &reply_type_}) each->hash = hash_of(each->type);
    if (options_.hex) return exit_code::ok;
    for (const auto& [type, decoder] : {std::pair(&request_type_, &encoder_), std::pair(&reply_type_, &decoder_)}) {
      if (type->type.empty()) continue;
      if (const auto made = types::decoder::make(type->type, *decoder); !made) {
        out_.note(escaped(made.error().message()) + "; --hex takes and prints bytes");
        return exit_code::failed;
      }
    }
    return exit_code::ok;
  }

  bool encode(std::vector<std::byte>& request) {
    std::string text = typed_text(options_.request);
    if (encoder_) {
      const auto made = types::from_json(*encoder_, text.empty() ? "{}" : text, request);
      if (!made) out_.note(escaped(made.error().message()));
      return static_cast<bool>(made);
    }
    if (options_.hex) {
      auto bytes = typed_hex(out_, text);
      if (!bytes) return false;
      text = *std::move(bytes);
    }
    const auto bytes = std::as_bytes(std::span(text));
    request.assign(bytes.begin(), bytes.end());
    return true;
  }

  void show_feedback(detail::raw_call& call) {
    const auto feedback = call.take_feedback();
    if (feedback) out_.note("feedback: " + text_of_bytes(feedback->bytes()));
  }

  [[nodiscard]] std::string text_of_bytes(std::span<const std::byte> bytes) const {
    return options_.hex ? hex(as_text(bytes)) : escaped(as_text(bytes));
  }

  int report(const call_error& error, std::span<const std::byte> reply, std::chrono::nanoseconds took) {
    std::string text;
    if (error.code != call_errc::ok) {
      if (options_.common.json)
        out_.line(to_text({{"service", options_.service}, {"error", error_json(error)}}));
      else
        out_.note(escaped(options_.service + ": " + error_text(error)));
      const bool late = error.code == call_errc::deadline_exceeded || error.code == call_errc::no_service;
      return late ? exit_code::timed_out : exit_code::failed;
    }
    if (decoder_) {
      if (const auto made = types::to_json(*decoder_, reply, {.pretty = !options_.common.json}, text); !made) {
        out_.note("the reply is not of its type: " + escaped(made.error().message()));
        return exit_code::failed;
      }
    }
    if (options_.common.json) {
      const json_value value = decoder_ ? json_of_own(text) : json_value(text_of_bytes(reply));
      out_.line(to_text(
          {{"service", options_.service}, {"took_us", static_cast<double>(took.count()) / 1000}, {"reply", value}}));
    } else {
      out_.line(decoder_ ? text : text_of_bytes(reply));
    }
    return out_.failed() ? exit_code::failed : exit_code::ok;
  }

  const call_options& options_;
  console out_;
  const detail::stop_signal stop_;
  directory directory_;
  participant participant_;
  detail::hashed_type request_type_;
  detail::hashed_type reply_type_;
  std::unique_ptr<types::decoder> encoder_;  // of the request; none: bytes
  std::unique_ptr<types::decoder> decoder_;  // of the reply; none: bytes
};

}  // namespace

void add_service_call(CLI::App& service, int& exit_code) {
  auto options = std::make_shared<call_options>();
  CLI::App* command = service.add_subcommand(
      "call",
      "Calls a service, and prints its reply. REQUEST is JSON, whose fields are those of the service's request type; "
      "those that are missing are zero. For a service without types it is the bytes themselves. Ctrl-C cancels the "
      "call. The exit code is 4 when no reply came before the deadline.");
  add_service_argument(*command, options->service);
  command->add_option("request", options->request, "The request (words joined by a space)")->type_name("");
  add_duration(*command, "--deadline", options->deadline_s, "When the call ends without a reply (default 5s)");
  command->add_flag("--hex", options->hex, "The request and the reply are hexadecimal digits, two for each byte");
  command->add_flag("--feedback", options->feedback, "Print feedback to stderr as it comes");
  add_common_options(*command, options->common, "One JSON object with the reply, or with the error");
  command->callback([options, &exit_code] { exit_code = call_command(*options).run(); });
}

}  // namespace orc::cli
