#include "network/three_hosts.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/proc_stats.h"
#include "support/wait_until.h"

namespace orc::test {

namespace {

// As control loops are: the slowest send is then that of ORC, and not a pause that other programs caused. Where the
// machine does not allow it, the process stays as it is.
void make_real_time(pid_t process) {
  const sched_param lowest{.sched_priority = 1};
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task"))
    (void)::sched_setscheduler(std::stoi(thread.path().filename()), SCHED_FIFO, &lowest);
}

}  // namespace

three_hosts::three_hosts(lab& hosts, std::string transport, bool with_broker)
    : hosts_(hosts), transport_(std::move(transport)), wanted_(transport_ == "tcp" ? "any" : transport_) {
  if (with_broker) broker_.emplace(hosts[0]);
  const std::string broker = with_broker ? broker_->endpoint() : "none";
  const std::string network = "ORC_MULTICAST=udpm://239.255.76.67:7667?ttl=1";
  publisher_ = node_on(hosts[1], broker, {network});
  subscriber_ = node_on(hosts[2], broker, {network});
  make_real_time(inner_pid(publisher_->process()));
  publisher_->must("register pose " + transport_);
  subscriber_->must("request pose " + wanted_ + " 0 1000 5000");
  publisher_->must("stream pose 100 100 0");
  subscriber_->must("collect pose");
  if (!wait_until([&] { return received() > 10; })) throw std::runtime_error("nothing arrives");
}

bool three_hosts::is_published() {
  std::istringstream table(hosts_[0].sh(program("orc") + " topic list -v --broker " + broker_->endpoint()));
  for (std::string topic, publisher, rest; table >> topic >> publisher; std::getline(table, rest)) {
    if (topic == "pose") return publisher != "-";
  }
  return false;
}

void three_hosts::await_samples(std::uint64_t samples) {
  const auto before = received();
  if (!wait_until([&] { return received() >= before + samples; }))
    throw std::runtime_error("the stream does not go on");
}

std::uint64_t three_hosts::last_sent() {
  (void)publisher_->ask("stop pose");
  return publisher_->progress("pose").sent;
}

three_hosts::recovery three_hosts::after(const cut& what, std::chrono::milliseconds length) {
  const auto fail = [&] {
    if (what.from)
      hosts_.cut_between(what.host, *what.from, what.how);
    else
      hosts_.cut(what.host, what.how);
  };
  return after(
      fail, [&] { hosts_.mend(what.host); }, length, 1);
}

three_hosts::recovery three_hosts::after(const std::function<void()>& fail, const std::function<void()>& mend,
                                         std::chrono::milliseconds length, std::uint64_t samples) {
  const std::string later = "later" + std::to_string(++outages_);
  subscriber_->must("request " + later + " " + wanted_ + " 1 0 0");
  fail();
  // Late enough for the call to wait until the path is back.
  const auto registers_before_end = std::min<std::chrono::milliseconds>(length / 2, std::chrono::seconds(10));
  std::this_thread::sleep_for(length - registers_before_end);
  publisher_->tell("register " + later + " " + transport_);
  std::this_thread::sleep_for(registers_before_end);
  const auto before = received();
  mend();
  const auto mended = std::chrono::steady_clock::now();
  recovery took;
  (void)wait_until([&] {
    if (took.stream_ms < 0 && received() >= before + samples) took.stream_ms = ms_since(mended);
    if (took.map_ms < 0 && !subscriber_->ask("link " + later).starts_with("none")) took.map_ms = ms_since(mended);
    return took.stream_ms >= 0 && took.map_ms >= 0;
  });
  if (publisher_->answer() != "ok") throw std::runtime_error("cannot register during an outage");
  publisher_->must("unregister " + later);
  subscriber_->must("release " + later);
  return took;
}

void three_hosts::reset(std::size_t host) {
  hosts_.cut(host, outage::reset);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // some samples try
  const auto before = received();
  hosts_.mend(host);
  if (!wait_until([&] { return received() > before; })) throw std::runtime_error("the stream does not come back");
  if (!wait_until([&] { return is_published(); })) throw std::runtime_error("the publisher does not come back");
}

three_hosts::footprint three_hosts::footprints() {
  footprint all;
  const pid_t processes[] = {inner_pid(broker_->process()), inner_pid(publisher_->process()),
                             inner_pid(subscriber_->process())};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto now = stats_of(processes[i]);
    all.fds[i] = now.fds;
    all.rss_kib[i] = now.rss_kib;
  }
  return all;
}

}  // namespace orc::test
