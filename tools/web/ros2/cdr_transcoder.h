// Samples of encoding struct and lcm as ROS 2's CDR, for viewers that read neither.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/result.h"
#include "orc/types/decoder.h"
#include "tools/web/ros2/ros2msg_writer.h"

namespace orc::web {

// Const functions may be called from any threads at once. Only bad_alloc is thrown.
class cdr_transcoder {
 public:
  // The most bytes that a sample of so many bytes makes: 8 times as many and 4 MiB, but less than 4 GiB. Without the
  // bound, arrays whose elements have no bytes could make millions of bytes from a few.
  [[nodiscard]] static constexpr std::size_t most_bytes(std::size_t sample) noexcept {
    return std::min<std::size_t>(8 * sample + (std::size_t{4} << 20), std::numeric_limits<std::uint32_t>::max());
  }

  // Makes what a viewer of ROS 2 needs to read the samples, with a name made of `type_name`. Null: this type has no
  // definition in ROS 2; `problem` says why. The decoder must outlive what is made.
  [[nodiscard]] static std::unique_ptr<const cdr_transcoder> make(const types::decoder& type,
                                                                  std::string_view type_name, std::string& problem);

  // "orc/msg/RobotState"
  [[nodiscard]] const std::string& schema_name() const noexcept { return definition_.name; }
  // Its definition, of encoding ros2msg: see write_ros2msg().
  [[nodiscard]] const std::string& schema() const noexcept { return definition_.text; }

  // Replaces `to` by the sample in CDR, which begins with the header 00 01 00 00. Texts end at the first zero byte of
  // an array of char; bytes that are not UTF-8 become U+FFFD. `to` has a part when it fails.
  // - bad_argument: as decoder::walk(); or there would be more than most_bytes().
  result transcode(std::span<const std::byte> sample, std::vector<std::byte>& to) const;

 private:
  class transcription;
  struct field_plan {
    field_kind kind = field_kind::uint8;
    bool sequence = false;      // a count precedes the elements
    std::size_t structure = 0;  // kind structure: its index
  };
  using structure_plan = std::vector<field_plan>;

  explicit cdr_transcoder(const types::decoder& type) : type_(type) {}
  void plan(const orc::schema& from);

  const types::decoder& type_;
  ros2msg definition_;
  std::vector<structure_plan> structures_;  // as in the schema: the first is the type itself
};

}  // namespace orc::web
