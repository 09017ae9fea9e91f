#include "tools/web/page_protocol/page_controls.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "tools/web/json_text.h"

namespace orc::web {

namespace {

constexpr std::size_t change_bytes = std::size_t{256} << 10;  // of a frame
constexpr std::array<std::string_view, 5> value_types{"bool", "int", "number", "text",
                                                      "list"};  // as in parameter_value

// {"op":OP,"changed":[…],"gone":[…]}
class change_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return changed_.empty() && gone_.empty(); }
  [[nodiscard]] bool is_full() const noexcept { return changed_.size() + gone_.size() > change_bytes; }
  // For the next element.
  [[nodiscard]] std::string& changed() {
    if (!changed_.empty()) changed_ += ',';
    return changed_;
  }
  void add_gone(std::string_view name) {
    if (!gone_.empty()) gone_ += ',';
    append_quoted(gone_, name);
  }
  [[nodiscard]] std::string text(std::string_view op) const {
    return R"({"op":")" + std::string(op) + R"(","changed":[)" + changed_ + R"(],"gone":[)" + gone_ + "]}";
  }

 private:
  std::string changed_;
  std::string gone_;
};

void append_member(std::string& to, std::string_view name, std::string_view text) {
  to += ",\"";
  to += name;
  to += "\":";
  append_quoted(to, text);
}

void append_program(std::string& to, std::string_view member, const participant_state& program) {
  to += ",\"";
  to += member;
  to += R"(":{"name":)";
  append_quoted(to, program.name);
  append_member(to, "host", program.host);
  to += R"(,"pid":)";
  append_number(to, program.pid);
  to += '}';
}

void append_parameter(std::string& to, const shown_parameter& parameter) {
  const parameter_description& about = parameter.about;
  to += R"({"name":)";
  append_quoted(to, about.name);
  append_program(to, "owner", about.owner);
  to += R"(,"value":)" + (parameter.value ? to_json(*parameter.value) : "null");
  append_member(to, "type", value_types.at(about.initial.index()));
  append_member(to, "allowed", describe(about));
  append_member(to, "unit", about.unit);
  append_member(to, "description", about.description);
  to += about.read_only ? R"(,"read_only":true,"choices":[)" : R"(,"read_only":false,"choices":[)";
  for (const parameter_value& each : about.choices) {
    if (&each != &about.choices.front()) to += ',';
    to += to_json(each);
  }
  to += "]}";
}

void append_service(std::string& to, const shown_service& service) {
  to += R"({"name":)";
  append_quoted(to, service.about.name);
  append_program(to, "server", service.about.server);
  append_member(to, "request", service.request.type.name);
  append_member(to, "request_encoding", service.request.type.message_encoding);
  append_member(to, "reply", service.reply.type.name);
  append_member(to, "reply_encoding", service.reply.type.message_encoding);
  to += R"(,"interfaces":[)";
  for (const std::string& each : service.about.interfaces) {
    if (&each != &service.about.interfaces.front()) to += ',';
    append_quoted(to, each);
  }
  to += "]}";
}

[[nodiscard]] std::string answer_text(std::string_view op, std::uint64_t id) {
  std::string text = R"({"op":")" + std::string(op) + R"(","id":)";
  append_number(text, id);
  return text;
}

}  // namespace

template <class List, class Told>
void told_list<List, Told>::refresh(std::shared_ptr<const List> newest) {
  if (newest == newest_) return;
  newest_ = std::move(newest);
  due_ = newest_ != nullptr;
}

template <class List, class Told>
template <class TellsOf, class Append>
bool told_list<List, Told>::take(frame& to, std::string_view op, TellsOf tells_of, Append append) {
  if (!due_ || !newest_) return false;
  change_list list;
  for (const auto& [name, each] : *newest_) {
    if (list.is_full()) break;
    if (std::exchange(told_[name], tells_of(each)) != tells_of(each)) append(list.changed(), *each);
  }
  std::erase_if(told_, [&](const auto& each) {
    if (list.is_full() || newest_->contains(each.first)) return false;
    list.add_gone(each.first);
    return true;
  });
  due_ = list.is_full();
  if (list.empty() && !greets_) return false;
  greets_ = false;
  to = {.head = list.text(op)};
  return true;
}

std::string page_parameters::set(const client_message& message) {
  if (parameters_.set(who_, {static_cast<std::uint64_t>(message.id), message.name, message.value})) return {};
  return "too many parameters wait to be set: " + std::to_string(live_parameters::max_waiting) + " is the limit";
}

clock::time_point page_parameters::refresh(clock::time_point now) {
  // live_parameters bounds them only until they are taken.
  if (answers_.size() < live_parameters::max_waiting)
    for (parameter_answer& each : parameters_.answers(who_)) answers_.push_back(std::move(each));
  list_.refresh(parameters_.newest());
  return has_more() ? now : clock::time_point::max();
}

bool page_parameters::take(frame& to) {
  return take_answer(to) || list_.take(
                                to, "parameters", [](const auto& each) { return each->change; }, append_parameter);
}

bool page_parameters::take_answer(frame& to) {
  if (answers_.empty()) return false;
  const parameter_answer answer = std::move(answers_.front());
  answers_.pop_front();
  if (!answer.problem.empty())
    to = {.head = error_text("set", static_cast<std::int64_t>(answer.ticket), answer.problem)};
  else
    to = {.head = answer_text("done", answer.ticket) + '}'};
  return true;
}

std::string page_services::call(const client_message& message) {
  const auto id = static_cast<std::uint64_t>(message.id);
  if (open_.contains(id)) return "this id is open already";
  if (!list_.newest()) return "the services are not known yet";
  const auto at = list_.newest()->find(message.name);
  if (at == list_.newest()->end()) return "no program serves this name";
  const auto deadline =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(message.number));
  std::string problem = services_.call(who_, {.ticket = id,
                                              .service = at->second,
                                              .encoding = std::string(json_encoding),
                                              .request = message.value,
                                              .deadline = deadline});
  if (problem.empty()) open_.insert(id);
  return problem;
}

void page_services::cancel(std::int64_t id) {
  if (open_.contains(static_cast<std::uint64_t>(id))) services_.cancel(who_, static_cast<std::uint64_t>(id));
}

clock::time_point page_services::refresh(clock::time_point now) {
  for (call_answer& each : services_.answers(who_)) {
    std::erase_if(answers_, [&](const call_answer& before) {
      return before.ticket == each.ticket && before.what == call_answer::kind::feedback;
    });
    answers_.push_back(std::move(each));
  }
  list_.refresh(services_.newest());
  return has_more() ? now : clock::time_point::max();
}

bool page_services::take(frame& to) {
  return take_answer(to) || list_.take(
                                to, "services", [](const auto& each) { return each; }, append_service);
}

bool page_services::take_answer(frame& to) {
  if (answers_.empty()) return false;
  const call_answer answer = std::move(answers_.front());
  answers_.pop_front();
  if (answer.what != call_answer::kind::feedback) {
    open_.erase(answer.ticket);
    services_.done(who_);
  }
  if (answer.what == call_answer::kind::error) {
    to = {.head = error_text("call", static_cast<std::int64_t>(answer.ticket), answer.data)};
    return true;
  }
  // As a text: the bytes of a program that says they are JSON may be something else.
  std::string text = answer_text(answer.what == call_answer::kind::reply ? "reply" : "feedback", answer.ticket);
  append_member(text, "text", answer.data);
  to = {.head = text + '}'};
  return true;
}

}  // namespace orc::web
