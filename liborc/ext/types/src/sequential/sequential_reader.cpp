#include "sequential/sequential_reader.h"

#include <limits>

#include "json/utf8.h"
#include "sequential/scalar.h"

namespace orc::types::detail {

bool sequential_reader::need(std::size_t bytes) {
  if (bytes <= left()) return true;
  return state_.fail(at_,
                     "needs " + std::to_string(bytes) + " bytes, the sample has " + std::to_string(left()) + " more");
}

bool sequential_reader::align(std::size_t size) {
  const std::size_t skipped = padding(format_, at_ - start_, size);
  if (!need(skipped)) return false;
  at_ += skipped;
  return true;
}

bool sequential_reader::read_count(std::size_t& count) {
  if (!align(4) || !need(4)) return false;
  count = load_ordered<std::uint32_t>(sample_.data() + at_, format_.big_endian);
  at_ += 4;
  return true;
}

bool sequential_reader::walk(path_parts path) {
  const typed_structure* in = &types_.root();
  while (!path.empty()) {
    const auto& part = path.front();
    const typed_field& wanted = in->fields[part.field];
    lengths known(in->length_slots);
    if (!fields_before(*in, part.field, known)) return false;
    state_.here.push(wanted.info.name);
    path = path.subspan(1);
    if (path.empty()) return field(wanted, known, true);
    std::vector<std::size_t> shape;
    path_parts rest = path;
    std::size_t end = 0;
    if (!array_end(wanted, end) || !dimensions(wanted, known, shape)) return false;
    if (!descend(wanted, shape, path, rest)) return false;
    if (rest.data() != path.data()) {
      const shape_span inner = shape_span(shape).subspan(static_cast<std::size_t>(rest.data() - path.data()));
      if (rest.empty()) return inner.empty() ? element(wanted, true, nullptr) : array(wanted, inner, true);
    }
    in = &types_.at(wanted.declared->structure);
    path = rest;
  }
  return structure(*in, true);
}

// Skips the elements before the one that the path has indices for.
bool sequential_reader::descend(const typed_field& of, const std::vector<std::size_t>& shape, path_parts path,
                                path_parts& rest) {
  rest = path;
  for (std::size_t i = 0; !rest.empty() && rest.front().element; ++i, rest = rest.subspan(1)) {
    const std::size_t index = rest.front().index;
    state_.here.push(index);
    if (index >= shape[i]) return state_.fail(at_, "is beyond the end of an array of " + std::to_string(shape[i]));
    const shape_span inner = shape_span(shape).subspan(i + 1);
    if (index == 0) continue;
    std::vector<std::size_t> skipped{index};
    skipped.insert(skipped.end(), inner.begin(), inner.end());
    if (!array(of, skipped, false)) return false;
  }
  return true;
}

bool sequential_reader::fields_before(const typed_structure& of, std::size_t end, lengths& known) {
  for (std::size_t i = 0; i < end; ++i) {
    state_.here.push(of.fields[i].info.name);
    if (!field(of.fields[i], known, false)) return false;
    state_.here.pop();
  }
  return true;
}

bool sequential_reader::structure(const typed_structure& of, bool visit) {
  if (!state_.spend(1, at_) || !state_.enter(at_)) return false;
  if (visit) state_.to.begin_structure();
  lengths known(of.length_slots);
  for (const auto& each : of.fields) {
    bool wanted = visit;
    if (visit) {
      const step answer = state_.to.field(each.info);
      if (answer == step::stop) return false;
      wanted = answer == step::enter;
    }
    state_.here.push(each.info.name);
    if (!field(each, known, wanted)) return false;
    state_.here.pop();
  }
  if (format_.cdr && of.fields.empty()) {  // ROS 2 gives a message without fields one byte
    if (!need(1)) return false;
    ++at_;
  }
  if (visit) state_.to.end_structure();
  state_.leave();
  return true;
}

bool sequential_reader::dimensions(const typed_field& of, const lengths& known, std::vector<std::size_t>& shape) {
  shape.assign(of.shape.begin(), of.shape.end());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const dimension& declared = of.declared->dimensions[i];
    if (!declared.variable) continue;
    if (of.dimension_slots[i] != typed_field::no_slot) {
      const std::int64_t length = known[of.dimension_slots[i]];
      if (length < 0) return state_.fail(at_, "has the negative length " + std::to_string(length));
      shape[i] = static_cast<std::size_t>(length);
    } else if (!read_count(shape[i])) {
      return false;
    }
    if (declared.size != 0 && shape[i] > declared.size) {
      return state_.fail(
          at_, "has " + std::to_string(shape[i]) + " elements, more than its bound " + std::to_string(declared.size));
    }
  }
  return true;
}

bool sequential_reader::field(const typed_field& of, lengths& known, bool visit) {
  if (!state_.spend(1, at_)) return false;
  if (of.shape.empty()) {
    return element(of, visit, of.length_slot == typed_field::no_slot ? nullptr : &known[of.length_slot]);
  }
  std::vector<std::size_t> shape;
  std::size_t end = 0;
  if (!array_end(of, end) || !dimensions(of, known, shape) || !array(of, shape, visit)) return false;
  return end == 0 || end == at_ || state_.fail(at_, "is an array that ends at byte " + std::to_string(end));
}

