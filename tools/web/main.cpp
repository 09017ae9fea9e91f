// orc-web: shows a running system, or a recording, in the browser.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/files/fd_limit.h"
#include "base/process/stop_signal.h"
#include "base/text/printable.h"
#include "base/threads/doorbell.h"
#include "tools/web/foxglove/foxglove_graph.h"
#include "tools/web/foxglove/foxglove_session.h"
#include "tools/web/http/web_server.h"
#include "tools/web/live/broker_check.h"
#include "tools/web/live/live_channels.h"
#include "tools/web/live/live_source.h"
#include "tools/web/live/live_system.h"
#include "tools/web/options.h"
#include "tools/web/page_protocol/page_session.h"
#include "tools/web/parameters/live_parameters.h"
#include "tools/web/publish/json_publisher.h"
#include "tools/web/publish/publish_queue.h"
#include "tools/web/recorded/recorded_channels.h"
#include "tools/web/recorded/recording_source.h"
#include "tools/web/services/live_services.h"

namespace {

using namespace orc;

constexpr int failed = 1;

void note(const std::string& text) { std::fprintf(stderr, "orc-web: %s\n", detail::escaped(text).c_str()); }

[[nodiscard]] std::string session_name() { return std::to_string(detail::realtime_ns()); }

int serve(web::web_server& server, const detail::stop_signal& stop, detail::doorbell& news) {
  for (const std::string& each : server.urls()) std::printf("%s\n", each.c_str());
  std::fflush(stdout);
  if (!server.address().address.is_loopback())
    note("there is no password: every program that reaches this address sees all topics");
  server.run(stop.fd(), news);
  return 0;
}

// Serves the page's protocol and Foxglove's.
int serve(const web::options& options, web::page_session_maker& page, const web::foxglove_sources& sources,
          const detail::stop_signal& stop, detail::doorbell& news) {
  web::foxglove_session_maker sdk(sources, web::foxglove_session_maker::sdk);
  web::foxglove_session_maker websocket(sources, web::foxglove_session_maker::websocket);
  auto server = web::web_server::listen(options.listen, {&page, &sdk, &websocket});
  if (!server) {
    note(server.error().message());
    return failed;
  }
  return serve(**server, stop, news);
}

int show_system(const web::options& options, const detail::stop_signal& stop) {
  detail::doorbell news;
  const auto ring = [&news] { news.ring(); };
  (void)news.fd();
  web::live_source feeds(options.broker, ring);
  web::live_system system(options.broker, options.all_topics);
  web::live_channels channels(options.broker, options.all_topics, ring);
  web::connection_graphs graphs(system);
  web::live_parameters parameters(options.broker, options.all_topics, ring);
  web::live_services services(options.broker, options.all_topics, ring);
  std::optional<web::publish_queue> queue;
  std::optional<web::json_publisher> publisher;
  if (options.allow_publish) publisher.emplace(queue.emplace(options.broker, ring), options.broker);
  web::page_session_maker page({.feeds = feeds,
                                .system = system,
                                .publish = publisher ? &*publisher : nullptr,
                                .parameters = &parameters,
                                .services = &services});
  const web::broker_check check(options.broker, [](const std::string& why) { note(why + "; the page waits for one"); });
  return serve(options, page,
               {.feeds = feeds,
                .channels = channels,
                .graphs = &graphs,
                .publish = queue ? &*queue : nullptr,
                .parameters = &parameters,
                .services = options.allow_publish ? &services : nullptr,
                .origins = options.origins,
                .session = session_name(),
                .note = note},
               stop, news);
}

int show_recording(const web::options& options, const detail::stop_signal& stop) {
  detail::doorbell news;
  (void)news.fd();
  std::unique_ptr<web::recording_source> recording;
  if (const result opened = web::recording_source::open(
          options.files, [&news] { news.ring(); }, recording);
      !opened) {
    note(opened.error().message());
    return failed;
  }
  web::recording_system system(*recording);
  web::recorded_channels channels(*recording);
  web::page_session_maker page({.feeds = *recording, .system = system, .recording = recording.get()});
  return serve(options, page,
               {.feeds = *recording,
                .channels = channels,
                .recording = recording.get(),
                .origins = options.origins,
                .session = session_name(),
                .note = note},
               stop, news);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = web::read_options(argc, argv);
  if (const int* const code = std::get_if<int>(&options)) return *code;
  std::signal(SIGPIPE, SIG_IGN);
  detail::raise_fd_limit();
  try {
    const detail::stop_signal stop;
    const auto& chosen = std::get<web::options>(options);
    return chosen.files.empty() ? show_system(chosen, stop) : show_recording(chosen, stop);
  } catch (const std::exception& error) {
    note(error.what());
    return failed;
  }
}
