// One client's WebSocket. Includes Boost: see server_context.h.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tools/web/http/flow_window.h"
#include "tools/web/http/message_allowance.h"
#include "tools/web/http/server_context.h"

namespace orc::web {

using upgrade_request = boost::beast::http::request<boost::beast::http::empty_body>;

// Reads the messages of the client, and writes a frame whenever the client has room for one.
class websocket_connection : public std::enable_shared_from_this<websocket_connection> {
 public:
  websocket_connection(server_context& server, boost::beast::tcp_stream&& from, std::unique_ptr<counted_socket> counted,
                       session_maker& protocol);
  ~websocket_connection();
  websocket_connection(const websocket_connection&) = delete;
  websocket_connection& operator=(const websocket_connection&) = delete;

  void start(const upgrade_request& request);
  [[nodiscard]] const detail::ip_address& host() const noexcept { return host_; }
  // Looks for news of the session, and returns when to look again.
  [[nodiscard]] clock::time_point refresh(clock::time_point now);
  // Once a second: pings, and ends a connection whose client does not answer.
  void check(clock::time_point now);

 private:
  void read();
  void take_message();
  void write_next();
  void ping(clock::time_point now);
  void on_pong(std::string_view payload);
  void close(std::string_view why);
  void end();

  server_context& server_;
  const detail::ip_address host_;
  const session_maker& protocol_;
  const std::unique_ptr<counted_socket> counted_;
  boost::beast::websocket::stream<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer incoming_;
  std::unique_ptr<client_session> session_;
  frame outgoing_;
  bool open_ = false;
  bool closing_ = false;  // a close frame waits for its turn, or for its answer
  clock::time_point close_by_ = {};
  bool writing_ = false;
  bool pinging_ = false;
  flow_window window_;
  message_allowance allowance_;
  clock::time_point heard_at_ = {};
  clock::time_point ping_at_ = {};
  std::uint64_t acknowledged_ = 0;  // by the client's kernel
};

}  // namespace orc::web
