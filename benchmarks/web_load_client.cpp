#include "benchmarks/web_load_client.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/rate_policy.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/web_load_topics.h"
#include "tools/support/clock.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using limited_stream = beast::basic_stream<asio::ip::tcp, asio::any_io_executor, beast::simple_rate_policy>;

constexpr std::uint32_t first_plot_id = 1000;

template <class Number>
[[nodiscard]] Number little(std::string_view bytes, std::size_t at) {
  Number value{};
  if (bytes.size() < at + sizeof value) throw std::runtime_error("orc-web sent a message that is too short");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The number after `name`, quoted or not.
[[nodiscard]] std::int64_t number_after(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  std::int64_t value = 0;
  if (at == std::string_view::npos) throw std::runtime_error("orc-web sent no " + std::string(name));
  std::string_view rest = text.substr(at + name.size());
  if (rest.starts_with('"')) rest.remove_prefix(1);
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

class web_client {
 public:
  web_client(const client_plan& plan, channel& line)
      : plan_(plan),
        line_(line),
        words_(io_, ::dup(line.fd())),
        socket_(io_),
        samples_of_(static_cast<std::size_t>(plan.topics)),
        points_of_(static_cast<std::size_t>(plan.plots)) {
    connect();
    for (int i = 0; i < plan.topics; ++i) send(R"({"op":"open","id":)" + std::to_string(i) + topic(i) + "}");
    for (int i = 0; i < plan.plots; ++i)
      send(R"({"op":"plot","id":)" + std::to_string(first_plot_id + static_cast<std::uint32_t>(i)) + topic(i) +
           R"(,"field":"q[0]","per_second":)" + std::to_string(plan.plot_points_per_s) + "}");
  }

  client_report run() {
    read();
    await_word();
    io_.run();
    report_.seconds = static_cast<double>(now_ns() - measured_from_) / 1e9;
    report_.fewest_samples = *std::min_element(samples_of_.begin(), samples_of_.end());
    const summary samples = summarize(sample_ages_);
    report_.sample_p50_ms = samples.p50 / 1e3;
    report_.sample_p99_ms = samples.p99 / 1e3;
    report_.sample_max_ms = samples.max / 1e3;
    const summary plots = summarize(plot_ages_);
    report_.plot_p50_ms = plots.p50 / 1e3;
    report_.plot_p99_ms = plots.p99 / 1e3;
    report_.plot_max_ms = plots.max / 1e3;
    return report_;
  }

 private:
  [[nodiscard]] std::string topic(int index) const { return R"(,"topic":")" + topic_of(plan_.trial, index) + '"'; }
  void send(const std::string& text) { socket_.write(asio::buffer(text)); }

  void connect() {
    auto& stream = beast::get_lowest_layer(socket_);
    stream.connect(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), plan_.port));
    stream.socket().set_option(asio::ip::tcp::no_delay(true));
    socket_.set_option(websocket::stream_base::decorator(
        [](auto& request) { request.set(beast::http::field::sec_websocket_protocol, "orc.web.v1"); }));
    socket_.read_message_max(0);
    socket_.handshake("127.0.0.1:" + std::to_string(plan_.port), "/ws");
    if (plan_.bytes_per_s > 0) stream.rate_policy().read_limit(static_cast<std::size_t>(plan_.bytes_per_s));
  }

  void read() {
    socket_.async_read(message_, [this](beast::error_code failed, std::size_t bytes) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) throw std::runtime_error("orc-web closed the connection: " + failed.message());
      const std::string_view text(static_cast<const char*>(message_.cdata().data()), bytes);
      if (is_measuring()) report_.bytes += bytes;
      if (socket_.got_text())
        take_text(text);
      else
        take_points(text);
      message_.consume(bytes);
      tell_when_ready();
      read();
    });
  }

  void take_text(std::string_view text) {
    const std::int64_t now = clock_ns(CLOCK_REALTIME);
    if (text.starts_with(R"({"op":"sample",)")) {
      const auto id = static_cast<std::size_t>(number_after(text, R"("id":)"));
      ++samples_of_.at(id);
      if (!is_measuring()) return;
      ++report_.samples;
      sample_ages_.push_back(now - number_after(text, R"("stamp":)"));
    } else if (text.starts_with(R"({"op":"error",)")) {
      throw std::runtime_error("orc-web reports: " + std::string(text));
    } else if (text.starts_with(R"({"op":"topic",)") && is_measuring() && !text.ends_with(R"("message":""})")) {
      ++report_.problems;
    }
  }

  void take_points(std::string_view bytes) {
    const std::int64_t now = clock_ns(CLOCK_REALTIME);
    const auto count = little<std::uint32_t>(bytes, 8);
    points_of_.at(little<std::uint32_t>(bytes, 4) - first_plot_id) += count;
    if (!is_measuring() || count == 0) return;
    report_.points += count;
    const auto newest_s = little<double>(bytes, 16 + (std::size_t{count} - 1) * 24);
    plot_ages_.push_back(now - static_cast<std::int64_t>(newest_s * 1e9));
  }

  void tell_when_ready() {
    const auto some = [](std::uint64_t count) { return count > 0; };
    const bool all = std::all_of(samples_of_.begin(), samples_of_.end(), some) &&
                     std::all_of(points_of_.begin(), points_of_.end(), some);
    const bool any = std::any_of(samples_of_.begin(), samples_of_.end(), some);
    if (ready_ || !(plan_.ready_at_first ? any : all)) return;
    ready_ = true;
    line_.put(true);
  }

  [[nodiscard]] bool is_measuring() const noexcept { return measured_from_ != 0; }

  void await_word() {
    words_.async_wait(asio::posix::stream_descriptor::wait_read, [this](beast::error_code failed) {
      if (failed || !line_.get<bool>() || is_measuring()) return io_.stop();
      measured_from_ = now_ns();
      std::fill(samples_of_.begin(), samples_of_.end(), 0);
      await_word();
    });
  }

  const client_plan plan_;
  channel& line_;
  asio::io_context io_{1};
  asio::posix::stream_descriptor words_;
  websocket::stream<limited_stream> socket_;
  beast::flat_buffer message_;
  bool ready_ = false;
  std::int64_t measured_from_ = 0;
  client_report report_;
  std::vector<std::uint64_t> samples_of_;
  std::vector<std::uint64_t> points_of_;
  std::vector<std::int64_t> sample_ages_;
  std::vector<std::int64_t> plot_ages_;
};

}  // namespace

void serve_client(channel& line) {
  try {
    while (const auto plan = line.get<client_plan>()) line.put(web_client(*plan, line).run());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "web_load (client): %s\n", error.what());
  }
}

}  // namespace orc::bench
