// The shared part of all handles of one subscription. With the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "orc.h"

namespace orc::python {

class subscription {
 public:
  using way = message (orc::subscriber::*)(int) noexcept;

  explicit subscription(orc::subscriber from) noexcept : end(std::move(from)) {}

  // Returns a sample, or None when there is none; raises for anything else. Waits in slices, and checks for signals
  // between and after them. When a handler raises (KeyboardInterrupt), the sample stays here for the next call.
  // `codec`: orc._typed.codec.Typed, makes the value of the message; None: it is bytes.
  [[nodiscard]] nanobind::object receive(int timeout_ms, way how, const nanobind::object& codec);

  // conflate=1 is certain: a sample that was left here gives way to a newer one.
  void newest_only() noexcept { newest_only_ = true; }

  orc::subscriber end;
  // Of the first request that named one: for those that name none.
  nanobind::object codec = nanobind::none();

 private:
  [[nodiscard]] nanobind::object hand_over(message&& sample, const message& skipped, const nanobind::object& codec);
  [[nodiscard]] nanobind::object take_left(way how, const nanobind::object& codec);

  message left_;
  std::uint64_t handed_over_ = 0;
  bool newest_only_ = false;
};

}  // namespace orc::python
