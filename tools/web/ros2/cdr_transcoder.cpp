#include "tools/web/ros2/cdr_transcoder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

#include "base/text/printable.h"
#include "orc/schema.h"
#include "orc/types/visitor.h"
#include "tools/web/ros2/cdr_output.h"

namespace orc::web {

// Writes what a walk visits. A walk visits all fields of a structure, in the order of the schema: so the plan's fields
// are those of the visits.
class cdr_transcoder::transcription final : public types::visitor {
 public:
  transcription(const std::vector<structure_plan>& plans, cdr_output& to) : plans_(plans), to_(to) {}

  void begin_structure() override {
    const structure_plan& next = plans_[depth_ == 0 ? 0 : here().field->structure];
    count_element();
    assert(depth_ < levels_.size());
    levels_[depth_++] = {&next, next.data(), nullptr, 0, 0, 0};
  }
  types::step field(const types::field_info& /*info*/) override {
    if (to_.full()) return types::step::stop;
    level& in = here();
    assert(in.next != in.plan->data() + in.plan->size());
    in.field = in.next++;
    return types::step::enter;
  }
  void end_structure() override {
    if (here().plan->empty()) to_.number(std::uint8_t{0});  // the field that ROS 2 gives it
    --depth_;
  }

  types::step begin_array(std::size_t /*count*/) override {
    if (to_.full()) return types::step::stop;
    level& in = here();
    if (in.dimensions++ == 0) {
      in.elements = 0;
      if (in.field->sequence) in.count_place = to_.begin_count();
    }
    return types::step::enter;
  }
  void end_array() override {
    level& in = here();
    if (--in.dimensions == 0 && in.field->sequence) to_.set_count(in.count_place, in.elements);
  }
  types::step numbers(const types::number_array& all) override {
    if (to_.full()) return types::step::stop;
    if (here().field->sequence) to_.number(static_cast<std::uint32_t>(all.size()));
    to_.numbers(all);
    return types::step::enter;
  }

  void boolean(bool value) override { to_.number(static_cast<std::uint8_t>(value)); }
  void signed_integer(std::int64_t value) override { integer(static_cast<std::uint64_t>(value)); }
  void unsigned_integer(std::uint64_t value) override { integer(value); }
  void float32(float value) override { to_.number(value); }
  void float64(double value) override { to_.number(value); }
  void text(std::string_view value) override {
    count_element();
    to_.text(value);
  }

 private:
  struct level {
    const structure_plan* plan;
    const field_plan* next;   // to be visited
    const field_plan* field;  // being visited
    std::size_t count_place;  // of its sequence
    std::size_t dimensions;   // of its arrays that have begun
    std::uint32_t elements;   // of them; the limit of a walk is far below 2^32
  };

  [[nodiscard]] level& here() noexcept { return levels_[depth_ - 1]; }
  void count_element() noexcept {
    if (depth_ != 0 && here().dimensions != 0) ++here().elements;
  }
  void integer(std::uint64_t value) {
    switch (types::size_of(here().field->kind)) {
      case 1: return to_.number(static_cast<std::uint8_t>(value));
      case 2: return to_.number(static_cast<std::uint16_t>(value));
      case 4: return to_.number(static_cast<std::uint32_t>(value));
      default: return to_.number(value);
    }
  }

  const std::vector<structure_plan>& plans_;
  cdr_output& to_;
  std::array<level, types::max_depth> levels_;  // set up to depth_
  std::size_t depth_ = 0;
};

std::unique_ptr<const cdr_transcoder> cdr_transcoder::make(const types::decoder& type, std::string_view type_name,
                                                           std::string& problem) {
  const std::string& encoding = type.type().message_encoding;
  if (encoding != "struct" && encoding != "lcm") {
    problem = "samples of encoding `" + detail::escaped(encoding) + "` are not converted to CDR";
    return nullptr;
  }
  orc::schema read;
  if (const result parsed = parse_schema(type.type(), read); !parsed) {
    problem = parsed.error().message();
    return nullptr;
  }
  std::unique_ptr<cdr_transcoder> made(new cdr_transcoder(type));
  if (!write_ros2msg(read, type_name, made->definition_, problem)) return nullptr;
  made->plan(read);
  return made;
}

void cdr_transcoder::plan(const orc::schema& from) {
  structures_.reserve(from.structures.size());
  for (const auto& structure : from.structures) {
    structure_plan& made = structures_.emplace_back();
    made.reserve(structure.fields.size());
    for (const auto& field : structure.fields) {
      const bool sequence = std::any_of(field.dimensions.begin(), field.dimensions.end(),
                                        [](const dimension& each) { return each.variable; });
      made.push_back({field.kind, sequence, field.structure});
    }
  }
}

result cdr_transcoder::transcode(std::span<const std::byte> sample, std::vector<std::byte>& to) const {
  const std::size_t most = most_bytes(sample.size());
  cdr_output output(to, most);
  transcription visitor(structures_, output);
  if (result walked = type_.walk(sample, visitor); !walked) return walked;
  if (!output.full()) return {};
  return {errc::bad_argument, "the sample would have more than " + std::to_string(most) + " bytes in CDR"};
}

}  // namespace orc::web
