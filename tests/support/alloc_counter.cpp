#include "support/alloc_counter.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "support/budget.h"

namespace {

thread_local bool counting = false;
thread_local std::size_t counted = 0;
thread_local bool failing = false;
thread_local std::size_t good_left = 0;

}  // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

namespace {

bool called_by_libzmq(void* caller) {
  Dl_info info{};
  return ::dladdr(caller, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libzmq") != nullptr;
}

void* allocate(std::size_t size, void* caller) noexcept {
  if (failing && good_left-- == 0) {  // and all later ones
    good_left = 0;
    return nullptr;
  }
  if (counting) {
    counting = false;  // dladdr may allocate
    if (!called_by_libzmq(caller)) ++counted;
    counting = true;
  }
  return std::malloc(size != 0 ? size : 1);
}

void* allocate_aligned(std::size_t size, std::align_val_t alignment, void* caller) noexcept {
  if (failing) return nullptr;
  if (counting && !called_by_libzmq(caller)) ++counted;
  const auto align = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  if (void* memory = allocate(size, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, __builtin_return_address(0));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = allocate_aligned(size, alignment, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  if (void* memory = allocate_aligned(size, alignment, __builtin_return_address(0))) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif

namespace orc::test {

alloc_counter::alloc_counter() {
  counted = 0;
  counting = true;
}
alloc_counter::~alloc_counter() { counting = false; }
std::size_t alloc_counter::count() const { return counted; }
bool alloc_counter::counts() { return !under_sanitizer; }

alloc_failure::alloc_failure(std::size_t good) {
  good_left = good;
  failing = true;
}
alloc_failure::~alloc_failure() { failing = false; }

}  // namespace orc::test
