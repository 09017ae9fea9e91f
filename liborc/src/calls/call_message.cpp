#include "calls/call_message.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

namespace orc::detail {

namespace {

// Writes and reads little-endian numbers.
class writer {
 public:
  template <class Number>
  void put(Number value) {
    for (std::size_t byte = 0; byte < sizeof value; ++byte)
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * byte)));
  }
  void put_text(std::string_view text) {
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), from, from + text.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class reader {
 public:
  explicit reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  template <class Number>
  [[nodiscard]] bool get(Number& value) noexcept {
    if (left_.size() < sizeof value) return false;
    std::uint64_t read = 0;
    for (std::size_t byte = 0; byte < sizeof value; ++byte)
      read |= std::to_integer<std::uint64_t>(left_[byte]) << (8 * byte);
    value = static_cast<Number>(read);
    left_ = left_.subspan(sizeof value);
    return true;
  }
  [[nodiscard]] bool get_text(std::size_t size, std::string& text) {
    if (left_.size() < size) return false;
    text.assign(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return true;
  }
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

// The header as it is sent.
struct header_bytes {
  call_kind kind{};
  std::uint8_t version = call_version;
  std::uint16_t flags = 0;
  std::uint32_t reserved = 0;
  std::uint64_t id = 0;
  std::uint64_t remaining_ns = 0;
  std::uint64_t type = 0;
};
static_assert(sizeof(header_bytes) == call_header_size);

// To and from the byte order of the wire.
[[nodiscard]] constexpr std::uint64_t little(std::uint64_t value) noexcept {
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

[[nodiscard]] bool is_known(call_kind kind) noexcept {
  return (kind >= call_kind::hello && kind <= call_kind::open_calls) ||
         (kind >= call_kind::welcome && kind <= call_kind::running);
}

// Other codes are those of a client itself, or of a later version.
[[nodiscard]] bool is_from_server(call_errc code) noexcept {
  return (code >= call_errc::exception && code <= call_errc::bad_reply) || code == call_errc::server_died ||
         code == call_errc::no_memory;
}

constexpr std::size_t max_type_text = 255;

void put_type(writer& to, const type_description& type) {
  for (const std::string* const text : {&type.name, &type.schema_encoding, &type.message_encoding, &type.schema}) {
    to.put(static_cast<std::uint32_t>(text->size()));
    to.put_text(*text);
  }
}

[[nodiscard]] bool get_type(reader& from, type_description& type) {
  for (std::string* const text : {&type.name, &type.schema_encoding, &type.message_encoding, &type.schema}) {
    std::uint32_t size = 0;
    if (!from.get(size) || size > (text == &type.schema ? max_schema_bytes : max_type_text)) return false;
    if (!from.get_text(size, *text)) return false;
  }
  return true;
}

[[nodiscard]] std::string derived(std::string_view service, std::string_view between, std::uint64_t client) {
  char hex[17] = {};
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(client));
  return std::string(service).append(between).append(hex);
}

}  // namespace

void write_header(const call_header& header, std::byte* to) noexcept {
  const header_bytes bytes{.kind = header.kind,
                           .id = little(header.id),
                           .remaining_ns = little(header.remaining_ns),
                           .type = little(header.type)};
  std::memcpy(to, &bytes, sizeof bytes);
}

std::vector<std::byte> encode(const call_header& header, std::span<const std::byte> payload) {
  std::vector<std::byte> message(call_header_size + payload.size());
  write_header(header, message.data());
  std::ranges::copy(payload, message.begin() + call_header_size);
  return message;
}

std::optional<call_message> read_message(std::span<const std::byte> bytes) noexcept {
  header_bytes read;
  if (bytes.size() < sizeof read) return std::nullopt;
  std::memcpy(&read, bytes.data(), sizeof read);
  if (!is_known(read.kind) || read.version != call_version || read.flags != 0 || read.reserved != 0)
    return std::nullopt;
  return call_message{
      {.kind = read.kind, .id = little(read.id), .remaining_ns = little(read.remaining_ns), .type = little(read.type)},
      bytes.subspan(call_header_size)};
}

std::uint8_t other_version(std::span<const std::byte> bytes) noexcept {
  header_bytes read;
  if (bytes.size() < sizeof read) return 0;
  std::memcpy(&read, bytes.data(), sizeof read);
  return read.version != call_version ? read.version : std::uint8_t{0};
}

std::vector<std::byte> encode(const call_types& types) {
  writer to;
  put_type(to, types.request);
  put_type(to, types.reply);
  return to.take();
}

std::optional<call_types> read_types(std::span<const std::byte> payload) {
  reader from(payload);
  call_types types;
  if (!get_type(from, types.request) || !get_type(from, types.reply) || from.left() != 0) return std::nullopt;
  return types;
}

std::string_view cut(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

std::vector<std::byte> encode(const call_error& error) {
  writer to;
  const auto type = cut(error.exception_type, max_exception_type);
  const auto text = cut(error.text, max_error_text);
  to.put(static_cast<std::uint8_t>(error.code));
  to.put(static_cast<std::uint8_t>(type.size()));
  to.put(static_cast<std::uint16_t>(text.size()));
  to.put(error.number);
  to.put_text(type);
  to.put_text(text);
  return to.take();
}

std::optional<call_error> read_error(std::span<const std::byte> payload) {
  reader from(payload);
  call_error error;
  std::uint8_t type_size = 0;
  std::uint16_t text_size = 0;
  if (!from.get(error.code) || !from.get(type_size) || !from.get(text_size) || !from.get(error.number))
    return std::nullopt;
  if (text_size > max_error_text || !from.get_text(type_size, error.exception_type) ||
      !from.get_text(text_size, error.text) || from.left() != 0)
    return std::nullopt;
  if (!is_from_server(error.code)) error.code = call_errc::failed;
  return error;
}

std::vector<std::byte> encode(std::span<const std::uint64_t> ids) {
  writer to;
  for (const std::uint64_t id : ids) to.put(id);
  return to.take();
}

std::optional<std::vector<std::uint64_t>> read_ids(std::span<const std::byte> payload) {
  if (payload.size() % sizeof(std::uint64_t) != 0 || payload.size() / sizeof(std::uint64_t) > max_ids)
    return std::nullopt;
  reader from(payload);
  std::vector<std::uint64_t> ids(payload.size() / sizeof(std::uint64_t));
  for (std::uint64_t& id : ids) (void)from.get(id);
  if (!std::ranges::is_sorted(ids)) return std::nullopt;
  return ids;
}

std::string call_topic(std::string_view service, std::uint64_t client) { return derived(service, "/.call/", client); }
std::string reply_topic(std::string_view service, std::uint64_t client) { return derived(service, "/.reply/", client); }

std::optional<std::uint64_t> client_of(std::string_view topic, std::string_view service) noexcept {
  constexpr std::string_view between = "/.call/";
  constexpr std::size_t digits = 16;
  if (topic.size() != service.size() + between.size() + digits || topic.substr(0, service.size()) != service ||
      topic.substr(service.size(), between.size()) != between)
    return std::nullopt;
  std::uint64_t client = 0;
  for (const char c : topic.substr(topic.size() - digits)) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    client = client << 4 | digit;
  }
  return client;
}

}  // namespace orc::detail
