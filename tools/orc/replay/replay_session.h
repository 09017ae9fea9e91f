// One run of a program against its trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/replay/trace_file.h"
#include "wire/replay_control.h"

namespace orc::cli {

struct replay_options {
  std::string file;
  std::vector<std::string> program;
  bool original_pace = false;
  bool keep_going = false;
  bool list = false;
  bool anyway = false;
  double patience_s = 30;
};

// Main thread.
class replay_session {
 public:
  replay_session(const replay_options& options, const trace_file& trace, console& out);
  ~replay_session();
  replay_session(const replay_session&) = delete;
  replay_session& operator=(const replay_session&) = delete;

  // Returns the exit code. What differs is a line on stdout.
  int run();

 private:
  using clock = std::chrono::steady_clock;
  enum class state { running, equal, differs, diverged, stalled, failed };

  [[nodiscard]] bool start();
  void listen();
  [[nodiscard]] bool read_all(void* to, std::size_t size) const;
  void hear();
  [[nodiscard]] wire::replay_answer compare(std::uint64_t position, std::span<const std::byte> now);
  void end_program();
  void program_left(int status);
  void look_for_progress();
  [[nodiscard]] std::string place(std::uint64_t position) const;

  const replay_options& options_;
  const trace_file& trace_;
  console& out_;
  const detail::stop_signal stop_;
  detail::unique_fd socket_;
  detail::unique_fd memory_;
  wire::replay_counters* counters_ = nullptr;
  detail::child_process program_;
  state state_ = state::running;
  bool replays_ = false;  // a process of the program said hello
  std::uint64_t differences_ = 0;
  std::uint64_t padding_ = 0;  // sends that differed in no field
  std::uint64_t seen_events_ = 0;
  clock::time_point progress_at_;
  std::map<std::uint32_t, std::unique_ptr<types::decoder>> decoders_;
};

}  // namespace orc::cli
