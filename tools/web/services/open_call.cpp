#include "tools/web/services/open_call.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "orc/types/json.h"

namespace orc::web {

namespace {

constexpr std::size_t max_request_bytes = std::size_t{4} << 20;
constexpr std::size_t max_feedback_bytes = std::size_t{64} << 10;

[[nodiscard]] std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Empty: `made` turns JSON into samples of this type and back, or is null: they are JSON, or untyped.
[[nodiscard]] std::string make_decoder(const type_description& type, std::unique_ptr<types::decoder>& made) {
  if (type.empty() || type.message_encoding == json_encoding) return {};
  const result done = types::decoder::make(type, made);
  return done ? "" : done.error().message();
}

[[nodiscard]] std::string problem_of(const call_error& error) {
  if (error.code == call_errc::exception) return "the handler threw " + error.exception_type + ": " + error.text;
  if (error.code == call_errc::failed && error.number != 0)
    return error.message() + " (" + std::to_string(error.number) + ")";
  return error.message();
}

}  // namespace

std::optional<open_call> open_call::start(participant& by, const call_order& order, std::string& problem) {
  const detail::hashed_type& request = order.service->request;
  const detail::hashed_type& reply = order.service->reply;
  open_call made;
  made.service_ = order.service;
  made.encoding_ = order.encoding;
  std::vector<std::byte> converted;
  std::span<const std::byte> bytes = std::as_bytes(std::span(order.request));
  if (order.encoding == json_encoding) {
    std::unique_ptr<types::decoder> encoder;
    problem = make_decoder(request.type, encoder);
    if (problem.empty()) problem = make_decoder(reply.type, made.reply_);
    if (problem.empty() && encoder) {
      if (const result done = types::from_json(*encoder, order.request, converted, max_request_bytes); !done)
        problem = done.error().message();
      bytes = converted;
    }
    if (!problem.empty()) return std::nullopt;
  } else if (order.encoding != request.type.message_encoding || order.encoding != reply.type.message_encoding) {
    problem = "the encoding of this service's messages is json or " + request.type.message_encoding;
    return std::nullopt;
  }
  made.call_ = detail::start_call(by, order.service->about.name, request, reply, order.deadline, bytes.size(),
                                  [bytes](std::span<std::byte> to) {
                                    std::ranges::copy(bytes, to.begin());
                                    return true;
                                  });
  return made;
}

std::optional<std::string> open_call::feedback() {
  const auto newest = call_.take_feedback();
  if (!newest) return std::nullopt;
  return text_of(newest->bytes().first(std::min(newest->bytes().size(), max_feedback_bytes)));
}

call_answer open_call::take(std::uint64_t ticket, memory_budget& budget) {
  call_answer answer{.ticket = ticket};
  const auto [error, reply] = call_.take();
  const auto bytes = reply.bytes();
  if (error.code != call_errc::ok) {
    answer.data = problem_of(error);
  } else if (bytes.size() > max_called_reply_bytes) {
    answer.data = "the reply has " + std::to_string(bytes.size()) +
                  " bytes: " + std::to_string(max_called_reply_bytes) + " are the limit";
  } else if (reply_) {
    const result done = types::to_json(*reply_, bytes, {.max_bytes = max_called_reply_bytes}, answer.data);
    if (done)
      answer.what = call_answer::kind::reply;
    else
      answer.data = "the reply cannot be shown: " + done.error().message();
  } else {
    answer.what = call_answer::kind::reply;
    answer.data = text_of(bytes);
  }
  answer.encoding = encoding_;
  answer.share = budget.take(answer.data.size());
  if (!answer.share && answer.what == call_answer::kind::reply) {
    answer.what = call_answer::kind::error;
    answer.data = "the replies to other clients fill the memory for them";
  }
  return answer;
}

}  // namespace orc::web
