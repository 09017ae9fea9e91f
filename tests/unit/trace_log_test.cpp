// The file of a trace: what is written is read again, whatever happens on the way.
#include "core/trace/trace_log.h"

#include <sys/mount.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "base/clock.h"
#include "base/files/readable_file.h"
#include "base/files/temporary_directory.h"
#include "core/participant/participant.h"
#include "core/trace/replay_clock.h"
#include "core/trace/tracer.h"
#include "support/catch.h"
#include "support/wait_until.h"
#include "wire/trace_index.h"
#include "wire/trace_reader.h"

using namespace orc;
using namespace orc::detail;
using namespace orc::test;
using wire::trace_head;
using wire::trace_kind;

namespace {

// Of this process, while it lives.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~file_size_limit() { CHECK(setrlimit(RLIMIT_FSIZE, &before_) == 0); }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
};

[[nodiscard]] std::vector<std::byte> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

[[nodiscard]] trace_head sent(std::uint32_t thread, std::uint64_t sequence) {
  trace_head head;
  head.kind = trace_kind::send;
  head.thread = thread;
  head.number = 1;
  head.sequence = sequence;
  return head;
}

[[nodiscard]] std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

[[nodiscard]] std::size_t count_events(std::span<const std::byte> file) {
  auto reader = wire::trace_reader::open(file);
  if (!reader) return 0;
  std::size_t count = 0;
  while (reader->next()) ++count;
  return count;
}

}  // namespace

TEST_CASE("trace log: what is added is read again, also while the log lives", "[threads]") {
  const temporary_directory directory;
  const auto log = *trace_log::create(directory.file("t"), {});
  CHECK(std::filesystem::status(directory.file("t")).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));  // it holds every sample
  log->add(sent(7, 1), bytes_of("abc"), "text");
  log->add(sent(7, 2));
  const auto file = content_of(directory.file("t"));
  auto reader = *wire::trace_reader::open(file);
  const auto entry = reader.next();
  REQUIRE(entry);
  const auto first = reader.at(entry->position);
  REQUIRE(first);
  CHECK(first->bytes_as_text() == "abc");
  CHECK(first->text == "text");
  CHECK(first->head.thread == 7);
  REQUIRE(reader.next());
  CHECK_FALSE(reader.next());
  CHECK(reader.problem().empty());
  CHECK(reader.start().stopped == 0);
}

TEST_CASE("trace log: an event that was never completed is left out, later ones are not", "[threads]") {
  const temporary_directory directory;
  const auto log = *trace_log::create(directory.file("t"), {});
  log->add(sent(1, 1));
  (void)log->begin(sent(1, 2), bytes_of("torn"), {});
  log->add(sent(2, 3));
  const auto file = content_of(directory.file("t"));
  auto reader = *wire::trace_reader::open(file);
  CHECK(reader.next()->head.sequence == 1);
  CHECK(reader.next()->head.sequence == 3);
  CHECK_FALSE(reader.next());
  CHECK(reader.unfinished() == 1);
}

TEST_CASE("trace log: threads add events at once, and none is lost", "[threads]") {
  constexpr std::uint32_t threads = 4;
  constexpr std::uint64_t each = 20'000;
  const temporary_directory directory;
  auto log = *trace_log::create(directory.file("t"), {});
  log->work();
  {
    std::vector<std::jthread> writers;
    for (std::uint32_t thread = 1; thread <= threads; ++thread)
      writers.emplace_back([&log, thread] {
        const std::string text(thread * 50, static_cast<char>('a' + thread));
        for (std::uint64_t i = 1; i <= each; ++i) log->add(sent(thread, i), bytes_of(text));
      });
  }
  CHECK_FALSE(log->stopped());
  log.reset();
  const auto file = content_of(directory.file("t"));
  auto reader = *wire::trace_reader::open(file);
  std::map<std::uint32_t, std::uint64_t> last;
  bool in_order = true;
  bool whole = true;
  while (const auto entry = reader.next()) {
    const auto event = reader.at(entry->position);
    REQUIRE(event);
    in_order = in_order && event->head.sequence == ++last[event->head.thread];
    const std::string expected(event->head.thread * 50, static_cast<char>('a' + event->head.thread));
    whole = whole && event->bytes_as_text() == expected;
  }
  CHECK(in_order);
  CHECK(whole);
  for (std::uint32_t thread = 1; thread <= threads; ++thread) CHECK(last[thread] == each);
}

TEST_CASE("trace log: a sample that is larger than the room ahead makes room itself", "[threads]") {
  const temporary_directory directory;
  const auto log = *trace_log::create(directory.file("t"), {});
  std::string large;
  large.resize(20'000'000, 'x');
  log->add(sent(1, 1), bytes_of(large));
  log->add(sent(1, 2));
  CHECK(count_events(content_of(directory.file("t"))) == 2);
}

