// How punctual a player is: `orc play` beside lcm-logplayer on the same LCM log, interleaved, measured by one receiver
// with the kernel's receive times. The log has a message each period; the error of a message is how much later it came,
// against its time in the log, than the most punctual message of the same run. Beside it: how much the distance of two
// messages differs from the period.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "benchmarks/support/command_line.h"
#include "orc/recording/writer.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr const char* group = "239.255.76.68";
constexpr std::uint16_t port = 7668;
constexpr const char* channel = "PACE";
constexpr std::uint32_t short_message = 0x4c433032;  // "LC02": a message in one datagram
constexpr int quiet_ms = 300;                        // what has not come after a silence of that length is lost

struct player_options {
  common_options common;
  std::vector<std::string> rate_names{"1k", "10k"};
  std::vector<std::size_t> rates;
  double seconds = 5;
  int rounds = 5;
  std::size_t size = 100;
  std::string orc;
  std::string lcm = "lcm-logplayer";
};

enum class rival { orc, lcm };

const char* name_of(rival which) { return which == rival::orc ? "orc play" : "lcm-logplayer"; }

struct trial {
  summary late;
  summary distance;
  std::size_t lost = 0;
};

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

// Hears the group; each datagram with the time at which the kernel received it.
class timed_receiver {
 public:
  timed_receiver() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const int on = 1;
    const int buffer = 32 << 20;
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(port);
    ip_mreq join{};
    ::inet_pton(AF_INET, group, &here.sin_addr);
    join.imr_multiaddr = here.sin_addr;
    check(::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0, "SO_REUSEADDR");
    check(::setsockopt(socket_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0, "SO_TIMESTAMPNS");
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    check(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0, "bind");
    check(::setsockopt(socket_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) == 0, "join the group");
  }

  // Waits for datagrams. False: none came in that time.
  bool wait(int timeout_ms) {
    pollfd item = {socket_.get(), POLLIN, 0};
    return ::poll(&item, 1, timeout_ms) > 0;
  }
  // Reads one; -1 in `number`: it is none of ours. False: there is none.
  bool take(std::int64_t& number, std::int64_t& received_ns) {
    std::array<std::byte, 65536> bytes;
    std::array<char, 256> control{};
    iovec part = {bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket_.get(), &message, 0);
    if (size < 0) return false;
    number = -1;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec time{};
      std::memcpy(&time, CMSG_DATA(each), sizeof time);
      received_ns = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
    }
    std::uint32_t magic = 0;
    const std::size_t name = std::strlen(channel) + 1;
    if (static_cast<std::size_t>(size) < 8 + name + sizeof number) return true;
    std::memcpy(&magic, bytes.data(), sizeof magic);
    if (ntohl(magic) == short_message && std::memcmp(bytes.data() + 8, channel, name) == 0)
      std::memcpy(&number, bytes.data() + 8 + name, sizeof number);
    return true;
  }

 private:
  detail::unique_fd socket_;
};

