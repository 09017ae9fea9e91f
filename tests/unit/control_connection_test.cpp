// The broker's end of a connection, over a socket pair: pieces of any size, and every bound.
#include "broker/connections/control_connection.h"

#include <sys/socket.h>

#include <array>
#include <vector>

#include "support/catch.h"
#include "support/control_stranger.h"
#include "wire/control.h"

using namespace orc;
namespace zmtp = wire::zmtp;
using event = control_connection::event;
using test::control_stranger;

namespace {

constexpr std::size_t idle_bytes = 1024;  // what it may keep for the first byte of a message

std::string dealer() { return test::as_text(zmtp::greeting()) + zmtp::ready_frame("DEALER"); }

std::array<int, 2> pair_of_sockets() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return ends;
}

struct fixture {
  fixture() : fixture(pair_of_sockets()) {}
  explicit fixture(std::array<int, 2> ends) : peer(ends[0]), connection(detail::unique_fd(ends[1])) {
    REQUIRE(connection.greet());
  }
  void write(std::string_view bytes) {
    REQUIRE(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
    connection.readable(false);
  }
  // Everything that the connection makes of it; frames are kept.
  event drain() {
    std::span<const std::byte> frame;
    for (;;) {
      const auto got = connection.receive(frame, now);
      if (got == event::frame) frames.emplace_back(reinterpret_cast<const char*>(frame.data()), frame.size());
      if (got != event::frame && got != event::introduced && got != event::command) return got;
    }
  }
  event say(std::string_view bytes) {
    write(bytes);
    return drain();
  }
  std::string read() {
    std::string bytes(1 << 20, '\0');
    const auto n = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }

  detail::unique_fd peer;
  control_connection connection;
  control_connection::clock::time_point now{};
  std::vector<std::string> frames;
};

}  // namespace

TEST_CASE("control connection: frames arrive in pieces of any size") {
  const std::vector<std::string> sent{
      "", "a", std::string(255, 'b'), std::string(256, 'c'), std::string(wire::max_control_bytes, 'd'), "e"};
  std::string bytes = dealer();
  for (const auto& each : sent) bytes += control_stranger::frame(each);
  for (const auto piece : std::vector<std::size_t>{1, 2, 7, 63, 64, 65, 1000, 16'384, 16'385, 100'000}) {
    fixture f;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      CHECK(f.say(std::string_view(bytes).substr(at, piece)) == event::nothing);
      CHECK(f.connection.kept() <= control_connection::max_buffered);
    }
    CHECK(f.connection.ready());
    CHECK(f.frames == sent);
    CHECK(f.connection.kept() == 0);
  }
}

TEST_CASE("control connection: it introduces itself as a ROUTER") {
  fixture f;
  CHECK(f.read() == test::as_text(zmtp::greeting()) + zmtp::ready_frame("ROUTER"));
}

