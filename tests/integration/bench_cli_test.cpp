// `orc bench rtt` and `load` as people and scripts use it. What it measures is never judged here: speed belongs to
// benchmarks/.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// TMPDIR is a directory of the test's own: what the tool leaves behind would be seen there.
std::vector<std::string> environment(const orc::detail::temporary_directory& directory) {
  return {"TMPDIR=" + directory.path().string(), "orc=" + program("orc")};
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

outcome run(const orc::detail::temporary_directory& directory, const std::string& command) {
  const orc::detail::temporary_directory scratch;
  child_process shell({"/bin/bash", "-c", "{ " + command + "\n} 2> " + scratch.file("err")}, environment(directory));
  shell.close_input();
  outcome done;
  done.out = shell.read_all();
  const auto status = shell.wait();
  if (status && WIFEXITED(*status)) done.exit_code = WEXITSTATUS(*status);
  done.err = content_of(scratch.file("err"));
  return done;
}

bool is_empty(const orc::detail::temporary_directory& directory) { return std::filesystem::is_empty(directory.path()); }

using row = std::map<std::string, std::string>;

// A list of flat objects, as the tool writes it. Fails on anything else.
std::vector<row> rows_of(const std::string& json) {
  static const std::regex list(R"(\s*\[\s*(\{[^{}]*\}\s*,\s*)*\{[^{}]*\}\s*\]\s*)");
  REQUIRE(std::regex_match(json, list));
  static const std::regex object(R"(\{([^{}]*)\})");
  static const std::regex member(R"re("(\w+)"\s*:\s*("[^"]*"|\[[^\]]*\]|[-0-9.e]+))re");
  std::vector<row> rows;
  for (std::sregex_iterator o(json.begin(), json.end(), object), end; o != end; ++o) {
    const std::string inside = (*o)[1];
    row r;
    for (std::sregex_iterator m(inside.begin(), inside.end(), member); m != std::sregex_iterator(); ++m) {
      r[(*m)[1]] = (*m)[2];
    }
    rows.push_back(r);
  }
  return rows;
}

double number(const row& r, const std::string& key) {
  REQUIRE(r.count(key) == 1);
  return std::stod(r.at(key));
}

void check_row(const row& r, const std::string& transport, double size, double messages) {
  INFO(transport << ", " << size << " bytes");
  CHECK(r.at("transport") == '"' + transport + '"');
  CHECK(number(r, "size") == size);
  CHECK(number(r, "messages") == messages);
  const char* ascending[] = {"min_us", "p25_us", "p50_us", "p75_us", "p90_us", "p99_us", "p999_us", "max_us"};
  double previous = 0;
  for (const char* key : ascending) {
    const double value = number(r, key);
    INFO(key);
    CHECK(value >= previous);
    previous = value;
  }
  CHECK(number(r, "min_us") > 0);
  CHECK(number(r, "mean_us") >= number(r, "min_us"));
  CHECK(number(r, "mean_us") <= number(r, "max_us"));
  CHECK(number(r, "whisker_low_us") <= number(r, "p25_us"));
  CHECK(number(r, "whisker_high_us") >= number(r, "p75_us"));
  CHECK(r.count("outliers_us") == 1);
}

}  // namespace

