#include "json/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "json/utf8.h"

namespace orc::types::detail {

void json_writer::line(std::size_t depth) {
  if (!options_.pretty) return;
  out_ += '\n';
  out_.append(2 * depth, ' ');
}

bool json_writer::open() {
  if (too_long()) return false;
  if (levels_.empty() || !levels_.back().array) return true;
  level& here = levels_.back();
  const std::size_t index = here.written++;
  if (options_.fold != 0 && index > options_.fold) return false;
  if (index > 0) out_ += ',';
  line(levels_.size());
  if (options_.fold == 0 || index < options_.fold || index + 1 == here.count) return true;
  write_more(here.count - index);
  return false;
}

void json_writer::close() {
  if (levels_.empty() || levels_.back().array || levels_.back().unit.empty()) return;
  out_ += options_.pretty ? ", \"unit\": " : ",\"unit\":";
  write_text(levels_.back().unit);
  out_ += '}';
}

void json_writer::begin_structure() {
  if (hidden_ > 0 || !open()) {
    ++hidden_;
    return;
  }
  out_ += '{';
  levels_.push_back({false});
}

step json_writer::field(const field_info& info) {
  if (too_long()) return step::stop;
  if (hidden_ > 0) return step::skip;
  level& here = levels_.back();
  if (here.written++ > 0) out_ += ',';
  line(levels_.size());
  write_text(info.name);
  out_ += options_.pretty ? ": " : ":";
  here.unit = options_.units ? info.unit : std::string_view();
  here.names = info.names;
  if (!here.unit.empty()) out_ += options_.pretty ? "{\"value\": " : "{\"value\":";
  return step::enter;
}

void json_writer::end_structure() {
  if (hidden_ > 0) {
    --hidden_;
    return;
  }
  const bool empty = levels_.back().written == 0;
  levels_.pop_back();
  if (too_long()) return;
  if (!empty) line(levels_.size());
  out_ += '}';
  close();
}

step json_writer::begin_array(std::size_t count) {
  if (too_long()) return step::stop;
  if (!open()) return step::skip;
  out_ += '[';
  levels_.push_back({true, 0, count, {}, names()});
  return step::enter;
}

void json_writer::end_array() {
  const bool empty = levels_.back().written == 0;
  levels_.pop_back();
  if (too_long()) return;
  if (!empty) line(levels_.size());
  out_ += ']';
  close();
}

step json_writer::numbers(const number_array& all) {
  if (too_long()) return step::stop;
  if (!open()) return step::enter;
  std::size_t index = 0;
  number_dimension(all, 0, index);
  close();
  return too_long() ? step::stop : step::enter;
}

void json_writer::number_dimension(const number_array& all, std::size_t dimension, std::size_t& index) {
  const std::size_t count = all.shape()[dimension];
  const bool last = dimension + 1 == all.shape().size();
  std::size_t stride = 1;
  for (const std::size_t each : all.shape().subspan(dimension + 1)) stride *= each;
  std::size_t shown = count;
  if (options_.fold != 0 && count > options_.fold) shown = options_.fold;
  const std::size_t end = index + count * stride;
  out_ += '[';
  for (std::size_t i = 0; i < shown && !too_long(); ++i) {
    if (i > 0) out_ += options_.pretty ? ", " : ",";
    if (last) {
      number_at(all, index++);
    } else {
      number_dimension(all, dimension + 1, index);
    }
  }
  if (shown < count) {
    out_ += options_.pretty ? ", " : ",";
    write_more(count - shown);
  }
  out_ += ']';
  index = end;
}

void json_writer::number_at(const number_array& all, std::size_t index) {
  switch (all.kind()) {
    case field_kind::boolean: out_ += all.at<bool>(index) ? "true" : "false"; return;
    case field_kind::float32: return write_real(all.at<float>(index));
    case field_kind::float64: return write_real(all.at<double>(index));
    case field_kind::uint64: {
      const auto number = all.at<std::uint64_t>(index);
      if (!names()) return write_number(number);
      break;
    }
    default: break;
  }
  const auto number = all.at<std::int64_t>(index);
  const std::string_view name = names() ? names()->name_of(number) : std::string_view();
  if (!name.empty()) return write_text(name);
  if (all.kind() == field_kind::uint64) return write_number(static_cast<std::uint64_t>(number));
  write_number(number);
}

void json_writer::boolean(bool value) {
  if (!open()) return;
  out_ += value ? "true" : "false";
  close();
}

void json_writer::signed_integer(std::int64_t value) {
  if (!open()) return;
  const std::string_view name = names() ? names()->name_of(value) : std::string_view();
  name.empty() ? write_number(value) : write_text(name);
  close();
}

void json_writer::unsigned_integer(std::uint64_t value) {
  if (!open()) return;
  const std::string_view name = names() ? names()->name_of(static_cast<std::int64_t>(value)) : std::string_view();
  name.empty() ? write_number(value) : write_text(name);
  close();
}

void json_writer::float32(float value) {
  if (!open()) return;
  write_real(value);
  close();
}

void json_writer::float64(double value) {
  if (!open()) return;
  write_real(value);
  close();
}

void json_writer::text(std::string_view value) {
  if (!open()) return;
  write_text(value);
  close();
}

void json_writer::bytes(std::span<const std::byte> value) {
  const std::size_t size = value.size();
  numbers({field_kind::uint8, value, {&size, 1}, false});
}

void json_writer::null() {
  if (!open()) return;
  out_ += "null";
  close();
}

template <class T>
void json_writer::write_number(T number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out_.append(text, end);
}

template <class T>
void json_writer::write_real(T number) {
  if (std::isnan(number)) {
    out_ += "\"nan\"";
  } else if (std::isinf(number)) {
    out_ += number > 0 ? "\"inf\"" : "\"-inf\"";
  } else {
    const std::size_t start = out_.size();
    write_number(number);
    if (out_.find_first_of(".e", start) == std::string::npos) out_ += ".0";  // shows that it is no integer
  }
}

void json_writer::write_text(std::string_view text) {
  if (text.size() > options_.max_bytes) {  // not worth the bytes: the JSON is cut
    out_.append(options_.max_bytes + 1, ' ');
    return;
  }
  out_ += '"';
  append_json_text(text, out_);
  out_ += '"';
}

void json_writer::write_more(std::size_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  out_ += "\"\u2026 " + digits + " more\"";
}

}  // namespace orc::types::detail
