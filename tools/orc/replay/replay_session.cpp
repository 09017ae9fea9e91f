#include "tools/orc/replay/replay_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "tools/orc/exit_code.h"
#include "tools/orc/replay/sample_difference.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t max_word = std::uint64_t{1} << 32;  // bytes that the program may say at once
constexpr auto to_end = 2s;                                 // that a program has after SIGTERM
constexpr auto to_finish_word = 5s;
constexpr std::size_t piece = std::size_t{1} << 20;  // so much memory is taken before that many bytes came
constexpr auto to_leave = 10s;                       // that a program has which ended by itself when it was traced

}  // namespace

replay_session::replay_session(const replay_options& options, const trace_file& trace, console& out)
    : options_(options), trace_(trace), out_(out) {}

replay_session::~replay_session() {
  program_.kill();
  if (counters_ != nullptr) munmap(counters_, sizeof *counters_);
}

bool replay_session::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  socket_.reset(ends[0]);
  const detail::unique_fd theirs(ends[1]);
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  memory_.reset(memfd_create("orc-replay", 0));
  if (!memory_ || ftruncate(memory_.get(), sizeof(wire::replay_counters)) != 0) return false;
  void* const at = mmap(nullptr, sizeof(wire::replay_counters), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (at == MAP_FAILED) return false;
  counters_ = new (at) wire::replay_counters{};
  program_ = detail::child_process::start(
      options_.program,
      {"ORC_REPLAY=" + options_.file, "ORC_TRACE=",
       "ORC_REPLAY_CONTROL=" + std::to_string(theirs.get()) + "," + std::to_string(memory_.get()) + "," +
           (options_.original_pace ? "original" : "fast")},
      {});
  progress_at_ = clock::now();
  return true;
}

int replay_session::run() {
  if (!start()) {
    out_.note(std::string("cannot start the replay: ") + std::strerror(errno));
    return exit_code::failed;
  }
  while (state_ == state::running) listen();
  end_program();
  if (detail::stop_signal::raised()) return exit_code::interrupted;
  const std::string counts =
      std::to_string(counters_->receives.load()) + " receives, " + std::to_string(counters_->sends.load()) + " sends";
  if (padding_ != 0)
    out_.note(std::to_string(padding_) + " sends have equal fields and other bytes between them (padding)");
  if (state_ == state::equal && differences_ == 0) {
    out_.line("replayed " + counts + ": equal");
    return exit_code::ok;
  }
  if (state_ == state::equal) out_.line("replayed " + counts + ": " + std::to_string(differences_) + " differ");
  return state_ == state::stalled ? exit_code::not_reproducible : exit_code::failed;
}

// ---- the program's words ----

void replay_session::listen() {
  const bool readable = stop_.wait_readable(socket_.get(), clock::now() + 20ms);
  if (detail::stop_signal::raised()) {
    state_ = state::failed;
    return;
  }
  if (readable) return hear();
  if (const auto status = program_.status()) return program_left(*status);
  look_for_progress();
}

