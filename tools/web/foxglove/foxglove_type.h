// How viewers read the samples of a topic.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "orc/type_description.h"
#include "orc/types/decoder.h"
#include "tools/web/memory_budget.h"
#include "tools/web/ros2/cdr_transcoder.h"

namespace orc::web {

struct foxglove_type {
  std::uint64_t hash = 0;  // hash_of() the topic's type
  // The members of a channel after its topic: ,"encoding":…,"schemaName":…,"schema":…,"schemaEncoding":…
  std::string channel_text = {};
  std::shared_ptr<const types::decoder> decoder = {};     // the transcoder's
  std::shared_ptr<const cdr_transcoder> transcoder = {};  // null: viewers read the samples as they are
  std::shared_ptr<const void> share = {};                 // of the memory for schemas
};

// Null: no viewer can read it, or there is no memory left for its schema; `problem` says why. Throws bad_alloc only.
[[nodiscard]] std::shared_ptr<const foxglove_type> make_foxglove_type(const type_description& type,
                                                                      memory_budget& schemas, std::string& problem);

}  // namespace orc::web
