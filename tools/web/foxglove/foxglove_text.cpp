#include "tools/web/foxglove/foxglove_text.h"

#include <algorithm>
#include <limits>

#include "orc/version.h"
#include "tools/web/json_text.h"

namespace orc::web {

namespace {

// The seconds have 32 bits.
void append_time(std::string& to, std::int64_t time_ns) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t time = std::max<std::int64_t>(time_ns, 0);
  to += R"({"sec":)";
  append_number(to, std::min<std::int64_t>(time / second, std::numeric_limits<std::uint32_t>::max()));
  to += R"(,"nsec":)";
  append_number(to, time % second);
  to += '}';
}

}  // namespace

std::string server_info_text(const foxglove_server& server) {
  std::string text = R"({"op":"serverInfo","name":)";
  append_quoted(text, std::string("orc-web ") + orc::version());
  std::string capabilities;
  const auto add = [&capabilities](bool has, std::string_view name) {
    if (!has) return;
    if (!capabilities.empty()) capabilities += ',';
    append_quoted(capabilities, name);
  };
  add(server.publish, "clientPublish");
  add(server.parameters, "parameters");
  add(server.parameters, "parametersSubscribe");
  add(server.services, "services");
  add(server.graph, "connectionGraph");
  add(server.recording != nullptr, "time");
  add(server.playback_control, "rangedPlayback");
  text += R"(,"capabilities":[)" + capabilities + ']';
  if (server.publish) text += R"(,"supportedEncodings":["json","flatbuffer","protobuf","cdr"])";
  text += R"(,"metadata":{"orc":)";
  append_quoted(text, orc::version());
  text += server.recording != nullptr ? R"(,"mode":"recording")" : R"(,"mode":"live")";
  text += R"(},"sessionId":)";
  append_quoted(text, server.session);
  if (server.playback_control) {
    text += R"(,"dataStartTime":)";
    append_time(text, server.recording->start_ns());
    text += R"(,"dataEndTime":)";
    append_time(text, server.recording->end_ns());
  }
  return text + '}';
}

std::string status_text(status_level level, std::string_view message) {
  std::string text = R"({"op":"status","level":)";
  append_number(text, static_cast<int>(level));
  text += R"(,"message":)";
  append_quoted(text, message);
  return text + '}';
}

std::string advertise_text(std::span<const std::shared_ptr<const foxglove_channel>>& channels, std::size_t limit) {
  std::string text = R"({"op":"advertise","channels":[)";
  for (bool first = true; !channels.empty(); first = false) {
    const foxglove_channel& each = *channels.front();
    if (!first && text.size() + each.topic.size() + each.type->channel_text.size() > limit) break;
    if (!first) text += ',';
    text += R"({"id":)";
    append_number(text, each.id);
    text += R"(,"topic":)";
    append_quoted(text, each.topic);
    text += each.type->channel_text;
    text += '}';
    channels = channels.subspan(1);
  }
  return text + "]}";
}

std::string unadvertise_text(const std::vector<std::uint32_t>& ids) {
  std::string text = R"({"op":"unadvertise","channelIds":[)";
  for (const std::uint32_t each : ids) {
    if (each != ids.front()) text += ',';
    append_number(text, each);
  }
  return text + "]}";
}

}  // namespace orc::web
