#include "tools/web/page_protocol/page_session.h"

#include <chrono>
#include <utility>

#include "orc/version.h"
#include "tools/web/json_text.h"
#include "tools/web/nanoseconds.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_replies = 1024;  // that wait because the client does not read
constexpr std::size_t max_reply_bytes = std::size_t{64} << 10;
constexpr std::size_t max_echo = 64;  // bytes of an "op" that there is not
constexpr auto time_pause = 100ms;

}  // namespace

class page_session::page_time final : public client_view {
 public:
  explicit page_time(const playback& of) : of_(of) {}

  [[nodiscard]] clock::time_point refresh(clock::time_point now) override {
    if (now < next_) return next_;
    return sent_ != of_.status() ? now : now + time_pause;
  }
  bool take(frame& to) override {
    next_ = clock::now() + time_pause;
    sent_ = of_.status();
    std::string text = R"({"op":"time","now":)";
    append_quoted_number(text, sent_->position_ns);
    text += sent_->playing ? R"(,"playing":true,"rate":)" : R"(,"playing":false,"rate":)";
    append_number(text, sent_->rate);
    text += R"(,"problem":)";
    append_quoted(text, sent_->problem);
    text += '}';
    to = {.head = std::move(text)};
    return true;
  }

 private:
  const playback& of_;
  std::optional<playback_status> sent_;
  clock::time_point next_ = {};
};

page_session::page_session(const shown_sources& from) : from_(from) {
  replies_.add(greeting());
  greeting_bytes_ = replies_.bytes();  // they have room of their own, whatever the names of files
  if (from_.recording != nullptr) time_ = std::make_unique<page_time>(*from_.recording);
  if (from_.publish != nullptr) publishes_as_ = from_.publish->enter();
}

page_session::~page_session() {
  if (publishes_as_) from_.publish->leave(*publishes_as_);
}

std::string page_session::greeting() const {
  const playback* const recording = from_.recording;
  std::string text = R"({"op":"hello","version":)";
  append_quoted(text, orc::version());
  text += recording != nullptr ? R"(,"mode":"recording")" : R"(,"mode":"live")";
  text += from_.publish != nullptr ? R"(,"publish":true)" : R"(,"publish":false)";
  text += R"(,"now":)";
  append_quoted_number(text, recording != nullptr ? recording->status().position_ns : realtime_ns());
  text += R"(,"files":[)";
  if (recording != nullptr) {
    for (const std::string& each : recording->files()) {
      if (&each != &recording->files().front()) text += ',';
      append_quoted(text, each.substr(each.rfind('/') + 1));  // folders tell about the host
    }
  }
  text += R"(],"start":)";
  append_quoted_number(text, recording != nullptr ? recording->start_ns() : 0);
  text += R"(,"end":)";
  append_quoted_number(text, recording != nullptr ? recording->end_ns() : 0);
  text += '}';
  return text;
}

bool page_session::receive(std::string_view message, bool text, std::string& why) {
  client_message read;
  std::string problem;
  const parse_outcome outcome = text ? parse(message, read, problem) : parse_outcome::not_json;
  if (outcome == parse_outcome::not_json) {
    why = text ? "not a JSON object" : "messages are text";
    return false;
  }
  if (outcome == parse_outcome::bad_field)
    fail(read, problem);
  else
    obey(read);
  if (replies_.size() <= max_replies && replies_.bytes() <= greeting_bytes_ + max_reply_bytes) return true;
  why = "the answers are not read";
  return false;
}

void page_session::obey(const client_message& message) {
  switch (message.op) {
    case client_op::none: return;
    case client_op::ping: return replies_.add(R"({"op":"pong"})");
    case client_op::system: return set_system(message.on);
    case client_op::open:
    case client_op::plot:
    case client_op::image: return open(message);
    case client_op::resolution: return set_resolution(message);
    case client_op::shown:
      if (auto* const image = find<page_image>(message)) image->shown();
      return;
    case client_op::publish: return publish(message);
    case client_op::unpublish:
      if (publishes_as_) from_.publish->end(*publishes_as_, message.topic);
      return;
    case client_op::parameters: return show_parameters(message);
    case client_op::services: return show_services(message);
    case client_op::set: return set_parameter(message);
    case client_op::call: return call_service(message);
    case client_op::cancel:
      if (services_) services_->cancel(message.id);
      return;
    case client_op::close: return close(message.id);
    case client_op::play:
    case client_op::pause:
    case client_op::seek:
    case client_op::rate: return control(message);
  }
}

void page_session::set_system(bool on) {
  if (on == (system_ != nullptr)) return;
  if (on) {
    system_ = std::make_unique<page_system>(from_.system);
  } else {
    outbox_.forget(*system_);
    system_.reset();
  }
}

