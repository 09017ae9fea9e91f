// Reads JSON (RFC 8259) without an object per value: 16 bytes of memory per value, whatever the text holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace orc::detail {

enum class json_kind : std::uint8_t { null, boolean, number, text, array, object };

class json_document;

// A value of a document, which must outlive it.
class json_value {
 public:
  [[nodiscard]] json_kind kind() const noexcept;
  // Returns the byte of the document with which the value begins.
  [[nodiscard]] std::size_t offset() const noexcept;
  // Returns the number if it is an integer without fraction or exponent that fits.
  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  // Returns the text of a value of kind text, without quotes and escapes.
  [[nodiscard]] std::string text() const;
  // Returns the first element of an array, or the key of an object's first member. Nothing: it has none, or is another
  // kind.
  [[nodiscard]] std::optional<json_value> first() const noexcept;
  // Returns the next element of the same array. In an object keys and values alternate.
  [[nodiscard]] std::optional<json_value> next() const noexcept;
  // Returns the member's value; the last one, if several have the key.
  [[nodiscard]] std::optional<json_value> member(std::string_view key) const;

 private:
  friend class json_document;
  json_value(const json_document& document, std::uint32_t index) noexcept : document_(&document), index_(index) {}

  const json_document* document_;
  std::uint32_t index_;
};

class json_document {
 public:
  // `text` must outlive the document. Error: "byte 17: …".
  [[nodiscard]] static expected<json_document> parse(std::string_view text);
  [[nodiscard]] json_value root() const noexcept { return {*this, 0}; }

 private:
  friend class json_value;
  friend class json_parser;
  struct node {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;   // of the text
    std::uint32_t next = 0;  // the node behind this one and all in it; 0: it is the last in its parent
    json_kind kind = json_kind::null;
    bool empty = true;  // array, object
  };
  std::string_view text_;
  std::vector<node> nodes_;  // each value before those in it
};

}  // namespace orc::detail
