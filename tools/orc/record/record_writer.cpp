#include "tools/orc/record/record_writer.h"

#include <pthread.h>

#include <utility>

#include "tools/orc/record/record_name.h"
#include "tools/orc/record/record_status.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// What came longer ago than this is on its way to the disk.
constexpr auto tick = 450ms;

constexpr auto buffer_pause = 50ms;

}  // namespace

record_writer::record_writer(const record_options& options, record_buffer& from, std::function<void()> on_end,
                             std::function<void(const std::string&)> note)
    : options_(options),
      from_(from),
      on_end_(std::move(on_end)),
      note_(std::move(note)),
      files_(options, progress_, note_) {}

result record_writer::start(const std::string& path) {
  base_path_ = path;
  const bool is_black_box = options_.last.count() != 0;
  if (!is_black_box) {
    if (auto opened = files_.open(path); !opened) {
      full_ = files_.is_full();
      return opened;
    }
  }
  thread_ = std::thread([this, is_black_box] {
    pthread_setname_np(pthread_self(), "record-write");
    is_black_box ? run_black_box() : run();
  });
  return {};
}

void record_writer::join() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  asked_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void record_writer::run() {
  auto tick_at = clock::now() + tick;
  while (status_) {
    record_buffer::portion next = from_.pop(tick_at);
    files_.lost(next.dropped, next.missed);
    if (next.block) status_ = write(*next.block);
    next.block.reset();
    if (status_ && clock::now() >= tick_at) {
      status_ = files_.tick(record_moment::now());
      tick_at = clock::now() + tick;
    }
    if (next.ended) break;
  }
  result closed = files_.close();
  if (status_) status_ = std::move(closed);
  full_ = files_.is_full();
  on_end_();
}

result record_writer::write(record_block& block) {
  for (record_sample& each : block.samples)
    if (auto written = files_.write(std::move(each)); !written) return written;
  return {};
}

void record_writer::trigger(std::function<void(bool, const std::string&)> done) {
  {
    const std::lock_guard lock(mutex_);
    triggers_.push_back(std::move(done));
  }
  asked_.notify_one();
}

void record_writer::run_black_box() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return stop_ || !triggers_.empty(); });
    if (triggers_.empty()) return;
    const auto done = std::move(triggers_.front());
    triggers_.pop_front();
    // What was sent before the trigger is in the buffer then.
    asked_.wait_for(lock, buffer_pause, [this] { return stop_; });
    lock.unlock();
    write_out(done);
    lock.lock();
  }
}

void record_writer::write_out(const std::function<void(bool, const std::string&)>& done) {
  const std::string path = free_name(base_path_);
  const std::uint64_t before = progress_.samples;
  const auto span = from_.span();
  record_files files(options_, progress_, note_);
  const result written = write_snapshot(files, path);
  if (!written) {
    full_ = full_ || files.is_full();
    done(false, escaped(written.error().message()));
    return;
  }
  std::string text = "wrote " + files.path() + ": " + grouped(progress_.samples - before) + " samples of the last " +
                     duration_text(span.count());
  if (from_.too_small()) text += "; the buffer is too small for " + duration_text(options_.last.count());
  done(true, text);
}

result record_writer::write_snapshot(record_files& to, const std::string& path) {
  std::vector<record_sample> before;
  const auto blocks = from_.snapshot(before);
  const auto losses = from_.take_losses();
  if (auto opened = to.open(path); !opened) return opened;
  to.lost(losses.dropped, losses.missed);
  const std::int64_t begin =
      blocks.empty() ? record_moment::now().wall_ns : blocks.front()->samples.front().received.wall_ns;
  result written;
  for (record_sample& each : before)
    if (written = to.write_earlier(std::move(each), begin); !written) break;
  for (const auto& block : blocks) {
    for (const record_sample& each : block->samples) {
      if (!written) break;
      written = to.write(each.share());
    }
  }
  const result closed = to.close();
  return written ? closed : written;
}

}  // namespace orc::cli
