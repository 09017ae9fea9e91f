#include "wire/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "orc/result.h"

namespace orc::wire {

namespace {

constexpr std::size_t most_ahead = std::size_t{1} << 16;

[[nodiscard]] bool is_length(std::uint64_t word) noexcept {
  return word >= sizeof(trace_head) && word % 8 == 0 && word <= trace_head::max_length;
}

}  // namespace

std::string_view name_of(trace_kind kind) noexcept {
  switch (kind) {
    case trace_kind::type: return "type";
    case trace_kind::readiness: return "readiness";
    case trace_kind::unseen: return "unseen";
    case trace_kind::participant: return "participant";
    case trace_kind::participant_end: return "end of participant";
    case trace_kind::register_topic: return "register_topic";
    case trace_kind::request_topic: return "request_topic";
    case trace_kind::unregister_topic: return "unregister_topic";
    case trace_kind::release_topic: return "release_topic";
    case trace_kind::broker_endpoint: return "broker_endpoint";
    case trace_kind::receive: return "recv";
    case trace_kind::descriptor: return "fd";
    case trace_kind::connected: return "connected";
    case trace_kind::wait_connected: return "wait_connected";
    case trace_kind::check_type: return "check_type";
    case trace_kind::link: return "link";
    case trace_kind::send: return "send";
    case trace_kind::loan: return "loan";
    case trace_kind::readers: return "readers";
    case trace_kind::wait_readers: return "wait_readers";
    case trace_kind::age: return "age_ns";
    case trace_kind::clock: return "monotonic_ns";
  }
  return {};
}

// The four parts, each after its length as a u32.
std::optional<type_description> trace_event::type() const {
  type_description made;
  std::string_view rest = bytes_as_text();
  for (std::string* const part : {&made.name, &made.schema_encoding, &made.message_encoding, &made.schema}) {
    std::uint32_t length = 0;
    if (rest.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, rest.data(), sizeof length);
    rest.remove_prefix(sizeof length);
    if (length > rest.size() || length > max_schema_bytes) return std::nullopt;
    part->assign(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return made;
}

detail::expected<trace_reader> trace_reader::open(detail::readable_file file) {
  trace_reader reader(std::move(file));
  trace_start& start = reader.start_;
  const std::uint64_t size = reader.file_.size();
  if (size < trace_page)
    return orc::error(errc::bad_argument, "it has " + std::to_string(size) + " bytes, and a trace has at least " +
                                              std::to_string(trace_page));
  const orc::error changed(errc::bad_argument, "it was cut while it was read");
  if (!reader.file_.read(0, std::as_writable_bytes(std::span(&start, 1)))) return changed;
  if (std::string_view(start.magic, sizeof start.magic) != trace_magic)
    return orc::error(errc::bad_argument, "it does not begin with " + std::string(trace_magic));
  if (start.version != trace_version || start.page != trace_page)
    return orc::error(errc::bad_argument, "it has version " + std::to_string(start.version) +
                                              " of the format; this program reads " + std::to_string(trace_version));
  if (start.command_bytes > trace_page - sizeof start)
    return orc::error(errc::bad_argument, "its command line is longer than the page that holds it");
  reader.command_.resize(start.command_bytes);
  if (!reader.file_.read(sizeof start, std::as_writable_bytes(std::span(reader.command_)))) return changed;
  reader.window_.resize(most_ahead);
  reader.window_at_ = size;  // it has nothing yet
  return reader;
}

std::string_view trace_reader::check(const trace_head& head) const noexcept {
  const std::uint64_t room = head.word - sizeof head;
  if (head.size > room || head.text_bytes > room - head.size || name_of(head.kind).empty() ||
      head.status > static_cast<std::uint8_t>(errc::type_mismatch))
    return "the file is damaged: an event does not fit into its own length, or is of no known kind";
  if (head.at_ns < 0 || head.at_ns - std::max<std::int64_t>(start_.monotonic_ns, 0) > trace_longest_ns)
    return "the file is damaged: an event is at an impossible time";
  return {};
}

// One read for many small entries.
bool trace_reader::look(std::uint64_t position, std::span<std::byte> to) noexcept {
  if (to.size() > file_.size() - position) return false;
  if (position < window_at_ || position + to.size() > window_at_ + window_.size()) {
    const std::uint64_t rest = file_.size() - position;
    window_.resize(std::min<std::uint64_t>(rest, most_ahead));
    window_at_ = position;
    if (!file_.read(position, window_)) return false;
  }
  std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(position - window_at_), to.size(), to.begin());
  return true;
}

std::optional<trace_entry> trace_reader::next() noexcept {
  while (problem_.empty() && position_ < file_.size()) {
    trace_entry found;
    found.position = position_;
    const std::uint64_t left = file_.size() - position_;
    const auto head = std::as_writable_bytes(std::span(&found.head, 1));
    if (left < sizeof found.head.word || !look(position_, head.first(std::min<std::uint64_t>(left, head.size())))) {
      problem_ = "the file was cut off";
      break;
    }
    if (found.head.word == 0) break;
    const bool complete = (found.head.word & trace_head::open) == 0;
    const std::uint64_t length = found.head.word & ~trace_head::open;
    if (!is_length(length))
      problem_ = "the file is damaged: an event has an impossible length";
    else if (length > left)
      problem_ = "the file was cut off in the middle of an event";
    else if (complete)
      problem_ = check(found.head);
    if (!problem_.empty()) break;
    position_ += length;
    if (complete) return found;
    ++unfinished_;
  }
  return std::nullopt;
}

std::optional<trace_event> trace_reader::at(std::uint64_t position) const noexcept {
  trace_event found;
  found.position = position;
  if (!file_.read(position, std::as_writable_bytes(std::span(&found.head, 1)))) return std::nullopt;
  if (!is_length(found.head.word) || found.head.word > file_.size() - position || !check(found.head).empty())
    return std::nullopt;
  const std::size_t size = found.head.size + found.head.text_bytes;
  if (size == 0) return found;
  found.payload.reset(new (std::nothrow) std::byte[size]);
  if (!found.payload || !file_.read(position + sizeof found.head, {found.payload.get(), size})) return std::nullopt;
  found.bytes = {found.payload.get(), static_cast<std::size_t>(found.head.size)};
  found.text = {reinterpret_cast<const char*>(found.payload.get()) + found.head.size, found.head.text_bytes};
  return found;
}

}  // namespace orc::wire
