// orc-web: shows a running system, or a recording, in the browser.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/doorbell.h"
#include "base/fd_limit.h"
#include "base/printable.h"
#include "base/stop_signal.h"
#include "tools/web/broker_check.h"
#include "tools/web/live_source.h"
#include "tools/web/live_system.h"
#include "tools/web/options.h"
#include "tools/web/page_session.h"
#include "tools/web/publish_desk.h"
#include "tools/web/recording_source.h"
#include "tools/web/web_server.h"

namespace {

using namespace orc;

constexpr int failed = 1;

void note(const std::string& text) { std::fprintf(stderr, "orc-web: %s\n", detail::escaped(text).c_str()); }

int serve(web::web_server& server, const detail::stop_signal& stop, detail::doorbell& news) {
  for (const std::string& each : server.urls()) std::printf("%s\n", each.c_str());
  std::fflush(stdout);
  if (!server.address().address.is_loopback())
    note("there is no password: whoever reaches this address sees all topics");
  server.run(stop.fd(), news);
  return 0;
}

int show_system(const web::options& options, const detail::stop_signal& stop) {
  detail::doorbell news;
  const auto ring = [&news] { news.ring(); };
  (void)news.fd();
  web::live_source feeds(options.broker, ring);
  web::live_system system(options.broker);
  std::optional<web::publish_desk> desk;
  if (options.allow_publish) desk.emplace(options.broker, ring);
  web::page_session_maker page({.feeds = feeds, .system = system, .publish = desk ? &*desk : nullptr});
  auto server = web::web_server::listen(options.listen, {&page});
  if (!server) {
    note(server.error().message());
    return failed;
  }
  const web::broker_check check(options.broker, [](const std::string& why) { note(why + "; the page waits for one"); });
  return serve(**server, stop, news);
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
  web::page_session_maker page({.feeds = *recording, .system = system, .recording = recording.get()});
  auto server = web::web_server::listen(options.listen, {&page});
  if (!server) {
    note(server.error().message());
    return failed;
  }
  return serve(**server, stop, news);
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
