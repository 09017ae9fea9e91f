// What a function returns to a user without permissions: a child runs it as the user nobody, of no other group. Only
// root can do that.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "support/forked.h"

namespace orc::test {

template <class Body>
std::string text_for_nobody(Body body) {
  constexpr uid_t nobody = 65534;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  forked child([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) return;
    const std::string text = body();
    if (::write(ends[1], text.data(), text.size()) < 0) return;
  });
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t n = 0; (n = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  child.wait();
  return text;
}

}  // namespace orc::test