TEST_CASE("bench rtt: JSON of every transport and size, alone on stdout") {
  const orc::detail::temporary_directory directory;
  const auto done = run(
      directory, "$orc bench rtt --transport inproc,shm,ipc,tcp --size 10,1k,100k --messages 200 --warmup 10 --json -");
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  const auto rows = rows_of(done.out);
  REQUIRE(rows.size() == 12);
  std::size_t i = 0;
  for (const char* transport : {"inproc", "shm", "ipc", "tcp"}) {
    for (const double size : {10.0, 1000.0, 100'000.0}) check_row(rows[i++], transport, size, 200);
  }
  CHECK(done.err.find("Mean one-way latency") != std::string::npos);
  CHECK(is_empty(directory));
}

TEST_CASE("bench rtt: one byte, 10 MB, forwarding by move, on loan, spinning") {
  const orc::detail::temporary_directory directory;
  const auto small = run(
      directory, "$orc bench rtt --transport inproc,shm,ipc --size 1 --messages 50 --wait spin --cpu none --json -");
  INFO(small.err);
  REQUIRE(small.exit_code == 0);
  for (const row& r : rows_of(small.out)) CHECK(number(r, "messages") == 50);
  const auto large = run(
      directory, "$orc bench rtt --transport inproc,shm,ipc,tcp --size 10M --messages 5 --warmup 0 --move --json -");
  INFO(large.err);
  REQUIRE(large.exit_code == 0);
  CHECK(rows_of(large.out).size() == 4);
  const auto lent = run(directory,
                        "$orc bench rtt --transport inproc,shm,ipc,tcp --size 7,10M --messages 5 --warmup 0 --loan "
                        "--json -");
  INFO(lent.err);
  REQUIRE(lent.exit_code == 0);
  CHECK(rows_of(lent.out).size() == 8);
}

TEST_CASE("bench rtt: tables on stdout, CSV and JSON into files") {
  const orc::detail::temporary_directory directory;
  const orc::detail::temporary_directory files;
  const auto done = run(directory, "$orc bench rtt --transport ipc --size 10,100 --messages 20 --json " +
                                       files.file("rtt.json") + " --csv " + files.file("rtt.csv"));
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  CHECK(done.out.find("Mean one-way latency") != std::string::npos);
  CHECK(done.out.find("p99.9") != std::string::npos);
  CHECK(done.err.empty());  // no progress line without a terminal
  CHECK(rows_of(content_of(files.file("rtt.json"))).size() == 2);
  const std::string csv = content_of(files.file("rtt.csv"));
  CHECK(csv.rfind("transport,size,messages,mean_us,p50_us,p90_us,p99_us,p999_us,max_us\n", 0) == 0);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
}

TEST_CASE("bench rtt: what it does not understand it refuses with exit code 2") {
  const orc::detail::temporary_directory directory;
  const struct {
    const char* arguments;
    const char* says;
  } cases[] = {
      {"--transport pigeon", "no transport is called 'pigeon'"},
      {"--transport ipc,pigeon", "no transport is called 'pigeon'"},
      {"--loan --move", "--move"},
      {"--size 0", "not a size"},
      {"--size 10,banana", "not a size"},
      {"--size 10G", "not a size"},
      {"--messages 0", "messages"},
      {"--messages -3", "messages"},
      {"--wait dozing", "wait"},
      {"--cpu 0", "not two cores"},
      {"--cpu 0,100000", "core 100000"},
      {"--json - --csv -", "stdout"},
      {"--nonsense", "nonsense"},
  };
  for (const auto& each : cases) {
    const auto done = run(directory, std::string("$orc bench rtt ") + each.arguments);
    INFO(each.arguments << ": " << done.err);
    CHECK(done.exit_code == 2);
    CHECK(done.err.find(each.says) != std::string::npos);
    CHECK(done.out.empty());
  }
  CHECK(run(directory, "$orc bench").exit_code == 2);
  CHECK(is_empty(directory));
}

TEST_CASE("bench rtt: a file that cannot be written is an error that says so") {
  const orc::detail::temporary_directory directory;
  const auto done =
      run(directory, "$orc bench rtt --transport ipc --size 10 --messages 5 --json /nonexistent/rtt.json");
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("/nonexistent/rtt.json") != std::string::npos);
}

TEST_CASE("bench rtt: --help names the options and the exit codes, not the other end") {
  const orc::detail::temporary_directory directory;
  const auto done = run(directory, "$orc bench rtt --help");
  CHECK(done.exit_code == 0);
  for (const char* word : {"--transport", "--size", "--messages", "--warmup", "--wait", "--cpu", "--json", "--csv",
                           "--move", "--loan", "Exit codes"}) {
    INFO(word);
    CHECK(done.out.find(word) != std::string::npos);
  }
  CHECK(run(directory, "$orc bench --help").out.find("rtt-echo") == std::string::npos);
}

namespace {

// Processes whose parent is `pid`.
std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// A zombie is gone: whoever inherits it need not have reaped it yet.
bool exists(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z") == std::string::npos;
}

}  // namespace

TEST_CASE("bench rtt: Ctrl-C and SIGKILL leave no process behind, Ctrl-C no file either") {
  for (const int signal : {SIGINT, SIGKILL}) {
    const orc::detail::temporary_directory directory;
    child_process bench(
        {program("orc"), "bench", "rtt", "--transport", "ipc", "--size", "10", "--messages", "100000000"},
        environment(directory), child_process::errors::to_output);
    REQUIRE(wait_until([&] { return !children_of(bench.pid()).empty(); }));
    const pid_t echo = children_of(bench.pid()).front();
    bench.send_signal(signal);
    const auto status = bench.wait();
    REQUIRE(status);
    if (signal == SIGINT) {
      CHECK(WIFEXITED(*status));
      CHECK(WEXITSTATUS(*status) == 130);
      CHECK(is_empty(directory));
    }
    CHECK(wait_until([&] { return !exists(echo); }));
  }
}

namespace {

// Processes whose temporary directory is this one.
std::vector<int> processes_of(const orc::detail::temporary_directory& directory) {
  std::vector<int> found;
  const std::string mark = "TMPDIR=" + directory.path().string();
  for (const auto& each : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(each.path().filename().c_str());
    if (pid != 0 && content_of((each.path() / "environ").string()).find(mark) != std::string::npos)
      found.push_back(pid);
  }
  return found;
}

}  // namespace

TEST_CASE("bench load: a row for each load and measure, and nothing left behind") {
  const orc::detail::temporary_directory directory;
  for (const std::string load : {"none", "cpu", "memory", "disk", "network", "all"}) {
    const auto done = run(directory,
                          "$orc bench load --transport ipc --seconds 0.1 --policy other --wait predictive "
                          "--json - --load " +
                              load);
    INFO(load << ": " << done.err);
    REQUIRE(done.exit_code == 0);
    const auto rows = rows_of(done.out);
    REQUIRE(rows.size() == 4);
    std::size_t at = 0;
    for (const char* measure : {"10 B", "10 kB", "stream", "stream due"}) {
      const row& r = rows[at++];
      INFO(measure);
      CHECK(r.at("load") == '"' + load + '"');
      CHECK(r.at("measure") == std::string(1, '"') + measure + '"');
      CHECK(number(r, "count") >= 1);
      CHECK(number(r, "p50_us") > 0);
      CHECK(number(r, "max_us") >= number(r, "p99_us"));
      CHECK((r.count("missed_per_million") == 1) == (std::string(measure) == "stream due"));
    }
    CHECK_THAT(done.err, contains("missed/M"));
  }
  CHECK(is_empty(directory));
  CHECK(processes_of(directory).empty());
}

TEST_CASE("bench load: with SCHED_FIFO, only the stream, beside cyclictest") {
  const orc::detail::temporary_directory directory;
  const auto done =
      run(directory, "$orc bench load --load none --measure stream --cyclictest --seconds 0.2 --priority 10 --json -");
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  const auto rows = rows_of(done.out);
  const bool fifo = done.err.find("without SCHED_FIFO only") == std::string::npos;
  const bool reference = done.err.find("without cyclictest") == std::string::npos;
  REQUIRE(rows.size() == (fifo ? 2U : 1U) * (reference ? 3U : 2U));
  for (const row& r : rows) {
    CHECK(number(r, "count") >= 100);
    CHECK(number(r, "max_us") < 1e6);
    CHECK(r.at("measure") != "\"10 B\"");
    CHECK((r.count("missed_per_million") == 1) == (r.at("measure") != "\"stream\""));
  }
  if (fifo) CHECK(rows.back().at("priority") == "10");
  if (reference) CHECK(rows.back().at("measure") == "\"cyclictest\"");
}

// As with isolcpus=1: nothing runs on the isolated CPU unasked, and the loads do not, either.
TEST_CASE("bench load: measures on a CPU that is not among those it was started on") {
  if (std::thread::hardware_concurrency() < 2) return skip("one CPU");
  const orc::detail::temporary_directory directory;
  const auto done = run(directory,
                        "taskset -c 0 $orc bench load --cpu 1,0 --load cpu --measure stream --policy other "
                        "--transport ipc --seconds 0.2 --json -");
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  CHECK(rows_of(done.out).size() == 2);
  CHECK_THAT(done.err, contains("pinned to 1,0"));
}

TEST_CASE("bench load: neither Ctrl-C nor a kill leaves a load or a file behind") {
  const orc::detail::temporary_directory directory;
  for (const int signal : {SIGINT, SIGKILL}) {
    child_process tool({program("orc"), "bench", "load", "--load", "all", "--seconds", "60", "--policy", "other"},
                       environment(directory));
    REQUIRE(wait_until([&] { return processes_of(directory).size() >= 6; }));
    tool.send_signal(signal);
    const auto status = tool.wait();
    REQUIRE(status);
    if (signal == SIGINT) CHECK((WIFEXITED(*status) && WEXITSTATUS(*status) == 130));
    CHECK(wait_until([&] { return processes_of(directory).empty(); }));
    if (signal == SIGINT) CHECK(is_empty(directory));
  }
}

TEST_CASE("bench load: the next measurement removes what a killed one left, and nothing else") {
  namespace fs = std::filesystem;
  const orc::detail::temporary_directory directory;
  const orc::detail::temporary_directory elsewhere;
  const auto entries = [&](const fs::path& of) {
    std::set<std::string> names;
    for (const auto& each : fs::directory_iterator(of)) names.insert(each.path().filename());
    return names;
  };
  const auto start = [&] {
    return child_process({program("orc"), "bench", "load", "--load", "none", "--seconds", "60", "--policy", "other"},
                         environment(directory));
  };
  const std::string short_run = "$orc bench rtt --transport ipc --size 10 --messages 5 --warmup 0 --json -";
  // Its name and lock stand once its echo is there.
  const auto is_up = [&] { return processes_of(directory).size() >= 2; };

  auto killed = start();
  REQUIRE(wait_until(is_up));
  const auto left = entries(directory.path());
  REQUIRE(left.size() == 1);
  CHECK(run(directory, short_run).exit_code == 0);
  CHECK(entries(directory.path()) == left);  // it runs
  killed.send_signal(SIGKILL);
  REQUIRE(killed.wait());
  REQUIRE(wait_until([&] { return processes_of(directory).empty(); }));
  REQUIRE(entries(directory.path()) == left);

  auto running = start();
  REQUIRE(wait_until(is_up));
  const auto alive = entries(directory.path());
  CHECK(alive.size() == 1);
  CHECK(alive != left);

  // Of the user, though it has such a name; a link; a directory that others may write to, with a free lock.
  const auto make = [](const fs::path& path, bool with_lock) {
    fs::create_directory(path);
    fs::permissions(path, fs::perms::owner_all);
    std::ofstream(path / "results") << "mine";
    if (with_lock) std::ofstream(path / ".orc-bench-lock") << "";
  };
  const fs::path at = directory.path();
  make(at / "orc-bench-result", false);
  make(elsewhere.path() / "linked", true);
  fs::create_directory_symlink(elsewhere.path() / "linked", at / "orc-bench-linked");
  make(at / "orc-bench-shared", true);
  fs::permissions(at / "orc-bench-shared", fs::perms::all);
  std::ofstream(at / "orc-bench-a-file") << "mine";
  auto kept = alive;
  kept.insert({"orc-bench-result", "orc-bench-linked", "orc-bench-shared", "orc-bench-a-file"});
  if (::geteuid() == 0) {
    make(at / "orc-bench-others", true);
    REQUIRE(::chown((at / "orc-bench-others").c_str(), 65534, 65534) == 0);
    kept.insert("orc-bench-others");
  }
  // A link in an abandoned directory is removed, and not what it refers to.
  make(at / "orc-bench-abandoned", true);
  fs::create_directory_symlink(elsewhere.path() / "linked", at / "orc-bench-abandoned" / "link");
  CHECK(run(directory, short_run).exit_code == 0);
  CHECK(entries(at) == kept);
  CHECK(entries(elsewhere.path() / "linked") == std::set<std::string>{"results", ".orc-bench-lock"});

  running.send_signal(SIGINT);
  const auto status = running.wait();
  REQUIRE(status);
  CHECK((WIFEXITED(*status) && WEXITSTATUS(*status) == 130));
}

TEST_CASE("bench load: what it does not understand it refuses with exit code 2") {
  const orc::detail::temporary_directory directory;
  const struct {
    const char* arguments;
    const char* says;
  } cases[] = {
      {"--load weather", "no load is called 'weather'"},
      {"--transport inproc", "not inproc"},
      {"--transport pigeon", "no transport is called 'pigeon'"},
      {"--seconds 0", "seconds"},
      {"--priority 100", "priority"},
      {"--policy idle", "policy"},
      {"--wait spin", "wait"},
      {"--measure speed", "measure"},
      {"--cpu 0", "not two cores"},
  };
  for (const auto& each : cases) {
    INFO(each.arguments);
    const auto done = run(directory, std::string("$orc bench load ") + each.arguments);
    CHECK(done.exit_code == 2);
    CHECK_THAT(done.err, contains(each.says));
  }
}
