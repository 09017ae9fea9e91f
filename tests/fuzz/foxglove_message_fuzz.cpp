// The messages of Foxglove clients of orc-web: any bytes. The first one says whether they are text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/web/foxglove/foxglove_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using orc::web::foxglove_op;
  using orc::web::foxglove_outcome;
  if (size == 0) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data) + 1, size - 1);
  orc::web::foxglove_message found;
  std::string problem;
  const auto outcome = data[0] == 't' ? orc::web::read_foxglove_text(message, found, problem)
                                      : orc::web::read_foxglove_binary(message, found, problem);
  if ((outcome == foxglove_outcome::ok) != problem.empty()) std::abort();
  if (outcome == foxglove_outcome::ok && found.op == foxglove_op::none) std::abort();
  if (found.subscriptions.size() > orc::web::max_foxglove_subscriptions) std::abort();
  if (found.channels.size() > orc::web::max_foxglove_client_channels) std::abort();
  if (found.ids.size() > orc::web::max_foxglove_subscriptions) std::abort();
  if (found.names.size() > orc::web::max_foxglove_parameters) std::abort();
  if (found.sets.size() > orc::web::max_foxglove_sets) std::abort();
  if (found.data.size() > size) std::abort();
  if (found.op == foxglove_op::playback && outcome == foxglove_outcome::ok &&
      !(found.playback.rate >= 0.01F && found.playback.rate <= 100))
    std::abort();
  for (const auto& each : found.channels)
    if (each.type.schema.size() > size) std::abort();
  return 0;
}
