// The schemas of type descriptions, each kept once under the hash of its description, which the broker computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "client_table.h"
#include "wire/control.h"

namespace orc {

class schema_store {
 public:
  // Bytes that claim() would add to all schemas, and to those of this client.
  struct cost {
    std::size_t total = 0;
    std::size_t of_client = 0;
  };
  [[nodiscard]] cost cost_of(std::uint64_t hash, std::size_t bytes, const client& who) const;
  // Returns whether other bytes are kept under this hash.
  [[nodiscard]] bool contradicts(std::uint64_t hash, const std::string& bytes) const;
  // Counts one more publication of this client with the schema. Changes nothing when it throws.
  void claim(std::uint64_t hash, const std::string& bytes, client& who);
  void release(std::uint64_t hash, client& who) noexcept;
  // Nothing: no publication brought the bytes.
  [[nodiscard]] const std::string* find(std::uint64_t hash) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct schema {
    std::string bytes;
    std::map<const client*, std::size_t> publications;
  };
  std::map<std::uint64_t, schema> schemas_;
  std::size_t bytes_ = 0;
};

}  // namespace orc