void write_log(const std::string& path, std::size_t rate, std::size_t count, std::size_t size) {
  std::unique_ptr<recording::writer> writer;
  recording::channel_id id = 0;
  recording::channel added;
  added.topic = channel;
  const auto must = [](const result& done) {
    if (!done) throw std::runtime_error(done.error().message());
  };
  must(recording::create_lcm_log(path, true, writer));
  must(writer->add_channel(added, id));
  std::vector<std::byte> data(std::max(size, sizeof(std::int64_t)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    std::memcpy(data.data(), &number, sizeof number);
    const std::int64_t time = 1'700'000'000'000'000'000 + number * 1'000'000'000 / static_cast<std::int64_t>(rate);
    must(writer->write({id, i + 1, time, time, data}));
  }
  must(writer->close());
}

// The receive times by number; 0: lost.
std::vector<std::int64_t> receive(timed_receiver& from, detail::child_process& player, std::size_t count) {
  std::vector<std::int64_t> times(count, 0);
  std::size_t left = count;
  while (left != 0 && !interrupted()) {
    if (!from.wait(quiet_ms)) {
      if (player.status()) break;
      continue;
    }
    std::int64_t number = 0;
    std::int64_t received_ns = 0;
    while (from.take(number, received_ns)) {
      if (number < 0 || static_cast<std::size_t>(number) >= count) continue;
      auto& place = times[static_cast<std::size_t>(number)];
      if (std::exchange(place, received_ns) == 0) --left;
    }
  }
  return times;
}

trial run(const player_options& o, rival which, const std::string& log, std::size_t rate) {
  const std::string url = "udpm://" + std::string(group) + ":" + std::to_string(port) + "?ttl=0";
  const auto count = static_cast<std::size_t>(static_cast<double>(rate) * o.seconds);
  timed_receiver receiver;
  const std::vector<std::string> words =
      which == rival::orc ? std::vector<std::string>{o.orc, "play", "--multicast", url, "--linger", "0", log}
                          : std::vector<std::string>{o.lcm, "--lcm-url=" + url, log};
  const detail::unique_fd none(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto player = detail::child_process::start(words, {}, {none.get(), none.get(), -1});
  const std::vector<std::int64_t> times = receive(receiver, player, count);
  static_cast<void>(player.wait(std::chrono::seconds(10)));

  trial done;
  const auto due = [&](std::size_t i) {
    return static_cast<std::int64_t>(i) * 1'000'000'000 / static_cast<std::int64_t>(rate);
  };
  std::vector<std::int64_t> late;
  std::vector<std::int64_t> distance;
  for (std::size_t i = 0; i < count; ++i) {
    if (times[i] == 0) {
      ++done.lost;
      continue;
    }
    late.push_back(times[i] - due(i));
    if (i > 0 && times[i - 1] != 0) distance.push_back(std::abs(times[i] - times[i - 1] - (due(i) - due(i - 1))));
  }
  if (late.empty()) throw std::runtime_error(std::string("no message of ") + name_of(which) + " came");
  const std::int64_t best = *std::min_element(late.begin(), late.end());
  for (std::int64_t& each : late) each -= best;
  done.late = summarize(late);
  done.distance = summarize(distance);
  return done;
}

template <class Get>
double middle(const std::vector<trial>& of, Get get) {
  std::vector<double> values;
  for (const trial& each : of) values.push_back(get(each));
  return median(values);
}

void report(const player_options& o, std::size_t rate, const std::map<rival, std::vector<trial>>& of,
            std::vector<json_value>& objects, table& lines) {
  for (const auto& each_rival : of) {
    const rival which = each_rival.first;
    const std::vector<trial>& trials = each_rival.second;
    const auto late = [&](double summary::*m) { return middle(trials, [&](const trial& t) { return t.late.*m; }); };
    const double distance = middle(trials, [](const trial& t) { return t.distance.p99; });
    std::size_t lost = 0;
    for (const trial& each : trials) lost += each.lost;
    lines.push_back({std::to_string(rate), name_of(which), us(late(&summary::p50)), us(late(&summary::p99)),
                     us(late(&summary::p999)), us(late(&summary::max)), us(distance), std::to_string(lost)});
    objects.push_back({{"player", name_of(which)},
                       {"rate_hz", rate},
                       {"size", o.size},
                       {"rounds", trials.size()},
                       {"p50_us", late(&summary::p50)},
                       {"p99_us", late(&summary::p99)},
                       {"p999_us", late(&summary::p999)},
                       {"max_us", late(&summary::max)},
                       {"distance_p99_us", distance},
                       {"lost", lost}});
  }
}

int measure(player_options& o) {
  const interruptible on_ctrl_c;
  const scratch_dir scratch;
  if (o.orc.empty()) o.orc = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orc";
  o.common.print_machine();
  std::vector<json_value> objects;
  table lines{{"rate/s", "player", "p50", "p99", "p99.9", "max", "distance p99", "lost"}};
  for (const std::size_t rate : o.rates) {
    const std::string log = scratch.path() + "/" + std::to_string(rate) + ".log";
    write_log(log, rate, static_cast<std::size_t>(static_cast<double>(rate) * o.seconds), o.size);
    std::map<rival, std::vector<trial>> of;
    for (int i = 0; i < 2 * o.rounds && !interrupted(); ++i) {
      const rival which = (i + i / 2) % 2 == 0 ? rival::orc : rival::lcm;  // who begins takes turns
      std::fprintf(stderr, "%zu/s, %s\n", rate, name_of(which));
      of[which].push_back(run(o, which, log, rate));
    }
    if (interrupted()) return interrupted_exit_code();
    report(o, rate, of, objects, lines);
  }
  std::fprintf(o.common.tables(),
               "\nHow late messages are against the most punctual one of their run, in microseconds; medians of %d "
               "rounds\n\n",
               o.rounds);
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::system_error(errno, std::generic_category(), o.common.json);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  player_options o;
  command_line app("How punctual orc play and lcm-logplayer are", "player");
  add_size(app, "--rate", o.rate_names, "Messages per second, of several runs");
  app.add_option("--seconds", o.seconds, "Length of the log").between(0.1, 3600.0);
  app.add_option("--rounds", o.rounds, "Runs of each player").between(1, 1000);
  app.add_option("--size", o.size, "Bytes per message").between(8, 60000);
  app.add_option("--orc", o.orc, "Default: orc beside this program", "FILE");
  app.add_option("--lcm-logplayer", o.lcm, "The other player", "FILE");
  app.add_option("--json", o.common.json, "Write JSON to FILE, - is stdout (tables then go to stderr)", "FILE|-");
  return main_of(app, argc, argv, [&] {
    o.rates = sizes_named(o.rate_names);
    return measure(o);
  });
}
