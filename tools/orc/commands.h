// The commands of `orc`. Each adds itself to the application and sets `exit_code` when it has run.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_bench(CLI::App& app, int& exit_code);
void add_bridge(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_host(CLI::App& app, int& exit_code);
void add_log(CLI::App& app, int& exit_code);
void add_param(CLI::App& app, int& exit_code);
void add_play(CLI::App& app, int& exit_code);
void add_record(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_service(CLI::App& app, int& exit_code);
void add_top(CLI::App& app, int& exit_code);
void add_topic(CLI::App& app, int& exit_code);
void add_type(CLI::App& app, int& exit_code);
void add_web(CLI::App& app, int& exit_code);

}  // namespace orc::cli
