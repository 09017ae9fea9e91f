#include <utility>

#include "tools/web/http/web_server.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/src.hpp>
#include <cerrno>
#include <cstring>

#include "base/network/tcp_listener.h"
#include "tools/web/http/http_connection.h"
#include "tools/web/http/server_context.h"
#include "tools/web/http/websocket_connection.h"

namespace orc::web {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr int backlog = 128;
constexpr auto news_pause = 4ms;      // news that come meanwhile are looked at together
constexpr auto check_pause = 1s;      // of connections
constexpr auto accept_again = 100ms;  // when there was no descriptor

[[nodiscard]] std::string own_host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

[[nodiscard]] std::string listen_problem(const detail::ip_port& at, int number) {
  const std::string what = "cannot listen at " + at.text() + ": ";
  if (number == EADDRINUSE)
    return what + "the port is in use, perhaps by another orc-web. Choose one with --listen ADDRESS:PORT";
  if (number == EADDRNOTAVAIL) return what + "this host does not have that address";
  if (number == EACCES) return what + "ports below 1024 need a permission. Choose another one with --listen";
  return what + std::strerror(number);
}

}  // namespace

class web_server::engine {
 public:
  engine(int listening, const detail::ip_port& at, std::vector<session_maker*> protocols)
      : at_(at),
        acceptor_(context_.io, at.address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6(), listening),
        accept_timer_(context_.io),
        look_timer_(context_.io),
        check_timer_(context_.io) {
    context_.protocols = std::move(protocols);
    context_.host_name = own_host_name();
    context_.look_at = [this](clock::time_point when) { look_at(when); };
  }

  [[nodiscard]] const detail::ip_port& address() const noexcept { return at_; }

  [[nodiscard]] std::vector<std::string> urls() const {
    if (!at_.address.is_any()) return {"http://" + at_.text() + "/"};
    const std::string port = ":" + std::to_string(at_.port) + "/";
    std::vector<std::string> found;
    if (!context_.host_name.empty()) found.push_back("http://" + context_.host_name + port);
    found.push_back("http://localhost" + port);
    return found;
  }

  void run(int stop_fd, detail::doorbell& news) {
    asio::posix::stream_descriptor stop(context_.io, ::dup(stop_fd));
    asio::posix::stream_descriptor bell(context_.io, ::dup(news.fd()));
    stop.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code) { context_.io.stop(); });
    listen_for(bell, news);
    accept();
    check();
    context_.io.run();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code failed, asio::ip::tcp::socket socket) {
      if (failed) {
        accept_timer_.expires_after(accept_again);
        accept_timer_.async_wait([this](error_code ended) {
          if (!ended) accept();
        });
        return;
      }
      if (has_room()) std::make_shared<http_connection>(context_, std::move(socket))->start();
      accept();
    });
  }

  // One peer can hold all sockets. When they are in use, the one that has waited longest for a request is closed.
  [[nodiscard]] bool has_room() {
    if (context_.sockets < max_sockets) return true;
    if (context_.idle.empty()) return false;
    context_.idle.front()->give_up();
    return true;
  }

  void listen_for(asio::posix::stream_descriptor& bell, detail::doorbell& news) {
    bell.async_wait(asio::posix::stream_descriptor::wait_read, [this, &bell, &news](error_code failed) {
      if (failed) return;
      news.clear();
      look_at(clock::now());
      listen_for(bell, news);
    });
  }

  void look_at(clock::time_point when) {
    if (when == clock::time_point::max()) return;
    when = std::max(when, looked_at_ + news_pause);
    if (when >= look_at_) return;
    look_at_ = when;
    look_timer_.expires_at(when);
    look_timer_.async_wait([this](error_code ended) {
      if (!ended) look();
    });
  }

  void look() {
    looked_at_ = clock::now();
    look_at_ = clock::time_point::max();
    auto next = clock::time_point::max();
    for (websocket_connection* const each : connections()) next = std::min(next, each->refresh(looked_at_));
    look_at(next);
  }

  // Ends connections too, but none before its handlers have run: none is destroyed within.
  void check() {
    for (websocket_connection* const each : connections()) each->check(clock::now());
    check_timer_.expires_after(check_pause);
    check_timer_.async_wait([this](error_code ended) {
      if (!ended) check();
    });
  }

  [[nodiscard]] std::vector<websocket_connection*> connections() const {
    return {context_.clients.begin(), context_.clients.end()};
  }

  server_context context_;
  const detail::ip_port at_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer accept_timer_;
  asio::steady_timer look_timer_;
  asio::steady_timer check_timer_;
  clock::time_point looked_at_ = {};
  clock::time_point look_at_ = clock::time_point::max();
};

web_server::web_server(std::unique_ptr<engine> made) : engine_(std::move(made)) {}
web_server::~web_server() = default;

detail::expected<std::unique_ptr<web_server>> web_server::listen(const detail::ip_port& at,
                                                                 std::vector<session_maker*> protocols) {
  detail::ip_port actual = at;
  const int listening = detail::listen_tcp(actual, backlog);
  if (listening < 0) return detail::unable(listen_problem(at, errno));
  return std::unique_ptr<web_server>(new web_server(std::make_unique<engine>(listening, actual, std::move(protocols))));
}

const detail::ip_port& web_server::address() const noexcept { return engine_->address(); }
std::vector<std::string> web_server::urls() const { return engine_->urls(); }
void web_server::run(int stop_fd, detail::doorbell& news) { engine_->run(stop_fd, news); }

}  // namespace orc::web
