#include "tools/web/page_protocol/client_message.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/json_io.h"

namespace orc::web {

namespace {

using nlohmann::json;

constexpr std::size_t max_text = 4096;  // of a name or a path
constexpr std::int64_t max_id = std::numeric_limits<std::uint32_t>::max();
constexpr double max_deadline_s = 3600;
constexpr std::uint32_t max_side = 65'535;  // of an image

constexpr std::array<std::pair<std::string_view, client_op>, 19> ops{{{"ping", client_op::ping},
                                                                      {"system", client_op::system},
                                                                      {"open", client_op::open},
                                                                      {"plot", client_op::plot},
                                                                      {"resolution", client_op::resolution},
                                                                      {"image", client_op::image},
                                                                      {"shown", client_op::shown},
                                                                      {"publish", client_op::publish},
                                                                      {"unpublish", client_op::unpublish},
                                                                      {"parameters", client_op::parameters},
                                                                      {"set", client_op::set},
                                                                      {"services", client_op::services},
                                                                      {"call", client_op::call},
                                                                      {"cancel", client_op::cancel},
                                                                      {"close", client_op::close},
                                                                      {"play", client_op::play},
                                                                      {"pause", client_op::pause},
                                                                      {"seek", client_op::seek},
                                                                      {"rate", client_op::rate}}};

constexpr std::array<std::string_view, 8> image_encodings{"rgb8",  "bgr8",   "rgba8", "bgra8",
                                                          "mono8", "mono16", "jpeg",  "png"};

// Reads the fields of one message, and keeps the first problem.
class fields {
 public:
  fields(const json& object, std::string& problem) : object_(object), problem_(problem) {}

  [[nodiscard]] bool good() const { return problem_.empty(); }
  void fail(std::string why) {
    if (good()) problem_ = std::move(why);
  }

  void id(std::int64_t& to) {
    const json* const found = find("id", true);
    if (found == nullptr) return;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > static_cast<std::uint64_t>(max_id))
      return fail("\"id\" is a whole number from 0 to 4294967295");
    to = found->get<std::int64_t>();
  }
  void text(const char* name, bool required, std::string& to) {
    const json* const found = find(name, required);
    if (found == nullptr) return;
    if (!found->is_string() || found->get_ref<const std::string&>().size() > max_text)
      return fail("\"" + std::string(name) + "\" is a text of at most 4096 bytes");
    to = found->get<std::string>();
  }
  void number(const char* name, double& to) {
    const json* const found = find(name, true);
    if (found == nullptr) return;
    if (!found->is_number() || !std::isfinite(found->get<double>()) || found->get<double>() <= 0)
      return fail("\"" + std::string(name) + "\" is a number above 0");
    to = found->get<double>();
  }
  void flag(const char* name, bool required, bool& to) {
    const json* const found = find(name, required);
    if (found == nullptr) return;
    if (!found->is_boolean()) return fail("\"" + std::string(name) + "\" is true or false");
    to = found->get<bool>();
  }
  void side(const char* name, std::uint32_t& to) {
    const json* const found = find(name, false);
    if (found == nullptr) return;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() == 0 || found->get<std::uint64_t>() > max_side)
      return fail("\"" + std::string(name) + "\" is a whole number from 1 to 65535");
    to = found->get<std::uint32_t>();
  }
  void time(const char* name, std::int64_t& to) {
    std::string digits;
    text(name, true, digits);
    if (!good()) return;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, to);
    if (read.ec != std::errc() || read.ptr != end)
      fail("\"" + std::string(name) + "\" is a text of digits: nanoseconds since 1970");
  }
  void any(const char* name, std::string& to) {
    if (const json* const found = find(name, true)) to = detail::write_json(*found);
  }

 private:
  [[nodiscard]] const json* find(const char* name, bool required) {
    if (!good()) return nullptr;
    const auto at = object_.find(name);
    if (at != object_.end()) return &*at;
    if (required) fail("\"" + std::string(name) + "\" is missing");
    return nullptr;
  }

  const json& object_;
  std::string& problem_;
};

void read_image(fields& from, client_message& found) {
  from.text("field", false, found.field);
  from.side("width", found.width);
  from.side("height", found.height);
  from.text("encoding", false, found.encoding);
  if (found.encoding.empty()) return;
  for (const std::string_view each : image_encodings)
    if (found.encoding == each) return;
  from.fail("\"encoding\" is rgb8, bgr8, rgba8, bgra8, mono8, mono16, jpeg or png");
}

void read_fields(fields& from, client_message& found) {
  switch (found.op) {
    case client_op::none:
    case client_op::ping: break;
    case client_op::system:
    case client_op::parameters:
    case client_op::services: from.flag("on", true, found.on); break;
    case client_op::set:
      from.id(found.id);
      from.text("name", true, found.name);
      from.any("value", found.value);
      break;
    case client_op::call:
      from.id(found.id);
      from.text("name", true, found.name);
      from.any("value", found.value);
      from.number("deadline", found.number);
      if (found.number > max_deadline_s) from.fail("\"deadline\" is at most 3600 seconds");
      break;
    case client_op::open:
      from.id(found.id);
      from.text("topic", true, found.topic);
      break;
    case client_op::plot:
      from.id(found.id);
      from.text("topic", true, found.topic);
      from.text("field", true, found.field);
      from.number("per_second", found.number);
      break;
    case client_op::resolution:
      from.id(found.id);
      from.number("per_second", found.number);
      break;
    case client_op::image:
      from.id(found.id);
      from.text("topic", true, found.topic);
      read_image(from, found);
      break;
    case client_op::shown:
    case client_op::cancel:
    case client_op::close: from.id(found.id); break;
    case client_op::publish:
      from.text("topic", true, found.topic);
      from.text("like", false, found.like);
      from.flag("keep", false, found.keep);
      from.any("value", found.value);
      break;
    case client_op::unpublish: from.text("topic", true, found.topic); break;
    case client_op::play:
    case client_op::pause: break;
    case client_op::seek: from.time("time", found.time_ns); break;
    case client_op::rate: from.number("value", found.number); break;
  }
}

}  // namespace

parse_outcome parse(std::string_view text, client_message& found, std::string& problem) {
  found = {};
  problem.clear();
  json object;
  if (text.size() > max_message_bytes || detail::read_json(text, object) || !object.is_object())
    return parse_outcome::not_json;
  fields from(object, problem);
  from.text("op", true, found.op_name);
  for (const auto& [name, op] : ops)
    if (name == found.op_name) found.op = op;
  if (from.good() && found.op == client_op::none) from.fail("there is no such \"op\"");
  read_fields(from, found);
  return from.good() ? parse_outcome::ok : parse_outcome::bad_field;
}

}  // namespace orc::web
