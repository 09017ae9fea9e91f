#include "tools/orc/record/record_options.h"

#include "tools/orc/size_and_duration.h"
#include "tools/orc/text.h"

namespace orc::cli {

detail::expected<split_rule> split_of_text(std::string_view text) {
  split_rule rule;
  const error wrong(errc::bad_argument,
                    "'" + escaped(text) + "' is not a size or duration to split at, such as 1GB, 10min or 2GB,30min");
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (const auto time = duration_of_text(part); time && rule.time.count() == 0) {
      rule.time = *time;
    } else if (const auto size = size_of_text(part); !time && size && rule.bytes == 0) {
      rule.bytes = *size;
    } else {
      return wrong;
    }
    if (comma == std::string_view::npos) return rule;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace orc::cli