// 0: the format does not say it.
bool sequential_reader::array_end(const typed_field& of, std::size_t& end) {
  if (!format_.sized_arrays || of.shape.empty() || of.is_number()) return true;
  std::size_t bytes = 0;
  if (!read_count(bytes) || !need(bytes)) return false;
  end = at_ + bytes;
  return true;
}

bool sequential_reader::array(const typed_field& of, shape_span shape, bool visit) {
  if (of.is_number()) return numbers(of, shape, visit);
  if (of.kind() == field_kind::character && shape.size() == 1) return fixed_characters(shape[0], visit);
  if (!state_.spend(shape[0], at_) || !state_.enter(at_)) return false;
  if (visit) {
    const step answer = state_.to.begin_array(shape[0]);
    if (answer == step::stop) return false;
    visit = answer == step::enter;
  }
  for (std::size_t i = 0; i < shape[0]; ++i) {
    state_.here.push(i);
    const bool done = shape.size() > 1 ? array(of, shape.subspan(1), visit) : element(of, visit, nullptr);
    if (!done) return false;
    state_.here.pop();
  }
  if (visit) state_.to.end_array();
  state_.leave();
  return true;
}

bool sequential_reader::numbers(const typed_field& of, shape_span shape, bool visit) {
  const std::size_t size = of.element_bytes;
  std::size_t count = 1;
  std::size_t outer = 1;  // of the dimensions before one of size 0: as many empty arrays
  bool overflow = false;
  for (const std::size_t each : shape) {
    overflow = overflow || __builtin_mul_overflow(count, each, &count);
    if (count != 0) outer = count;
  }
  if (overflow) return state_.fail(at_, "has more elements than a sample can");
  if (count == 0) {
    if (!state_.spend(outer, at_)) return false;
  } else if (!align(size)) {
    return false;
  }
  if (count > left() / size) {
    return state_.fail(at_, "has " + std::to_string(count) + " elements of " + std::to_string(size) +
                                " bytes, the sample has " + std::to_string(left()) + " more bytes");
  }
  const byte_span bytes = sample_.subspan(at_, count * size);
  if (visit && state_.to.numbers({of.kind(), bytes, shape, format_.swapped()}) == step::stop) return false;
  at_ += bytes.size();
  return true;
}

bool sequential_reader::fixed_characters(std::size_t size, bool visit) {
  if (!need(size)) return false;
  if (visit) state_.to.text(fixed_text(sample_.subspan(at_, size)));
  at_ += size;
  return true;
}

bool sequential_reader::element(const typed_field& of, bool visit, std::int64_t* length) {
  switch (of.kind()) {
    case field_kind::structure: return structure(types_.at(of.declared->structure), visit);
    case field_kind::string: return text(visit);
    case field_kind::wide_string: return wide_text(visit);
    case field_kind::character: return fixed_characters(1, visit);
    default: break;
  }
  if (!align(of.element_bytes) || !need(of.element_bytes)) return false;
  const std::byte* from = sample_.data() + at_;
  if (visit) visit_number(of.kind(), from, format_.swapped(), state_.to);
  if (length) {
    const std::size_t one = 1;
    *length = number_array(of.kind(), {from, of.element_bytes}, {&one, 1}, format_.swapped()).at<std::int64_t>(0);
  }
  at_ += of.element_bytes;
  return true;
}

bool sequential_reader::text(bool visit) {
  std::size_t size = 0;
  if (!read_count(size) || !need(size)) return false;
  const std::string_view all = text_of(sample_.subspan(at_, size));
  if (!format_.cdr && (all.empty() || all.back() != '\0')) {
    return state_.fail(at_, "is a text that does not end with a zero byte");
  }
  if (visit) state_.to.text(all.empty() || all.back() != '\0' ? all : all.substr(0, size - 1));
  at_ += size;
  return true;
}

// A count of characters of UTF-16, then the characters.
bool sequential_reader::wide_text(bool visit) {
  std::size_t size = 0;
  if (!read_count(size) || !need(2 * size)) return false;
  if (visit) {
    std::string made;
    for (std::size_t i = 0; i < size; ++i) {
      const auto unit = [&](std::size_t at) {
        return std::uint32_t{load_ordered<std::uint16_t>(sample_.data() + at_ + 2 * at, format_.big_endian)};
      };
      std::uint32_t character = unit(i);
      if ((character & 0xfc00U) == 0xd800U && i + 1 < size && (unit(i + 1) & 0xfc00U) == 0xdc00U) {
        character = 0x10000U + ((character & 0x3ffU) << 10U) + (unit(++i) & 0x3ffU);
      }
      append_utf8(character, made);
    }
    state_.to.text(made);
  }
  at_ += 2 * size;
  return true;
}

}  // namespace orc::types::detail
