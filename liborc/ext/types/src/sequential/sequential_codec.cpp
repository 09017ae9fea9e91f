// LCM messages, and ROS 2 messages in CDR.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sequential/schema_types.h"
#include "sequential/sequential_reader.h"
#include "sequential/sequential_writer.h"

namespace orc::types::detail {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(number));
  return text;
}

class sequential_codec final : public codec {
 public:
  result make(const type_description& type) {
    cdr_ = type.message_encoding == "cdr";
    if (result made = types_.make(type); !made) return made;
    if (cdr_) return {};
    const auto fingerprint = lcm_fingerprint(type);
    if (!fingerprint) return {errc::bad_argument, "the LCM type has no fingerprint"};
    fingerprint_ = *fingerprint;
    return {};
  }

  [[nodiscard]] std::string_view encoding() const noexcept override { return cdr_ ? "cdr" : "lcm"; }
  bool walk(byte_span sample, path_parts path, walk_state& state) const override {
    sequential_format format{encoding(), true, alignment(), cdr_};
    if (!(cdr_ ? check_encapsulation(sample, format, state) : check_fingerprint(sample, state))) return false;
    sequential_reader reader(types_, format, sample, cdr_ ? cdr_header : lcm_header, state);
    if (!reader.walk(path)) return false;
    // Writers of CDR pad the end to 4 or 8 bytes.
    const std::size_t allowed = cdr_ ? 7 : 0;
    if (!path.empty() || sample.size() - reader.at() <= allowed) return true;
    return state.fail(reader.at(),
                      "ends here, but there are " + std::to_string(sample.size() - reader.at()) + " more bytes");
  }
  result bind(std::vector<field_path::part>& parts, field_info& info) const override {
    return types_.bind(parts, info);
  }
  bool encode(const nlohmann::json& from, encode_state& state) const override {
    const sequential_format format{encoding(), !cdr_, alignment(), cdr_};
    const std::size_t header = cdr_ ? cdr_header : lcm_header;
    std::size_t at = 0;
    if (!state.grow(header, at)) return false;
    if (cdr_) {
      state.bytes[1] = std::byte{1};  // little-endian
    } else {
      store_ordered(fingerprint_, true, state.bytes.data());
    }
    return sequential_writer(types_, format, header, state).structure(types_.root(), from);
  }

 private:
  bool check_fingerprint(byte_span sample, walk_state& state) const {
    if (sample.size() < lcm_header) return state.fail(sample.size(), "is too short for a fingerprint");
    const auto found = load_ordered<std::uint64_t>(sample.data(), true);
    if (found == fingerprint_) return true;
    return state.fail(0, "has the fingerprint " + hexadecimal(found) + ", the type has " + hexadecimal(fingerprint_));
  }
  static bool check_encapsulation(byte_span sample, sequential_format& format, walk_state& state) {
    if (sample.size() < cdr_header) return state.fail(sample.size(), "is too short for an encapsulation header");
    const auto kind = std::to_integer<unsigned>(sample[0]) << 8U | std::to_integer<unsigned>(sample[1]);
    format.big_endian = kind % 2 == 0;
    if (kind <= 1) return true;
    // XCDR2 of final types: 6 and 7 of RTPS, 0x10 and 0x11 of XTypes 1.1.
    if ((kind | 1U) != 7 && (kind | 1U) != 0x11) return state.fail(0, "has another encapsulation than plain CDR");
    format.alignment = 4;
    format.sized_arrays = true;
    return true;
  }
  [[nodiscard]] std::size_t alignment() const noexcept { return cdr_ ? 8 : 1; }

  bool cdr_ = false;
  schema_types types_ = {};
  std::uint64_t fingerprint_ = 0;
};

}  // namespace

result make_sequential_codec(const type_description& type, std::unique_ptr<codec>& made) {
  auto codec = std::make_unique<sequential_codec>();
  if (result done = codec->make(type); !done) return done;
  made = std::move(codec);
  return {};
}

}  // namespace orc::types::detail