void page_session::show_parameters(const client_message& message) {
  if (from_.parameters == nullptr) return fail(message, "a recording has no parameters");
  if (message.on == (parameters_ != nullptr)) return;
  if (message.on) {
    parameters_ = std::make_unique<page_parameters>(*from_.parameters);
  } else {
    outbox_.forget(*parameters_);
    parameters_.reset();
  }
}

void page_session::show_services(const client_message& message) {
  if (from_.services == nullptr) return fail(message, "a recording has no services");
  if (message.on == (services_ != nullptr)) return;
  if (message.on) {
    services_ = std::make_unique<page_services>(*from_.services);
  } else {
    outbox_.forget(*services_);
    services_.reset();
  }
}

void page_session::set_parameter(const client_message& message) {
  if (!publishes_as_) return fail(message, "setting parameters is off: start orc-web with --allow-publish");
  if (!parameters_) return fail(message, "first switch \"parameters\" on");
  if (const std::string problem = parameters_->set(message); !problem.empty()) fail(message, problem);
}

void page_session::call_service(const client_message& message) {
  if (!publishes_as_) return fail(message, "calling is off: start orc-web with --allow-publish");
  if (!services_) return fail(message, "first switch \"services\" on");
  if (const std::string problem = services_->call(message); !problem.empty()) fail(message, problem);
}

void page_session::open(const client_message& message) {
  if (views_.contains(message.id)) return fail(message, "this id is open already");
  if (views_.size() == max_views) return fail(message, "too many are open: 256 is the limit");
  if (message.topic.empty()) return fail(message, "\"topic\" is empty");
  const auto id = static_cast<std::uint32_t>(message.id);
  std::unique_ptr<client_view> made;
  if (message.op == client_op::open)
    made = std::make_unique<page_sample>(id, from_.feeds, message.topic);
  else if (message.op == client_op::plot)
    made = std::make_unique<page_plot>(id, from_.feeds, message.topic, message.field, message.number, frame_bytes_);
  else
    made = std::make_unique<page_image>(id, from_.feeds, message.topic,
                                        image_layout{message.field, message.encoding, message.width, message.height},
                                        from_.pictures);
  views_.emplace(message.id, std::move(made));
}

template <class View>
View* page_session::find(const client_message& message) {
  const auto at = views_.find(message.id);
  auto* const found = at == views_.end() ? nullptr : dynamic_cast<View*>(at->second.get());
  if (found == nullptr) fail(message, "this id is not open, or is something else");
  return found;
}

void page_session::set_resolution(const client_message& message) {
  if (auto* const plot = find<page_plot>(message)) plot->set_resolution(message.number);
}

// Closing twice is no error: the client may not know yet what the server knows.
void page_session::close(std::int64_t id) {
  const auto at = views_.find(id);
  if (at == views_.end()) return;
  outbox_.forget(*at->second);
  views_.erase(at);
}

void page_session::publish(const client_message& message) {
  if (!publishes_as_) return fail(message, "publishing is off: start orc-web with --allow-publish");
  if (!from_.publish->submit(*publishes_as_, {message.topic, message.like, message.value, message.keep}))
    fail(message, "samples come faster than they can be published");
}

void page_session::control(const client_message& message) {
  if (from_.recording == nullptr) return fail(message, "this is a running system, not a recording");
  playback& recording = *from_.recording;
  switch (message.op) {
    case client_op::play: return recording.play();
    case client_op::pause: return recording.pause();
    case client_op::seek: return recording.seek(message.time_ns);
    case client_op::rate:
      if (message.number < 0.01 || message.number > 100) return fail(message, "\"value\" is from 0.01 to 100");
      return recording.set_rate(message.number);
    default: return;
  }
}

void page_session::fail(const client_message& message, std::string_view why) {
  replies_.add(error_text(std::string_view(message.op_name).substr(0, max_echo), message.id, why));
}

void page_session::answer_published() {
  if (!publishes_as_) return;
  for (const publish_answer& each : from_.publish->answers(*publishes_as_)) {
    if (!each.problem.empty()) {
      replies_.add(error_text("publish", -1, each.problem));
      continue;
    }
    std::string text = R"({"op":"published","topic":)";
    append_quoted(text, each.topic);
    replies_.add(text + '}');
  }
}

clock::time_point page_session::refresh(clock::time_point now) {
  auto earliest = clock::time_point::max();
  answer_published();
  give_turn(outbox_, replies_, now, earliest);
  if (system_) give_turn(outbox_, *system_, now, earliest);
  if (time_) give_turn(outbox_, *time_, now, earliest);
  if (parameters_) give_turn(outbox_, *parameters_, now, earliest);
  if (services_) give_turn(outbox_, *services_, now, earliest);
  for (const auto& [id, view] : views_) give_turn(outbox_, *view, now, earliest);
  return earliest;
}

}  // namespace orc::web
