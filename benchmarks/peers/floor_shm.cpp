// The floor of shared memory: one buffer and one word per topic, a futex or a spin on the word. Newest only; nothing
// protects a sample that is read while the next one is written. benchmarks/support/floor_end.h is the same between two
// processes of one program.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <climits>

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings&) {}
};

struct buffer {
  alignas(64) std::atomic<std::uint32_t> word;  // counts samples
  std::size_t size;
  alignas(64) std::byte payload[1];
};

buffer& map(const std::string& topic, const settings& s) {
  const std::size_t size = sizeof(buffer) + s.size;
  const int fd = ::open((s.directory + "/" + topic).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size)) != 0) throw std::runtime_error("no file for shared memory");
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) throw std::runtime_error("no shared memory");
  return *static_cast<buffer*>(at);
}

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class writer {
 public:
  writer(node&, const std::string& topic, const settings& s) : to_(map(topic, s)), spin_(s.spin) {}
  void send(bytes sample) {
    std::memcpy(to_.payload, sample.data(), sample.size());
    to_.size = sample.size();
    to_.word.fetch_add(1, std::memory_order_release);
    if (!spin_) ::syscall(SYS_futex, &to_.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

 private:
  buffer& to_;
  bool spin_;
};

class reader {
 public:
  reader(node&, const std::string& topic, const settings& s)
      : from_(map(topic, s)), spin_(s.spin), seen_(from_.word.load()) {}
  bool receive(int timeout_ms, const use_function& use) {
    if (!(spin_ ? look(timeout_ms) : sleep(timeout_ms))) return false;
    seen_ = from_.word.load(std::memory_order_acquire);
    use({from_.payload, from_.size});
    return true;
  }

 private:
  [[nodiscard]] bool fresh() const noexcept { return from_.word.load(std::memory_order_acquire) != seen_; }
  [[nodiscard]] bool look(int timeout_ms) const noexcept {
    const std::int64_t end = now_ns() + timeout_ms * std::int64_t{1'000'000};
    for (unsigned turns = 1; !fresh(); ++turns) {
      if (turns % 1024 == 0 && now_ns() > end) return false;
      pause();
    }
    return true;
  }
  [[nodiscard]] bool sleep(int timeout_ms) const noexcept {
    const timespec t{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
    if (!fresh()) ::syscall(SYS_futex, &from_.word, FUTEX_WAIT, seen_, &t, nullptr, 0);
    return fresh();
  }

  buffer& from_;
  bool spin_;
  std::uint32_t seen_;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
