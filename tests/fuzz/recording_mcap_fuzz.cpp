// The reader of recordings, with MCAP files.
#include "recording_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return orc::test::fuzz_recording(data, size);
}
