// Writes every sample of a topic to a file, in order, and counts those that it missed. Ctrl-C ends it.
//
//   orc_example_recorder robot/state state.rec
//
// The file has, for each sample: the time of sending (8 bytes, ns since 1970), the size (8 bytes), and the bytes; both
// numbers are in this machine's byte order.
#include <orc.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

constexpr std::size_t depth = 4096;

std::atomic<bool> ended{false};
void end(int) { ended = true; }

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class recording {
 public:
  explicit recording(const char* path) : file_(std::fopen(path, "wb")), error_(file_ ? 0 : errno) {}

  // 0, or the errno of the first failure.
  [[nodiscard]] int error() const { return error_; }

  void add(const orc::message& sample) {
    const std::int64_t stamp_ns = sample.stamp_ns();
    const std::uint64_t size = sample.size();
    write(&stamp_ns, sizeof stamp_ns);
    write(&size, sizeof size);
    write(sample.data(), sample.size());
    ++samples_;
    missed_ += sample.missed();
  }

  void finish() {
    // The end of the file is in memory until here: the disk may be full only now.
    if (std::fflush(file_.get()) != 0 && error_ == 0) error_ = errno;
    std::printf("recorded %llu, missed %llu\n", samples_, missed_);
  }

 private:
  void write(const void* data, std::size_t size) {
    if (std::fwrite(data, 1, size, file_.get()) != size && error_ == 0) error_ = errno;
  }

  std::unique_ptr<std::FILE, close_file> file_;
  int error_;
  unsigned long long samples_ = 0;
  unsigned long long missed_ = 0;
};

int failed(const char* what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: orc_example_recorder TOPIC FILE\n");
    return 2;
  }
  const char* const topic = argv[1];
  const char* const path = argv[2];
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);

  recording file(path);
  if (file.error() != 0) return failed(path, std::strerror(file.error()));

  orc::participant_options options;
  options.name = "recorder";
  orc::participant participant(options);
  // conflate = 0: a queue in order. At 1 kHz this depth lets the disk pause for four seconds. A full queue drops its
  // oldest sample; the publisher never waits.
  orc::subscriber samples = participant.request_topic(topic, {.conflate = 0, .depth = depth});
  // Without a broker it is true: the request takes effect when one answers.
  if (!samples) return failed(topic, samples.error().message());

  while (!ended && file.error() == 0) {
    if (const orc::message sample = samples.recv(100)) file.add(sample);
  }
  // What has arrived already, and no more: a fast topic must not keep it from ending.
  for (std::size_t left = depth; left > 0; --left) {
    const orc::message sample = samples.recv(0);
    if (!sample) break;
    file.add(sample);
  }
  file.finish();
  return file.error() == 0 ? EXIT_SUCCESS : failed(path, std::strerror(file.error()));
}
