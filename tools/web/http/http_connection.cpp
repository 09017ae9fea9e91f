#include <utility>

#include "tools/web/http/http_connection.h"

#include <algorithm>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "tools/web/http/host_check.h"
#include "tools/web/http/site.h"
#include "tools/web/http/websocket_connection.h"

namespace orc::web {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;

// Of one connection; then the browser opens another one.
constexpr int max_requests = 100;
constexpr std::chrono::seconds longest_life{60};
constexpr std::uint32_t max_header_bytes = 8 << 10;
constexpr std::string_view content_policy =
    "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'";

[[nodiscard]] std::string_view view(beast::string_view text) noexcept { return {text.data(), text.size()}; }

}  // namespace

void http_connection::read() {
  parser_.emplace();
  parser_->header_limit(max_header_bytes);
  parser_->body_limit(0);
  stream_.expires_after(handshake_patience);
  idle_ = server_.idle.insert(server_.idle.end(), this);
  http::async_read(stream_, incoming_, *parser_,
                   [self = shared_from_this()](beast::error_code failed, std::size_t /*bytes*/) {
                     self->leave_idle();
                     if (failed) return self->stream_.close();
                     self->answer(self->parser_->get());
                   });
}

void http_connection::leave_idle() noexcept {
  if (idle_ == server_.idle.end()) return;
  server_.idle.erase(idle_);
  idle_ = server_.idle.end();
}

void http_connection::give_up() {
  leave_idle();
  stream_.close();
}

void http_connection::answer(const request_type& request) {
  const auto local = local_address(stream_.socket());
  if (request.count(http::field::host) != 1 || !is_own_host(view(request[http::field::host]), local, server_.host_name))
    return refuse(request, http::status::forbidden, "this is not the name of this server\n");
  if (beast::websocket::is_upgrade(request)) return open_websocket(request);
  if (request.method() != http::verb::get && request.method() != http::verb::head)
    return refuse(request, http::status::method_not_allowed, "only GET\n");
  const site_file* const file = find_file(view(request.target()));
  if (file == nullptr) return refuse(request, http::status::not_found, "there is no such file\n");
  send(request, http::status::ok, content_type_of(file->path), file->bytes);
}

session_maker* http_connection::chosen_protocol(const request_type& request) const {
  for (const auto& offered : http::token_list(request[http::field::sec_websocket_protocol])) {
    for (session_maker* const each : server_.protocols)
      if (view(offered) == each->subprotocol()) return each;
  }
  return nullptr;
}

// Programs that are no browsers send no Origin.
bool http_connection::admits(const request_type& request, session_maker& protocol) const {
  const auto origins = request.count(http::field::origin);
  if (origins != 1) return origins == 0;
  const std::string_view origin = view(request[http::field::origin]);
  return is_own_origin(origin, view(request[http::field::host])) || protocol.admits(origin);
}

void http_connection::open_websocket(const request_type& request) {
  session_maker* const protocol = chosen_protocol(request);
  if (protocol == nullptr) return refuse(request, http::status::bad_request, "no subprotocol that this server knows\n");
  if (!protocol->path().empty() && view(request.target()) != protocol->path())
    return refuse(request, http::status::not_found, "this WebSocket is somewhere else\n");
  if (!admits(request, *protocol))
    return refuse(request, http::status::forbidden, "pages of other servers may not connect\n");
  // A host gets half of the places that the others leave.
  const auto host = remote_host(stream_.socket());
  const auto own = static_cast<std::size_t>(std::ranges::count(server_.clients, host, &websocket_connection::host));
  if (2 * own >= max_clients - (server_.clients.size() - own))
    return refuse(request, http::status::service_unavailable, "too many clients\n");
  std::make_shared<websocket_connection>(server_, std::move(stream_), std::move(counted_), *protocol)->start(request);
}

void http_connection::refuse(const request_type& request, http::status status, std::string_view why) {
  send(request, status, "text/plain; charset=utf-8", why);
}

void http_connection::send(const request_type& request, http::status status, std::string_view type,
                           std::string_view body) {
  response_ = {};
  response_.result(status);
  response_.version(request.version());
  response_.set(http::field::server, "orc-web");
  response_.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  response_.set(http::field::cache_control, "no-store");
  response_.set("Content-Security-Policy", beast::string_view(content_policy.data(), content_policy.size()));
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("Referrer-Policy", "no-referrer");
  response_.set("Cross-Origin-Resource-Policy", "same-origin");
  const bool old = ++requests_ >= max_requests || clock::now() - began_ >= longest_life;
  response_.keep_alive(request.keep_alive() && status == http::status::ok && !old);
  if (request.method() != http::verb::head) response_.body() = {body.data(), body.size()};
  response_.content_length(body.size());
  stream_.expires_after(handshake_patience);
  http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code failed, std::size_t /*bytes*/) {
    if (failed || !self->response_.keep_alive()) {
      boost::system::error_code ignored;
      self->stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
      return self->stream_.close();
    }
    self->read();
  });
}

}  // namespace orc::web
