// `orc play`, once its command line is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/play/keyboard.h"
#include "tools/orc/play/play_clock.h"
#include "tools/orc/play/play_output.h"
#include "tools/orc/play/player.h"
#include "tools/orc/play/position_bar.h"
#include "tools/orc/play/read_ahead.h"
#include "tools/orc/recording/merged_recording.h"
#include "tools/orc/recording/recording_time.h"

namespace orc::cli {

struct play_options {
  std::vector<std::string> files;
  play_output_options output;
  double rate = 1;
  std::optional<recording_time> start;
  std::optional<recording_time> end;
  bool loop = false;
  bool paused = false;
  bool wait_for_subscribers = false;
  double linger_s = 0.2;
  std::string clock;
  bool json = false;
};

class play_command {
 public:
  explicit play_command(const play_options& options) : options_(options) {}

  // Returns the exit code.
  int run();

 private:
  int open();
  int choose_range();
  int register_topics();
  int wait_for_subscribers();
  int play();
  void listen(player& of, keyboard& keys, position_bar& bar, play_clock* clock);
  void press(player& of, key pressed, position_bar& bar);
  void suspend(player& of, keyboard& keys, position_bar& bar);
  int finish(const play_status& done);
  void note_all(const std::vector<std::string>& texts);

  const play_options& options_;
  console out_;
  const detail::stop_signal stop_;
  std::unique_ptr<merged_recording> source_;
  std::optional<play_output> output_;
  publisher clock_;
  play_range range_;
  bool quit_ = false;
  bool incomplete_ = false;
};

}  // namespace orc::cli
