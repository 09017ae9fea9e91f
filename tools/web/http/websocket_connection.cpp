#include <utility>

#include "tools/web/http/websocket_connection.h"

#include <netinet/tcp.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <charconv>
#include <chrono>

#include "tools/web/http/tcp_progress.h"

namespace orc::web {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using namespace std::chrono_literals;

constexpr auto ping_pause = 15s;
constexpr auto client_patience = 60s;
constexpr auto close_patience = 3s;
constexpr int kernel_bytes = 16 << 10;  // not sent yet; what waits in the kernel grows old

}  // namespace

websocket_connection::websocket_connection(server_context& server, beast::tcp_stream&& from,
                                           std::unique_ptr<counted_socket> counted, session_maker& protocol)
    : server_(server),
      host_(remote_host(from.socket())),
      protocol_(protocol),
      counted_(std::move(counted)),
      stream_(std::move(from)),
      session_(protocol.make()),
      allowance_(protocol.limits()) {
  server_.clients.insert(this);
}

websocket_connection::~websocket_connection() { server_.clients.erase(this); }

void websocket_connection::start(const upgrade_request& request) {
  beast::get_lowest_layer(stream_).expires_never();
  auto& socket = beast::get_lowest_layer(stream_).socket();
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kernel_bytes, sizeof kernel_bytes);
  websocket::stream_base::timeout patience{};
  patience.handshake_timeout = handshake_patience;
  patience.idle_timeout = websocket::stream_base::none();
  patience.keep_alive_pings = false;
  stream_.set_option(patience);
  stream_.set_option(websocket::stream_base::decorator([name = std::string(protocol_.subprotocol())](auto& response) {
    response.set(beast::http::field::sec_websocket_protocol, name);
    response.set(beast::http::field::server, "orc-web");
  }));
  stream_.read_message_max(protocol_.limits().message_bytes);
  stream_.auto_fragment(false);
  stream_.control_callback([this](websocket::frame_type kind, beast::string_view payload) {
    heard_at_ = clock::now();
    if (kind == websocket::frame_type::pong) on_pong({payload.data(), payload.size()});
  });
  stream_.async_accept(request, [self = shared_from_this()](beast::error_code failed) {
    if (failed) return self->end();
    self->open_ = true;
    self->heard_at_ = clock::now();
    self->ping_at_ = self->heard_at_ + ping_pause;
    self->read();
    self->server_.look_at(clock::now());
  });
}

void websocket_connection::read() {
  stream_.async_read(incoming_, [self = shared_from_this()](beast::error_code failed, std::size_t /*bytes*/) {
    if (failed || !self->open_) return self->end();
    self->take_message();
  });
}

void websocket_connection::take_message() {
  const auto now = clock::now();
  heard_at_ = now;
  if (!allowance_.take(incoming_.size(), now)) return close("too many messages");
  const auto bytes = incoming_.cdata();
  std::string why;
  if (!session_->receive({static_cast<const char*>(bytes.data()), bytes.size()}, stream_.got_text(), why))
    return close(why);
  incoming_.consume(incoming_.size());
  server_.look_at(now);
  read();
}

clock::time_point websocket_connection::refresh(clock::time_point now) {
  if (!open_) return clock::time_point::max();
  const auto next = session_->refresh(now);
  write_next();
  return next;
}

void websocket_connection::write_next() {
  if (!open_ || writing_) return;
  ping(clock::now());
  if (!window_.has_room()) return;
  outgoing_ = {};
  session_->limit_frames(window_.size() / 4);
  if (!session_->next(outgoing_)) return;
  writing_ = true;
  window_.sent(outgoing_.size());
  stream_.text(outgoing_.text);
  const std::array<asio::const_buffer, 2> parts{asio::buffer(outgoing_.head),
                                                asio::buffer(outgoing_.rest.data(), outgoing_.rest.size())};
  stream_.async_write(parts, [self = shared_from_this()](beast::error_code failed, std::size_t /*bytes*/) {
    self->writing_ = false;
    self->outgoing_ = {};
    if (failed) return self->end();
    self->write_next();
    // All views of all sessions are looked at together, not after each frame: what is new gets its turn then.
    if (self->open_) self->server_.look_at(clock::now());
  });
}

void websocket_connection::ping(clock::time_point now) {
  if (pinging_) return;
  std::string text = "alive";
  if (const auto number = window_.next_ping(now)) {
    text = std::to_string(*number);
  } else if (now < ping_at_) {
    return;
  }
  ping_at_ = now + ping_pause;
  pinging_ = true;
  const websocket::ping_data payload(text);
  stream_.async_ping(payload, [self = shared_from_this()](beast::error_code failed) {
    self->pinging_ = false;
    if (failed) self->end();
  });
}

// Called while a message is read.
void websocket_connection::on_pong(std::string_view payload) {
  std::uint32_t number = 0;
  const char* const end = payload.data() + payload.size();
  const auto read = std::from_chars(payload.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return;
  const bool waited = !window_.has_room();
  window_.answered(number, clock::now());
  if (waited) server_.look_at(clock::now());
}

void websocket_connection::check(clock::time_point now) {
  // The close frame waits for the frame before it, which a client that reads nothing never lets go.
  if (closing_ && now >= close_by_) return end();
  if (!open_) return;
  // A large frame over a slow network takes its time: the answers to pings are behind it.
  const auto acknowledged = acknowledged_bytes(beast::get_lowest_layer(stream_).socket().native_handle());
  if (writing_ && acknowledged != acknowledged_) heard_at_ = now;
  acknowledged_ = acknowledged;
  if (now - heard_at_ > client_patience) return end();
  ping(now);
}

void websocket_connection::close(std::string_view why) {
  open_ = false;
  closing_ = true;
  close_by_ = clock::now() + close_patience;
  websocket::close_reason reason(websocket::close_code::policy_error);
  reason.reason.assign(why.data(), std::min(why.size(), std::size_t{120}));
  stream_.async_close(reason, [self = shared_from_this()](beast::error_code /*failed*/) { self->end(); });
}

void websocket_connection::end() {
  open_ = false;
  beast::get_lowest_layer(stream_).close();
}

}  // namespace orc::web
