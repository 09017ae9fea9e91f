// One connection over a socket pair: whatever the pieces in which bytes come, the frames are the same.
#include "transport/stream/stream_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/copy.h"
#include "support/catch.h"
#include "support/raw_socket.h"

using orc::detail::stream_connection;
using orc::detail::unique_fd;
using orc::test::as_text;
namespace zmtp = orc::wire::zmtp;

namespace {

constexpr std::size_t largest = 1 << 20;

std::string greeting_text() { return as_text(zmtp::greeting()); }

struct wire_end {
  unique_fd far;
  stream_connection line;

  wire_end() : wire_end(make_pair()) {}
  explicit wire_end(std::pair<int, int> fds)
      : far(fds.second), line(unique_fd(fds.first), stream_connection::role::dealer, largest, 256) {}

  static std::pair<int, int> make_pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
      throw std::runtime_error("pair");
    return {fds[0], fds[1]};
  }
  void write(const std::string& bytes) {
    REQUIRE(::send(far.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] std::string read() {
    std::string all(1 << 16, '\0');
    const ssize_t n = ::recv(far.get(), all.data(), all.size(), MSG_DONTWAIT);
    all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return all;
  }
  // Everything that is there now. "<multipart>", "<closed>" and "<broken>" for what is no frame.
  [[nodiscard]] std::vector<std::string> take() {
    std::vector<std::string> frames;
    stream_connection::incoming frame;
    for (;;) {
      std::size_t budget = SIZE_MAX;
      switch (line.receive(frame, budget)) {
        case stream_connection::event::frame:
          frames.push_back(frame.multipart ? "<multipart>" : as_text(frame.bytes));
          break;
        case stream_connection::event::nothing: return frames;
        case stream_connection::event::closed: frames.emplace_back("<closed>"); return frames;
        case stream_connection::event::broken: frames.emplace_back("<broken>"); return frames;
      }
    }
  }
  void introduce() {
    write(hello());
    REQUIRE(take().empty());
    REQUIRE(line.ready());
    static_cast<void>(read());
  }
  static std::string hello() { return greeting_text() + zmtp::ready_frame("ROUTER"); }
};

std::string framed(const std::string& body, int flags = 0) {
  const auto header = zmtp::encode_frame_header(body.size(), static_cast<std::uint8_t>(flags));
  return as_text(std::span(header.bytes).first(header.size)) + body;
}

using frames = std::vector<std::string>;

}  // namespace

TEST_CASE("stream connection: introduces itself at once, and is ready when the peer has", "[unit]") {
  wire_end end;
  CHECK(end.read() == greeting_text() + zmtp::ready_frame("DEALER"));
  CHECK_FALSE(end.line.ready());
  for (const char c : wire_end::hello()) {
    CHECK_FALSE(end.line.ready());
    end.write(std::string(1, c));
    CHECK(end.take().empty());
  }
  CHECK(end.line.ready());
}

TEST_CASE("stream connection: frames come whole, in pieces of any size", "[unit]") {
  const std::string large(5000, 'c');
  const frames sent{"",
                    "x",
                    std::string(255, 'a'),
                    std::string(256, 'b'),
                    large,
                    large,
                    large,
                    "y",
                    large,
                    std::string(254, 'd'),
                    large,
                    "",
                    large,
                    large,
                    "end"};
  std::string bytes;
  for (const auto& each : sent) bytes += framed(each);
  for (const std::size_t piece : {1UL, 2UL, 7UL, 100UL, 246UL, 247UL, 255UL, 256UL, 257UL, 1000UL, 100'000UL}) {
    wire_end end;
    end.introduce();
    frames got;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      end.write(bytes.substr(at, piece));
      for (auto& each : end.take()) got.push_back(std::move(each));
    }
    INFO("pieces of " << piece);
    CHECK(got == sent);
  }
}

TEST_CASE("stream connection: it says that nothing is left only when it is so, or the budget is used up", "[unit]") {
  const std::string large(5000, 'l');
  // Around the end of the first large frame and of the header behind it.
  for (std::size_t budget = 5000; budget < 5040; ++budget) {
    wire_end end;
    end.introduce();
    end.write(framed(large) + framed(large));
    INFO("a budget of " << budget);
    std::size_t left = budget;
    stream_connection::incoming frame;
    auto got = end.line.receive(frame, left);
    if (got == stream_connection::event::frame) got = end.line.receive(frame, left);
    REQUIRE(got == stream_connection::event::nothing);
    CHECK(left == 0);
    CHECK(end.take().back() == large);
  }
}

TEST_CASE("stream connection: what arrived before the end is delivered, then the end", "[unit]") {
  wire_end end;
  end.introduce();
  end.write(framed("last") + framed("torn").substr(0, 4));
  end.far.reset();
  CHECK(end.take() == frames{"last"});
  CHECK(end.take() == frames{"<closed>"});
}

TEST_CASE("stream connection: messages of several frames are one piece of nonsense", "[unit]") {
  wire_end end;
  end.introduce();
  end.write(framed("a", zmtp::more) + framed(std::string(3000, 'b'), zmtp::more) + framed("c") + framed("good"));
  CHECK(end.take() == frames{"<multipart>", "good"});
}

TEST_CASE("stream connection: a frame larger than what is taken on trust arrives whole", "[unit]") {
  wire_end end;
  end.introduce();
  end.line.allow(std::size_t{1} << 30);
  std::string body;
  body.resize(50'000'000);
  for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>(i / 1000);
  const std::string bytes = framed(body) + framed("end");
  frames got;
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(end.far.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n > 0) at += static_cast<std::size_t>(n);
    for (auto& each : end.take()) got.push_back(std::move(each));
  }
  REQUIRE(got.size() == 2);
  CHECK(got[0] == body);
  CHECK(got[1] == "end");
}

