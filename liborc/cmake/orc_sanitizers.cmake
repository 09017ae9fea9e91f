# ORC_SANITIZE applies to everything we compile, so it is set here once and not per target.
# ORC_SANITIZE_FLAGS is also what the install test compiles its consumer with.
set(ORC_SANITIZE_FLAGS "")
if(ORC_SANITIZE STREQUAL "address")
  set(ORC_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(ORC_SANITIZE STREQUAL "thread")
  set(ORC_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
elseif(NOT ORC_SANITIZE STREQUAL "")
  message(FATAL_ERROR "ORC_SANITIZE is '${ORC_SANITIZE}': use address, thread or nothing")
endif()

if(ORC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ORC_FUZZ needs clang (libFuzzer); this is ${CMAKE_CXX_COMPILER_ID}. `tools/dev fuzz` picks it.")
  endif()
  # Coverage everywhere, the fuzzer's main only in the targets under tests/fuzz.
  set(ORC_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

add_compile_options(${ORC_SANITIZE_FLAGS})
add_link_options(${ORC_SANITIZE_FLAGS})
