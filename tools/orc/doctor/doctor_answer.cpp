// orc doctor --answer: the other host's part of `orc doctor --to`.
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <sstream>

#include "tools/orc/console.h"
#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_conversation.h"
#include "tools/orc/doctor/group_probe.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

using clock = detail::stop_signal::clock;

constexpr int max_questions = 100;
constexpr auto max_conversation = std::chrono::seconds(20);  // others wait for their turn
constexpr std::size_t max_word_length = 64;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("?");
}

std::string now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::uint16_t port_in(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  return problem == std::errc() && end == text.data() + text.size() ? port : std::uint16_t{0};
}

class answerer {
 public:
  answerer(const detail::stop_signal& stop, std::uint16_t data_port, wire::multicast_url url)
      : stop_(stop), data_port_(data_port), url_(std::move(url)) {
    auto opened = group_probe::open(url_);
    if (opened)
      group_.emplace(*std::move(opened));
    else
      no_group_ = opened.error().message();
  }

  [[nodiscard]] const std::string& no_group() const { return no_group_; }

  void converse(doctor_line with) {
    const auto until = clock::now() + max_conversation;
    for (int n = 0; n < max_questions && clock::now() < until; ++n) {
      const auto question = with.hear(stop_);
      const auto peer = with.peer();
      if (!question || !peer || !with.say(answer(*question, *peer))) return;
    }
  }

 private:
  [[nodiscard]] std::string answer(const std::string& question, const detail::ip_address& peer) {
    if (question == doctor_greeting)
      return std::string(doctor_greeting) + " " + std::to_string(data_port_) + " " + url_.text() + " " + host_name();
    if (question == "time") return now_ns();
    std::istringstream words(question);
    std::string verb;
    std::string word;
    std::string how;
    words >> verb >> word >> how;
    if (word.empty() || word.size() > max_word_length) return "no such question";
    if (verb == "connect") return connect({peer, port_in(word)});
    if (verb == "send") return send(word, how == "large" ? group_probe::size::large : group_probe::size::small);
    if (verb == "heard") return (group_ ? group_->heard(word) : std::nullopt).value_or("no");
    return "no such question";
  }

  // Only to whoever asks.
  [[nodiscard]] std::string connect(const detail::ip_port& to) const {
    auto made = doctor_line::connect(to, stop_);
    if (!made) return "no " + made.error().message();
    return made->carries_full_packets(stop_) ? "ok" : std::string("no connected") + loses_full_packets;
  }

  [[nodiscard]] std::string send(const std::string& word, group_probe::size how) {
    if (!group_) return "no " + no_group_;
    const auto sent = group_->send(word, how);
    return sent ? "ok" : "no " + sent.error().message();
  }

  const detail::stop_signal& stop_;
  std::uint16_t data_port_;
  wire::multicast_url url_;
  std::optional<group_probe> group_;
  std::string no_group_;
};

detail::unique_fd accepted(const detail::unique_fd& door) {
  return detail::unique_fd(::accept4(door.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

}  // namespace

int answer_doctors(const wire::multicast_url& url, std::uint16_t port) {
  console out;
  const detail::stop_signal stop;
  auto door = listen_for_doctor(port);
  std::uint16_t data_port = 0;
  auto data = listen_on_data_port(data_port);
  for (const auto* each : {&door, &data}) {
    if (*each) continue;
    out.note(each->error().message());
    return exit_code::failed;
  }
  const auto& doctors = *door;
  const auto& visitors = *data;
  answerer answers(stop, data_port, url);
  if (!answers.no_group().empty()) out.note("multicast " + url.text() + ": " + answers.no_group());
  out.line("answers 'orc doctor --to " + host_name() + "' at port " + std::to_string(port) + ", until Ctrl-C");
  while (stop.wait_readable(doctors.get(), clock::time_point::max())) {
    doctor_line with(accepted(doctors));
    const auto peer = with.peer();
    if (!peer) continue;
    out.line(peer->text() + " asks");
    answers.converse(std::move(with));
    while (accepted(visitors)) {  // that they could connect is all there is to it
    }
    if (out.reader_gone() || out.failed()) break;
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace orc::cli
