// A trace from a stranger: reads all events, as `orc replay` and a replayed program do.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "wire/trace_index.h"
#include "wire/trace_reader.h"

// The input is what follows the first 64 bytes of the first page, so that the fuzzer need not invent the page.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto raw = std::as_bytes(std::span(data, size));
  if (auto reader = orc::wire::trace_reader::open(raw)) static_cast<void>(orc::wire::trace_index::make(*reader));
  std::vector<std::byte> file(orc::wire::trace_page);
  orc::wire::trace_start start{};
  orc::wire::trace_magic.copy(start.magic, sizeof start.magic);
  start.version = orc::wire::trace_version;
  start.page = orc::wire::trace_page;
  const auto first = std::as_bytes(std::span(&start, 1));
  std::copy(first.begin(), first.end(), file.begin());
  file.insert(file.end(), raw.begin(), raw.end());
  auto reader = orc::wire::trace_reader::open(file);
  if (!reader) std::abort();
  const auto index = orc::wire::trace_index::make(*reader);
  if (!index) return 0;
  std::size_t bytes = 0;
  for (std::uint32_t each = 0; each < index->calls().size(); ++each) {
    const auto& call = index->calls()[each];
    const auto event = reader->at(call.position);
    if (!event) std::abort();
    for (const std::byte value : event->bytes) bytes += static_cast<std::size_t>(value);
    bytes += event->text.size() + index->text_of(call).size() + (index->was_readable(each, call.number) ? 1U : 0U);
    if (const auto* const of = index->find(call.number)) {
      if (const auto at = index->type(of->type)) {
        if (const auto type = reader->at(*at)->type()) bytes += type->schema.size();
      }
    }
  }
  return bytes == SIZE_MAX ? 1 : 0;
}
