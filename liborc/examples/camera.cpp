// A camera of 1920x1080 pixels at 30 Hz: makes each image in the shared memory where viewers read it. See
// camera_viewer.cpp.
#include <orc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "image.h"

namespace {

constexpr image_header format{.width = 1920, .height = 1080};
constexpr auto period = std::chrono::nanoseconds(1'000'000'000 / 30);

std::atomic<bool> ended{false};
void end(int) { ended = true; }

// Grey, with a white bar that moves one column per image. A driver would let the camera write here.
void render(std::span<std::byte> pixels, std::size_t number) {
  constexpr std::size_t row_size = format.width * bytes_per_pixel;
  std::fill(pixels.begin(), pixels.end(), std::byte{40});
  for (std::size_t row = 0; row < format.height; ++row) {
    const auto bar = pixels.subspan(row * row_size + number % format.width * bytes_per_pixel, bytes_per_pixel);
    std::fill(bar.begin(), bar.end(), std::byte{255});
  }
}

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);

  orc::participant_options options;
  options.name = "camera";
  orc::participant participant(options);

  // Viewers on this host use shm, others the best transport that they reach. The size reserves memory from the start.
  const orc::topic_options offer{.transports = {orc::transport::shm, orc::transport::ipc, orc::transport::tcp},
                                 .expected_size = image_size(format)};
  orc::publisher camera = participant.register_topic("camera", offer);
  if (!camera.result()) std::fprintf(stderr, "camera: %s\n", camera.error().message().c_str());
  if (!camera) return EXIT_FAILURE;  // without a broker it is true: the topic is announced when one answers

  auto next = std::chrono::steady_clock::now();
  for (std::size_t number = 0; !ended; ++number, next += period) {
    std::this_thread::sleep_until(next);
    // The memory that viewers will read. None of them sees the image before it is sent.
    orc::loan image = camera.loan(image_size(format));
    if (!image) {
      std::fprintf(stderr, "camera: no memory for image %zu\n", number);
      continue;
    }
    const std::span<std::byte> bytes = image.bytes();
    std::memcpy(bytes.data(), &format, sizeof format);
    render(bytes.subspan(sizeof format), number);
    if (const orc::result sent = camera.send(std::move(image)); !sent) {
      std::fprintf(stderr, "camera: %s\n", sent.error().message().c_str());
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
