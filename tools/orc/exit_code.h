// Exit codes of `orc`, for scripts. Shown by `orc --help`: keep `help` in step.
#pragma once

namespace orc::cli::exit_code {

inline constexpr int ok = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
inline constexpr int no_topic = 3;
inline constexpr int timed_out = 4;
inline constexpr int disk_full = 5;
inline constexpr int not_reproducible = 6;
inline constexpr int interrupted = 130;  // 128 + SIGINT, as shells have it

inline constexpr const char* help =
    "Exit codes:\n"
    "  0    done; also Ctrl-C for a command that has no other end, and a closed pipe\n"
    "  1    error: no broker, topic taken by another publisher, ...\n"
    "  2    usage\n"
    "  3    no such topic, or no publisher of it\n"
    "  4    timed out\n"
    "  5    the disk was full; the recording is complete up to then\n"
    "  6    a trace that cannot be replayed exactly\n"
    "  130  Ctrl-C before -n or --once was complete";

}  // namespace orc::cli::exit_code