TEST_CASE("stream connection: takes no more from the kernel than its budget, and loses nothing", "[unit]") {
  wire_end end;
  end.introduce();
  std::string bytes;
  for (int n = 0; n < 10; ++n) bytes += framed(std::string(1000, static_cast<char>('a' + n)));
  end.write(bytes);
  std::size_t got = 0;
  stream_connection::incoming frame;
  for (int n = 0; n < 1000 && got < 10; ++n) {
    std::size_t budget = 100;
    while (end.line.receive(frame, budget) == stream_connection::event::frame)
      CHECK(as_text(frame.bytes) == std::string(1000, static_cast<char>('a' + got++)));
    CHECK(budget <= 100);
  }
  CHECK(got == 10);
}

TEST_CASE("stream connection: more commands or parts than allowed break it, at whatever pace they come", "[unit]") {
  const std::string ping = framed(std::string("\4PING\0\0", 7), zmtp::command);
  for (const std::string& noise : {ping, framed("part", zmtp::more), framed(std::string(4000, 'p'), zmtp::more)}) {
    wire_end end;
    end.introduce();
    std::size_t said = 0;
    frames got;
    while (got.empty() && said < 1000) {
      end.write(noise);
      ++said;
      got = end.take();
      static_cast<void>(end.read());
    }
    CHECK(got == frames{"<broken>"});
    CHECK(said >= 150);
  }
}

TEST_CASE("stream connection: a PING is answered, other commands are not for the user", "[unit]") {
  wire_end end;
  end.introduce();
  end.write(framed(std::string("\4PING\0\0ctx", 10), zmtp::command) + framed("\5OTHER", zmtp::command) +
            framed("data"));
  CHECK(end.take() == frames{"data"});
  CHECK(end.read() == framed("\4PONGctx", zmtp::command));
}

TEST_CASE("stream connection: what is no ZMTP breaks it", "[unit]") {
  const auto broken = [](const std::string& bytes, bool introduced) {
    wire_end end;
    if (introduced) end.introduce();
    end.write(bytes);
    const auto got = end.take();
    return !got.empty() && got.back() == "<broken>";
  };
  CHECK(broken("GET / HTTP/1.1\r\n\r\n", false));
  CHECK(broken(greeting_text() + framed("a frame before READY"), false));
  CHECK(broken(greeting_text() + framed("\5ERROR", zmtp::command), false));
  CHECK(broken(greeting_text() + framed(std::string(1000, 'x'), zmtp::command), false));
  CHECK(broken(framed("x", 0x80), true));  // a flag that nobody knows
  CHECK(broken(framed("\5ERROR", zmtp::command), true));
  CHECK(broken(framed("\5OTHER", zmtp::command | zmtp::more), true));
  CHECK(broken(std::string("\2\0\0\0\0\0\x10\0\1", 9), true));                // one byte more than the largest
  CHECK(broken(std::string("\2\xff\xff\xff\xff\xff\xff\xff\xff", 9), true));  // and much more
}

