// What a reader reads: a file, or bytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orc/result.h"

namespace orc::recording::detail {

class input_file {
 public:
  virtual ~input_file() = default;
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  // Opens a file. It is read with pread, never mapped: one that becomes shorter must not kill the process.
  static result open(const std::string& path, std::unique_ptr<input_file>& made);
  // Bytes in memory; the name is for messages.
  static std::unique_ptr<input_file> of_bytes(std::string name, std::vector<std::byte> bytes);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // At the time of opening.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Fills all of `to`. - bad_argument: the file ends before.
  virtual result read(std::uint64_t offset, std::span<std::byte> to) const = 0;

 protected:
  input_file(std::string name, std::uint64_t size) noexcept : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::uint64_t size_;
};

}  // namespace orc::recording::detail
