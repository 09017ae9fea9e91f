// One client that loads the page, or opens a WebSocket. Includes Boost: see server_context.h.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/web/http/server_context.h"

namespace orc::web {

class http_connection : public std::enable_shared_from_this<http_connection> {
 public:
  http_connection(server_context& server, boost::asio::ip::tcp::socket&& from)
      : server_(server), counted_(std::make_unique<counted_socket>(server)), stream_(std::move(from)) {}

  ~http_connection() { leave_idle(); }
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;

  void start() { read(); }
  // Ends it while it waits for a request: another client needs the socket.
  void give_up();

 private:
  using request_type = boost::beast::http::request<boost::beast::http::empty_body>;
  using response_type = boost::beast::http::response<boost::beast::http::span_body<const char>>;

  void read();
  void leave_idle() noexcept;
  void answer(const request_type& request);
  void open_websocket(const request_type& request);
  [[nodiscard]] session_maker* chosen_protocol(const request_type& request) const;
  [[nodiscard]] bool admits(const request_type& request, session_maker& protocol) const;
  void refuse(const request_type& request, boost::beast::http::status status, std::string_view why);
  void send(const request_type& request, boost::beast::http::status status, std::string_view type,
            std::string_view body);

  server_context& server_;
  std::list<http_connection*>::iterator idle_ = server_.idle.end();
  const clock::time_point began_ = clock::now();
  int requests_ = 0;
  std::unique_ptr<counted_socket> counted_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer incoming_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  response_type response_;
};

}  // namespace orc::web