// The program says whole words at once. One that stops within a word must not hold us.
bool replay_session::read_all(void* to, std::size_t size) const {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = recv(socket_.get(), at, size, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && stop_.wait_readable(socket_.get(), clock::now() + to_finish_word)) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void replay_session::hear() {
  wire::replay_word word;
  std::vector<std::byte> bytes;
  const bool whole = read_all(&word, sizeof word) && word.size <= max_word;
  bool complete = whole;
  while (complete && bytes.size() < word.size) {
    const std::size_t had = bytes.size();
    bytes.resize(std::min<std::uint64_t>(word.size, had + piece));
    complete = read_all(bytes.data() + had, bytes.size() - had);
  }
  if (!complete) return program_left(program_.wait(to_end).value_or(0));
  wire::replay_answer answer = wire::replay_answer::stop;
  switch (word.kind) {
    case wire::replay_says::hello:
      answer = replays_ ? wire::replay_answer::stop : wire::replay_answer::go;
      replays_ = true;
      break;
    case wire::replay_says::differs: answer = compare(word.position, bytes); break;
    case wire::replay_says::diverged:
      state_ = state::diverged;
      out_.line(place(word.position) + ": " + escaped(as_text(bytes)));
      out_.line("the program left the track: it reads another clock, input, file or random number than then");
      return;
    case wire::replay_says::finished: state_ = state::equal; return;
    case wire::replay_says::unreadable:
      state_ = state::failed;
      out_.note(place(word.position) + ": " + escaped(as_text(bytes)));
      return;
  }
  (void)!write(socket_.get(), &answer, sizeof answer);
}

wire::replay_answer replay_session::compare(std::uint64_t position, std::span<const std::byte> now) {
  const auto call = trace_.call_at(position);
  if (!call) return wire::replay_answer::stop;
  const std::uint32_t number = trace_.index().calls()[*call].number;
  auto [known, fresh] = decoders_.try_emplace(number);
  if (fresh) known->second = trace_.decoder_of(number);
  const auto then = trace_.reader().at(position);
  if (!then) {
    out_.note("the trace was changed or cut while it is replayed");
    state_ = state::failed;
    return wire::replay_answer::stop;
  }
  const auto difference = first_difference(known->second.get(), then->bytes, now);
  if (!difference) {
    ++padding_;
    return wire::replay_answer::go;
  }
  if (++differences_ == 1) {
    out_.line(place(position) + ": " + escaped(trace_.index().text_of(trace_.index().calls()[*call])) + ": " +
              *difference);
    out_.line(
        "The program or its configuration changed, or it uses what a trace does not have: another clock, input, file "
        "or random number");
  }
  if (options_.keep_going) return wire::replay_answer::go;
  state_ = state::differs;
  return wire::replay_answer::stop;
}

std::string replay_session::place(std::uint64_t position) const {
  const auto call = trace_.call_at(position);
  if (!call) return "behind the last call of the trace";
  return "call " + std::to_string(*call + 1) + " of " + std::to_string(trace_.index().calls().size()) + ", after " +
         fixed(trace_.seconds_at(*call), 6) + " s";
}

// ---- the end ----

void replay_session::program_left(int status) {
  state_ = state::diverged;
  if (!replays_) {
    state_ = state::failed;
    const bool absent = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    out_.note(absent ? "cannot start " + escaped(options_.program.front())
                     : "the program ended without making a participant that replays; it needs liborc (not orc.pure) of "
                       "this version");
    return;
  }
  const std::string how = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                              : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const std::uint64_t done = counters_->events;
  out_.line("the program " + how + " after " + std::to_string(done) + " of " +
            std::to_string(trace_.index().calls().size()) + " calls; in the trace it called " +
            (done < trace_.index().calls().size() ? escaped(trace_.index().text_of(trace_.index().calls()[done]))
                                                  : std::string("nothing more")));
}

void replay_session::look_for_progress() {
  const std::uint64_t events = counters_->events;
  const auto now = clock::now();
  if (events != seen_events_) {
    seen_events_ = events;
    progress_at_ = now;
    return;
  }
  double allowed = options_.patience_s;
  const auto& calls = trace_.index().calls();
  if (events > 0 && events < calls.size())
    allowed += std::max(0.0, trace_.seconds_at(events) - trace_.seconds_at(events - 1));
  if (std::chrono::duration<double>(now - progress_at_).count() < allowed) return;
  const std::string where = fixed(allowed, 0) + " s after " + std::to_string(events) + " of " +
                            std::to_string(calls.size()) + " calls; in the trace it called " +
                            (events < calls.size() ? escaped(trace_.index().text_of(calls[events])) : "nothing more");
  if (counters_->waiting != 0) {
    state_ = state::stalled;
    out_.note("not reproducible: the program makes no further call for " + where +
              ". Another thread is in a later call and waits for that one. It may hold a lock that the first thread "
              "needs: release locks of your own before calls of ORC");
    return;
  }
  state_ = state::diverged;
  out_.line("the program makes no further call for " + where);
}

// A program that ended by itself then does so now. Others are told to.
void replay_session::end_program() {
  if (state_ == state::equal && trace_.index().ended() && program_.wait(to_leave)) return;
  (void)program_.send_signal(SIGTERM);
  if (!program_.wait(to_end)) program_.kill();
}

}  // namespace orc::cli
