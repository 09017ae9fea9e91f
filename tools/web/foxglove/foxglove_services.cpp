#include "tools/web/foxglove/foxglove_services.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "tools/web/json_text.h"
#include "tools/web/session/frame.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto deadline = 10s;  // the protocol has none
constexpr std::size_t service_list_bytes = std::size_t{1} << 20;
constexpr std::uint8_t op_response = 3;

// All messages are offered as JSON, which each viewer can write and read.
void append_message_type(std::string& to, std::string_view member, const type_description& type) {
  to += ",\"";
  to += member;
  to += R"(":{"encoding":"json","schemaName":)";
  append_quoted(to, type.name);
  to += R"(,"schemaEncoding":"jsonschema","schema":)";
  std::string schema = type.schema;
  if (type.schema_encoding != "jsonschema") {
    schema = R"({"type":"object","title":)";
    append_quoted(schema, type.name);
    schema += '}';
  }
  append_quoted(to, schema);
  to += '}';
}

void append_advertised(std::string& to, const shown_service& service) {
  to += R"({"id":)";
  append_number(to, service.id);
  to += R"(,"name":)";
  append_quoted(to, service.about.name);
  to += R"(,"type":)";
  append_quoted(to, service.request.type.name);
  append_message_type(to, "request", service.request.type);
  append_message_type(to, "response", service.reply.type);
  to += '}';
}

[[nodiscard]] bool is_shown(const shown_service& service) {
  return !service.request.type.empty() && !service.reply.type.empty();
}

}  // namespace

std::string call_failure_text(const foxglove_call& call, std::string_view problem) {
  std::string text = R"({"op":"serviceCallFailure","serviceId":)";
  append_number(text, call.service);
  text += R"(,"callId":)";
  append_number(text, call.id);
  text += R"(,"message":)";
  append_quoted(text, problem);
  return text + '}';
}

std::string foxglove_services::call(const foxglove_message& message) {
  const auto at = told_.find(message.call.service);
  if (at == told_.end()) return "service " + std::to_string(message.call.service) + " does not exist";
  call_order order{
      .ticket = ++last_ticket_, .service = at->second, .encoding = message.call.encoding, .deadline = deadline};
  order.request.assign(reinterpret_cast<const char*>(message.data.data()), message.data.size());
  std::string problem = services_.call(who_, std::move(order));
  if (problem.empty()) calls_.emplace(last_ticket_, message.call);
  return problem;
}

clock::time_point foxglove_services::refresh(clock::time_point now) {
  for (call_answer& each : services_.answers(who_))
    if (each.what != call_answer::kind::feedback) answers_.push_back(std::move(each));  // the protocol has none
  if (auto newest = services_.newest(); newest != newest_) {
    newest_ = std::move(newest);
    list_due_ = newest_ != nullptr;
  }
  return has_more() ? now : clock::time_point::max();
}

bool foxglove_services::take(frame& to) {
  if (take_answer(to)) return true;
  if (!list_due_) return false;
  if (take_ended(to)) return true;
  return take_added(to);
}

bool foxglove_services::take_answer(frame& to) {
  if (answers_.empty()) return false;
  call_answer answer = std::move(answers_.front());
  answers_.pop_front();
  const foxglove_call call = calls_.extract(answer.ticket).mapped();
  services_.done(who_);
  if (answer.what == call_answer::kind::error) {
    to = {.head = call_failure_text(call, answer.data)};
    return true;
  }
  to = {.text = false};
  append_little(to.head, op_response);
  append_little(to.head, call.service);
  append_little(to.head, call.id);
  append_little(to.head, static_cast<std::uint32_t>(answer.encoding.size()));
  to.head += answer.encoding;
  const auto kept = std::make_shared<const call_answer>(std::move(answer));
  to.rest = std::as_bytes(std::span(kept->data));
  to.owner = kept;
  return true;
}

bool foxglove_services::take_ended(frame& to) {
  std::string ids;
  std::erase_if(told_, [&](const auto& each) {
    const auto at = newest_->find(each.second->about.name);
    if (at != newest_->end() && at->second->id == each.first) return false;
    if (!ids.empty()) ids += ',';
    append_number(ids, each.first);
    return true;
  });
  if (ids.empty()) return false;
  to = {.head = R"({"op":"unadvertiseServices","serviceIds":[)" + ids + "]}"};
  return true;
}

bool foxglove_services::take_added(frame& to) {
  std::string services;
  list_due_ = false;
  for (const auto& [name, each] : *newest_) {
    if (!is_shown(*each) || told_.contains(each->id)) continue;
    if (services.size() > service_list_bytes) {
      list_due_ = true;
      break;
    }
    if (!services.empty()) services += ',';
    append_advertised(services, *each);
    told_.emplace(each->id, each);
  }
  if (services.empty()) return false;
  to = {.head = R"({"op":"advertiseServices","services":[)" + services + "]}"};
  return true;
}

}  // namespace orc::web
