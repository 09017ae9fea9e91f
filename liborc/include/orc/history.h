// The last samples of a topic: which one was the newest at a time, values between samples, averages.
//
//   orc::typed_history arm(b.request_topic<State>("arm/state", {.conflate = 0, .depth = 1000}),
//                          {.samples = 10'000, .age = std::chrono::seconds(10)});
//   while (arm.recv(100) == orc::errc::ok) {
//     const auto then = arm.at(image.stamp_ns());
//     const auto q = arm.interpolate(&State::q, image.stamp_ns(), orc::interpolation::cubic);
//     const auto load = arm.moving_average(&State::torque, std::chrono::milliseconds(100));
//   }
//
// Source: the channels of MIRA (paper, IV.A).
#pragma once

#include "orc/history/history.h"
#include "orc/history/interpolate.h"
#include "orc/history/past.h"
#include "orc/history/typed_history.h"