TEST_CASE("trace log: an existing file stays as it is", "[threads]") {
  const temporary_directory directory;
  std::ofstream(directory.file("t")) << "precious";
  const auto log = trace_log::create(directory.file("t"), {});
  REQUIRE_FALSE(log);
  CHECK(log.error().message().find("exists") != std::string::npos);
  CHECK(content_of(directory.file("t")).size() == 8);
}

namespace {

void fill(const std::string& path) {
  std::atomic<int> reported{0};
  std::string why;
  auto made = trace_log::create(path, [&](const std::string& text) {
    why = text;
    ++reported;
  });
  REQUIRE(made);
  auto log = *std::move(made);
  log->work();
  const std::string text(10'000, 'x');
  std::uint64_t added = 0;
  while (!log->stopped() && added < 10'000) log->add(sent(1, ++added), bytes_of(text));
  REQUIRE(log->stopped());
  for (int i = 0; i < 100; ++i) log->add(sent(1, ++added), bytes_of(text));  // without an effect
  CHECK(wait_until([&] { return reported == 1; }));
  CHECK(why.find("incomplete from here") != std::string::npos);
  log.reset();
  const auto file = content_of(path);
  CHECK(wire::trace_reader::open(file)->start().stopped != 0);
  CHECK(count_events(file) > 100);
}

}  // namespace

TEST_CASE("trace log: a full disk ends the trace, not the program", "[threads]") {
  const temporary_directory directory;
  const std::string where = directory.path().string();
  if (mount("none", where.c_str(), "tmpfs", 0, "size=4m") != 0) return skip("mounting a tmpfs needs root");
  fill(directory.file("t"));
  CHECK(umount2(where.c_str(), MNT_DETACH) == 0);
}

TEST_CASE("trace log: a limit of the file's size ends the trace, not the program", "[threads]") {
  const file_size_limit small(4 << 20);
  const temporary_directory directory;
  fill(directory.file("t"));
}

TEST_CASE("trace reader: a file that is cut anywhere is read up to there", "[threads]") {
  const temporary_directory directory;
  auto log = *trace_log::create(directory.file("t"), {});
  for (std::uint64_t i = 1; i <= 20; ++i) log->add(sent(1, i), bytes_of(std::string(i, 'x')), "t");
  const std::uint64_t end = log->end();
  const auto file = content_of(directory.file("t"));
  std::size_t before = 0;
  for (std::size_t size = 0; size <= end; ++size) {
    // In memory of exactly this size, so that a read behind the end is found.
    const std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    const std::size_t count = count_events(cut);
    if (count < before) FAIL("fewer events at " << size);
    before = count;
  }
  CHECK(before == 20);
}

TEST_CASE("trace reader: impossible lengths and kinds end the trace with a sentence", "[threads]") {
  const temporary_directory directory;
  auto log = *trace_log::create(directory.file("t"), {});
  log->add(sent(1, 1), bytes_of("abc"));
  log->add(sent(1, 2), bytes_of("abc"));
  const auto file = content_of(directory.file("t"));
  const auto second = wire::trace_page + wire::trace_length(3, 0);
  const auto with = [&](std::size_t offset, auto value) {
    auto changed = file;
    std::memcpy(changed.data() + second + offset, &value, sizeof value);
    return changed;
  };
  for (const auto& changed :
       {with(0, std::uint64_t{8}), with(0, std::uint64_t{73}), with(0, ~std::uint64_t{0}),
        with(0, std::uint64_t{1} << 39), with(offsetof(trace_head, at_ns), std::int64_t{-1}),
        with(offsetof(trace_head, at_ns), INT64_MIN), with(offsetof(trace_head, at_ns), INT64_MAX),
        with(offsetof(trace_head, size), ~std::uint64_t{0}), with(offsetof(trace_head, text_bytes), ~std::uint32_t{0}),
        with(offsetof(trace_head, kind), std::uint8_t{255}), with(offsetof(trace_head, status), std::uint8_t{255})}) {
    auto reader = *wire::trace_reader::open(changed);
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.problem().empty());
  }
}

TEST_CASE("trace reader: a file that is cut after it was opened is read up to there", "[threads]") {
  const temporary_directory directory;
  const std::string path = directory.file("t");
  auto log = *trace_log::create(path, {});
  for (std::uint64_t i = 1; i <= 10'000; ++i) log->add(sent(1, i), bytes_of("abc"));
  auto reader = *wire::trace_reader::open(*readable_file::open(path));
  const auto first = reader.next();
  REQUIRE(first);
  std::filesystem::resize_file(path, wire::trace_page + 100);
  std::size_t count = 1;
  while (reader.next()) ++count;
  CHECK(count < 10'000);
  CHECK_FALSE(reader.problem().empty());
  CHECK(reader.at(first->position));
  std::filesystem::resize_file(path, wire::trace_page);
  CHECK_FALSE(reader.at(first->position));
}

TEST_CASE("trace reader: an event that is changed after it was indexed is checked again", "[threads]") {
  const temporary_directory directory;
  auto log = *trace_log::create(directory.file("t"), {});
  log->add(sent(1, 1), bytes_of("abc"));
  auto file = content_of(directory.file("t"));
  auto reader = *wire::trace_reader::open(file);
  const auto entry = reader.next();
  REQUIRE(entry);
  const auto put = [&](std::size_t offset, std::uint64_t value) {
    std::memcpy(file.data() + entry->position + offset, &value, sizeof value);
  };
  put(offsetof(trace_head, size), UINT64_MAX);
  CHECK_FALSE(reader.at(entry->position));
  put(offsetof(trace_head, size), 3);
  CHECK(reader.at(entry->position));
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{64}, trace_head::max_length, UINT64_MAX}) {
    put(0, length);
    CHECK_FALSE(reader.at(entry->position));
  }
}

TEST_CASE("replay clock: impossible times of a trace are due within its longest time", "[threads]") {
  for (const std::int64_t first : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    replay_clock clock;
    clock.set(wire::replay_pace::original, first);
    CHECK_FALSE(clock.due(0));  // before the first call
    const auto before = monotonic::now();
    clock.start();
    for (const std::int64_t at : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
      const auto due = clock.due(at);
      REQUIRE(due);
      CHECK(*due >= before);
      CHECK(*due <= monotonic::now() + std::chrono::nanoseconds(wire::trace_longest_ns));
    }
  }
}

TEST_CASE("tracer: the log callback of a participant has returned when the participant has ended", "[threads]") {
  const file_size_limit small(4 << 20);
  const temporary_directory directory;
  auto made = tracer::make(directory.file("t"));
  REQUIRE(made);
  const std::unique_ptr<tracer> traces = *std::move(made);
  std::atomic<bool> called{false};
  std::atomic<bool> ended{false};
  std::atomic<bool> outlived{false};
  participant_options options;
  options.broker = "ipc://" + directory.file("nowhere");
  auto silent = traces->make_participant(options);
  options.log = [&](log_level, std::string_view text) {
    if (text.find("incomplete") == std::string_view::npos) return;
    called = true;
    outlived = wait_until([&] { return ended.load(); }, std::chrono::milliseconds(300));
  };
  auto logs = traces->make_participant(options);
  for (int i = 0; i < 100'000; ++i) (void)traces->monotonic_ns();  // the file may not grow so far
  REQUIRE(wait_until([&] { return called.load(); }));
  traces->end(std::move(logs));
  ended = true;
  traces->end(std::move(silent));  // ends the thread of the log
  CHECK_FALSE(outlived);
}

TEST_CASE("trace index: threads that take turns on one topic are an obstacle, one after the other is none",
          "[threads]") {
  const auto obstacles = [](std::initializer_list<std::uint32_t> threads) {
    const temporary_directory directory;
    const auto log = *trace_log::create(directory.file("t"), {});
    for (const std::uint32_t thread : threads) {
      trace_head head = sent(thread, 1);
      head.number = 10 + thread;  // by which a replay tells it from the others
      log->add(head);
      head.number = 1;
      head.kind = trace_kind::receive;
      log->add(head);
    }
    const auto file = content_of(directory.file("t"));
    auto reader = *wire::trace_reader::open(file);
    return wire::trace_index::make(reader)->obstacles().size();
  };
  CHECK(obstacles({1, 1, 2, 2}) == 0);
  CHECK(obstacles({1, 2, 1}) == 1);
  CHECK(obstacles({1, 2, 1, 2, 1}) == 1);
}

TEST_CASE("trace index: threads with equal first calls are an obstacle, one after the other is none", "[threads]") {
  const auto obstacles = [](std::initializer_list<std::pair<std::uint32_t, trace_kind>> calls) {
    const temporary_directory directory;
    const auto log = *trace_log::create(directory.file("t"), {});
    for (const auto& [thread, kind] : calls) {
      trace_head head = sent(thread, 1);
      head.kind = kind;
      log->add(head, bytes_of(kind == trace_kind::unregister_topic && thread == 2 ? "other" : "topic"));
    }
    const auto file = content_of(directory.file("t"));
    auto reader = *wire::trace_reader::open(file);
    return wire::trace_index::make(reader)->obstacles().size();
  };
  constexpr auto send = trace_kind::send;
  constexpr auto readers = trace_kind::readers;
  CHECK(obstacles({{1, send}, {1, readers}, {2, send}, {2, readers}}) == 0);
  CHECK(obstacles({{1, send}, {2, readers}, {1, send}, {2, send}}) == 0);
  CHECK(obstacles({{1, send}, {2, send}, {1, send}}) == 1);
  CHECK(obstacles({{1, send}, {2, send}, {3, send}, {2, send}, {1, send}}) == 1);
  CHECK(obstacles({{1, trace_kind::unregister_topic}, {2, trace_kind::unregister_topic}, {1, send}}) == 0);
  CHECK(obstacles({{1, trace_kind::unregister_topic}, {3, trace_kind::unregister_topic}, {1, send}}) == 1);
}
