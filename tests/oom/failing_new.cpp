// An operator new and a zmq_msg_init_size (the frames of samples) that fail now and then, to be loaded into a program
// of this build with LD_PRELOAD.
//
// ORC_FAIL_NEW="EVERY SKIP MODULE": of the calls that come from MODULE (part of a file name: "liborc-middleware.so",
// "orc-broker") every EVERY-th fails, after the first SKIP. What libstdc++ allocates counts as its caller's.
#include <dlfcn.h>
#include <execinfo.h>
#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

struct plan {
  unsigned long every = 0;
  unsigned long skip = 0;
  char module[64] = "";

  plan() noexcept {
    const char* const text = std::getenv("ORC_FAIL_NEW");
    if (text == nullptr || std::sscanf(text, "%lu %lu %63s", &every, &skip, module) != 3) every = 0;
    void* first[4];
    (void)::backtrace(first, 4);  // allocates when it is called first
  }
};

const plan& wanted() noexcept {
  static const plan made;
  return made;
}

std::atomic<unsigned long> calls{0};
thread_local bool looking = false;

// The first caller that is neither this file nor libstdc++.
bool is_from_module() noexcept {
  void* frames[16];
  const int count = ::backtrace(frames, 16);
  Dl_info self{};
  ::dladdr(reinterpret_cast<const void*>(&is_from_module), &self);
  for (int n = 0; n < count; ++n) {
    Dl_info found{};
    if (::dladdr(frames[n], &found) == 0 || found.dli_fname == nullptr) continue;
    if (found.dli_fbase == self.dli_fbase || std::strstr(found.dli_fname, "libstdc++") != nullptr) continue;
    return std::strstr(found.dli_fname, wanted().module) != nullptr;
  }
  return false;
}

bool fails() noexcept {
  if (looking) return false;
  looking = true;
  const bool counts = wanted().every != 0 && is_from_module();
  looking = false;
  if (!counts) return false;
  const unsigned long number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  return number > wanted().skip && (number - wanted().skip) % wanted().every == 0;
}

void* allocate(std::size_t size) noexcept { return fails() ? nullptr : std::malloc(size == 0 ? 1 : size); }

void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  return fails() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new[](std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return or_throw(allocate(size, alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return or_throw(allocate(size, alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" int zmq_msg_init_size(zmq_msg_t* message, std::size_t size) {
  using function = int (*)(zmq_msg_t*, std::size_t);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "zmq_msg_init_size"));
  if (!fails()) return real(message, size);
  errno = ENOMEM;
  return -1;
}
