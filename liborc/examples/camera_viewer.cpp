// Looks at the images of camera.cpp where they are: over shm nothing is copied, whatever their size.
#include <orc.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "image.h"

namespace {

std::atomic<bool> ended{false};
void end(int) { ended = true; }

// The column of the white bar in the first row.
std::size_t bar_column(std::span<const std::byte> pixels, const image_header& image) {
  const auto row = pixels.first(image.width * bytes_per_pixel);
  return static_cast<std::size_t>(std::find(row.begin(), row.end(), std::byte{255}) - row.begin()) / bytes_per_pixel;
}

void show(const orc::message& sample, const orc::subscriber& camera) {
  image_header image;
  // The bytes may be another program's: check them before reading.
  const bool has_header = sample.copy_to(&image, sizeof image) == sizeof image;
  if (!has_header || image.width == 0 || image.height == 0 || sample.size() != image_size(image)) {
    std::fprintf(stderr, "camera: %zu bytes are no image\n", sample.size());
    return;
  }
  const std::span<const std::byte> pixels = sample.bytes().subspan(sizeof image);
  std::printf("%ux%u  bar at %zu  %.0f us old  skipped %llu  over %s\n", image.width, image.height,
              bar_column(pixels, image), static_cast<double>(sample.age_ns()) / 1e3,
              static_cast<unsigned long long>(sample.missed()),
              std::string(orc::to_string(camera.link().transport)).c_str());
}

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);

  orc::participant_options options;
  options.name = "viewer";
  orc::participant participant(options);
  orc::subscriber camera = participant.request_topic("camera");
  if (!camera.result()) std::fprintf(stderr, "camera: %s\n", camera.error().message().c_str());
  if (!camera) return EXIT_FAILURE;  // without a broker it is true: the request takes effect when one answers

  while (!ended) {
    const orc::message sample = camera.recv(100);
    if (sample) show(sample, camera);
    // Here the message ends, and with it the hold on its memory. A program that keeps images keeps at most
    // request_options::max_messages (8) of them, or copies them.
  }
  return EXIT_SUCCESS;
}