TEST_CASE("control connection: who is no DEALER of ZMTP 3 is put out") {
  const auto greeting = test::as_text(zmtp::greeting());
  auto curve = greeting;
  curve.replace(12, 5, "CURVE");
  auto second = greeting;
  second[10] = 1;  // ZMTP 2
  std::string half_a_property("\x05READY\x0bSocket-Type\0\0\1\6DEALER", 28);
  for (const auto& bytes :
       {greeting + zmtp::ready_frame("REQ"), greeting + zmtp::ready_frame("ROUTER"),
        greeting + zmtp::ready_frame("SUB"), greeting + control_stranger::frame("\5READY", zmtp::command),
        greeting + control_stranger::frame(half_a_property, zmtp::command),
        greeting + control_stranger::frame(std::string("\xff", 1), zmtp::command),
        greeting + control_stranger::frame("", zmtp::command), greeting + control_stranger::frame("hello"),
        greeting + control_stranger::frame("\5READY" + std::string(5'000, 'x'), zmtp::command), curve, second,
        std::string("\1\0", 2), std::string("GET / HTTP/1.1\r\n\r\n")}) {
    fixture f;
    CHECK(f.say(bytes) == event::broken);
    CHECK(f.connection.why().empty());
    CHECK_FALSE(f.connection.ready());
  }
}

TEST_CASE("control connection: one frame is one message, and no longer than it may be") {
  for (const auto& bytes :
       {control_stranger::frame("part", zmtp::more), control_stranger::frame("", zmtp::more),
        std::string("\2\0\0\0\0\0\1\0\1", 9), std::string("\2\xff\xff\xff\xff\xff\xff\xff\xff", 9)}) {
    fixture f;
    CHECK(f.say(dealer()) == event::nothing);
    CHECK(f.say(bytes) == event::broken);
    CHECK_FALSE(f.connection.why().empty());
  }
}

TEST_CASE("control connection: a ping is answered with its context, unknown commands are ignored, too many are not") {
  fixture f;
  CHECK(f.say(dealer()) == event::nothing);
  (void)f.read();
  CHECK(f.say(control_stranger::frame(std::string("\4PING\0\0context", 14), zmtp::command)) == event::nothing);
  CHECK(f.connection.flush() == control_connection::written::all);
  CHECK(f.read() == control_stranger::frame("\4PONGcontext", zmtp::command));
  const auto unknown = control_stranger::frame("\11SUBSCRIBEall", zmtp::command);
  for (int n = 0; n < 199; ++n) REQUIRE(f.say(unknown) == event::nothing);
  f.now += std::chrono::seconds(1);
  for (int n = 0; n < 200; ++n) REQUIRE(f.say(unknown) == event::nothing);
  CHECK(f.say(unknown) == event::broken);
  CHECK(f.frames.empty());
}

TEST_CASE("control connection: what a peer said before it went is read, then comes the end") {
  fixture f;
  f.write(dealer() + control_stranger::frame("farewell"));
  f.peer.reset();
  f.connection.readable(true);
  CHECK(f.drain() == event::closed);
  CHECK(f.frames == std::vector<std::string>{"farewell"});
}

TEST_CASE("control connection: what a full socket does not take waits, and goes out in order") {
  fixture f;
  CHECK(f.say(dealer()) == event::nothing);
  (void)f.read();
  std::string sent;
  std::string got;
  for (int n = 0; n < 2'000; ++n) {
    const std::string frame(static_cast<std::size_t>(n) % 700, static_cast<char>('a' + n % 26));
    REQUIRE(f.connection.append(std::as_bytes(std::span(frame))));
    sent += control_stranger::frame(frame);
    if (n % 10 == 0) (void)f.connection.flush();
  }
  CHECK(f.connection.flush() == control_connection::written::none);
  CHECK(f.connection.unsent() > 0);
  for (auto done = control_connection::written::some; done != control_connection::written::all;) {
    got += f.read();
    done = f.connection.flush();
    REQUIRE(done != control_connection::written::failed);
  }
  for (auto more = f.read(); !more.empty(); more = f.read()) got += more;
  CHECK((got == sent));
  CHECK(f.connection.kept() == 0);
  f.peer.reset();
  CHECK(f.connection.append({}));
  CHECK(f.connection.flush() == control_connection::written::failed);
}

TEST_CASE("control connection: a large frame leaves no large buffer behind") {
  const auto large = control_stranger::frame(std::string(wire::max_control_bytes, 'x'));
  for (const auto* rest : {"", "\2"}) {  // nothing, or the first byte of the next frame
    fixture f;
    CHECK(f.say(dealer()) == event::nothing);
    CHECK(f.say(large + rest) == event::nothing);
    CHECK(f.frames.size() == 1);
    CHECK(f.connection.kept() <= idle_bytes);
  }
}

TEST_CASE("control connection: the memory of its buffers counts, not only what is in them") {
  fixture f;
  CHECK(f.say(dealer()) == event::nothing);
  std::span<const std::byte> frame;
  f.write(control_stranger::frame(std::string(wire::max_control_bytes, 'x')));
  REQUIRE(f.connection.receive(frame, f.now) == event::frame);
  CHECK(f.connection.kept() >= wire::max_control_bytes);
  CHECK(f.connection.kept() <= control_connection::max_buffered);
  f.frames.clear();
  CHECK(f.drain() == event::nothing);
  // of what goes out, a piece counts until all of it is gone
  (void)f.read();
  const std::string answer(wire::max_control_bytes, 'y');
  while (f.connection.unsent() == 0) {
    REQUIRE(f.connection.append(std::as_bytes(std::span(answer))));
    (void)f.connection.flush();
  }
  REQUIRE(f.connection.unsent() < answer.size());  // the kernel took a part
  CHECK(f.connection.kept() >= answer.size());
}