TEST_CASE("stream connection: a sample that does not fit stays pending until there is room, and arrives whole",
          "[unit]") {
  wire_end end;
  end.introduce();
  auto sample = orc::detail::allocate_frame(4'000'000);
  std::memset(sample.payload(), 'p', sample.size());
  const orc::wire::sample_header header{1, 2};
  REQUIRE(end.line.send(header, {sample.payload(), sample.size()}) == stream_connection::written::some);
  end.line.keep(share(sample));
  CHECK(end.line.pending());
  const std::string small = "small ones wait behind it";
  CHECK(end.line.send(std::as_bytes(std::span(small.data(), small.size()))) == stream_connection::written::some);
  std::string got;
  while (end.line.pending()) {
    got += end.read();
    REQUIRE(end.line.flush() != stream_connection::written::failed);
  }
  for (std::string more = end.read(); !more.empty(); more = end.read()) got += more;
  orc::wire::put(header, orc::detail::frame_of(sample).data());
  CHECK(got == framed(as_text(orc::detail::frame_of(sample))) + framed(small));
}

TEST_CASE("stream connection: where a frame has padding, its body lies right, and it arrives whole", "[unit]") {
  wire_end end;
  end.introduce();
  end.line.pad_large_frames();
  const auto head = framed(std::string(5016, 'p')).substr(0, 9);
  std::vector<std::byte> memory(2 * 4096 + 5000, std::byte{'p'});
  const auto page = (4096 - reinterpret_cast<std::uintptr_t>(memory.data()) % 4096) % 4096;
  for (std::size_t offset = 0; offset < 64; ++offset) {
    REQUIRE(end.line.send({1, 2}, {memory.data() + page + offset, 5000}) == stream_connection::written::all);
    const std::string got = end.read();
    const std::size_t front = got.size() - 5000;
    CHECK_FALSE(orc::detail::copies_slowly(offset, front));
    CHECK(got.substr(front - 25, 9) == head);
    for (std::size_t n = 0; n < front - 25; n += 7) CHECK(got.substr(n, 7) == framed("\4PONG", zmtp::command));
  }
  REQUIRE(end.line.send({1, 2}, {memory.data() + page + 16, 1000}) == stream_connection::written::all);
  CHECK(end.read().size() == 9 + 16 + 1000);
  REQUIRE(end.line.send({1, 2}, {memory.data() + page + 16, 5000}) == stream_connection::written::all);
  CHECK(end.read().size() == 7 + 9 + 16 + 5000);
}

TEST_CASE("stream connection: padding in front of large frames is no noise, in pieces of any size", "[unit]") {
  const std::string padding = framed("\4PONG", zmtp::command);
  std::string bytes;
  frames sent;
  for (int n = 0; n < 40; ++n) {
    for (int paddings = 0; paddings < n % 4; ++paddings) bytes += padding;
    sent.emplace_back(n % 3 == 0 ? 5'000 : 5'001 + n, static_cast<char>('a' + n % 26));
    bytes += framed(sent.back());
    if (n % 5 == 0) bytes += framed(sent.emplace_back("small"));
  }
  for (const std::size_t piece : {1UL, 7UL, 9UL, 16UL, 5'016UL, 5'017UL, 60'000UL}) {
    wire_end end;
    end.introduce();
    frames got;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      end.write(bytes.substr(at, piece));
      for (auto& each : end.take()) got.push_back(std::move(each));
    }
    INFO("pieces of " << piece);
    CHECK(got == sent);
  }
  wire_end end;
  end.introduce();
  for (int n = 0; n < 1'000; ++n) {
    end.write(padding + padding + padding + framed(std::string(5'000, 'x')));
    REQUIRE(end.take() == frames{std::string(5'000, 'x')});
  }
}

TEST_CASE("stream connection: a peer that never reads costs a bounded queue of small frames", "[unit]") {
  wire_end end;
  end.introduce();
  const std::string small(stream_connection::max_small_frame, 's');
  std::size_t taken = 0;
  while (end.line.send(std::as_bytes(std::span(small.data(), small.size()))) != stream_connection::written::none) {
    REQUIRE(++taken < 100'000);
  }
  CHECK(end.line.pending());
  auto sample = orc::detail::allocate_frame(1);
  CHECK(end.line.flush() == stream_connection::written::none);
}

TEST_CASE("stream connection: a peer that went away is a failed send and no signal", "[unit]") {
  wire_end end;
  end.introduce();
  end.far.reset();
  const std::string payload(100, 'p');
  const auto bytes = std::as_bytes(std::span(payload.data(), payload.size()));
  CHECK(end.line.send({1, 2}, bytes) == stream_connection::written::failed);
}
