// MCAP files made byte by byte, with what the recording component's writer never writes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orc::test {

// Times in ns. Chunks have no message indexes behind them; the index of chunks names channels all the same.
class mcap_bytes {
 public:
  static constexpr std::string_view magic{"\x89MCAP0\r\n", 8};

  static std::string schema(std::uint16_t id, std::string_view name, std::string_view text) {
    return record(0x03, number(id) + sized(name) + sized("jsonschema") + sized(text));
  }
  static std::string channel(std::uint16_t id, std::string_view topic, std::uint16_t schema = 0) {
    return record(0x04, number(id) + number(schema) + sized(topic) + sized("json") + number(std::uint32_t{0}));
  }
  static std::string message(std::uint16_t channel, std::uint64_t at, std::string_view data) {
    return record(0x05, number(channel) + number(std::uint32_t{1}) + number(at) + number(at) + std::string(data));
  }

  // Outside of chunks.
  mcap_bytes& add(const std::string& records) {
    data_ += records;
    return *this;
  }
  // The index says that it has messages of these channels.
  mcap_bytes& chunk(const std::string& records, std::uint64_t first, std::uint64_t last,
                    const std::vector<std::uint16_t>& indexed) {
    const std::string made =
        record(0x06, number(first) + number(last) + number(std::uint64_t{records.size()}) + number(std::uint32_t{0}) +
                         sized("") + number(std::uint64_t{records.size()}) + records);
    std::string places;
    for (const std::uint16_t each : indexed) places += number(each) + number(std::uint64_t{0});
    index_ +=
        record(0x08, number(first) + number(last) + number(std::uint64_t{data_.size()}) +
                         number(std::uint64_t{made.size()}) + sized(places) + number(std::uint64_t{0}) + sized("") +
                         number(std::uint64_t{records.size()}) + number(std::uint64_t{records.size()}));
    first_ = chunks_ == 0 ? first : first_;
    last_ = last;
    ++chunks_;
    data_ += made;
    return *this;
  }
  // The file. `summary`: its schemas and channels; `counts`: the samples of each, as the statistics have it.
  [[nodiscard]] std::string end(const std::string& summary, const std::map<std::uint16_t, std::uint64_t>& counts,
                                std::uint64_t messages) const {
    std::string count;
    for (const auto& [id, samples] : counts) count += number(id) + number(samples);
    const std::string data = data_ + record(0x0F, number(std::uint32_t{0}));
    const std::string statistics =
        record(0x0B, number(messages) + number(std::uint16_t{0}) + number(std::uint32_t{0}) + number(std::uint32_t{0}) +
                         number(std::uint32_t{0}) + number(chunks_) + number(first_) + number(last_) + sized(count));
    return data + summary + statistics + index_ +
           record(0x02, number(std::uint64_t{data.size()}) + number(std::uint64_t{0}) + number(std::uint32_t{0})) +
           std::string(magic);
  }

 private:
  template <std::unsigned_integral T>
  static std::string number(T value) {
    std::string made;
    for (std::size_t i = 0; i < sizeof(T); ++i) made += static_cast<char>(std::uint64_t{value} >> (8 * i) & 0xFF);
    return made;
  }
  static std::string sized(std::string_view text) {
    return number(static_cast<std::uint32_t>(text.size())) + std::string(text);
  }
  static std::string record(std::uint8_t code, const std::string& content) {
    return static_cast<char>(code) + number(std::uint64_t{content.size()}) + content;
  }

  std::string data_ = std::string(magic) + record(0x01, sized("") + sized("test"));
  std::string index_;
  std::uint32_t chunks_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace orc::test
