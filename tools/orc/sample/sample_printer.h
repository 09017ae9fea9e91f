// Prints samples: decoded, or their bytes; what `orc topic echo` and `orc log echo` share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "orc/types/decoder.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/orc/console.h"
#include "tools/orc/sample/sample_text.h"

namespace orc::cli {

struct print_options {
  payload_style style;
  bool hex = false;
  bool text = false;
  bool raw = false;   // only the payloads, nothing between them
  bool full = false;  // long arrays and payloads whole
  bool json = false;
  std::vector<std::string> fields;

  // Whether a form of the bytes was asked for, so that no type is needed.
  [[nodiscard]] bool shows_bytes() const noexcept {
    return raw || style.shown != payload_style::form::automatic || style.numbers.has_value();
  }
};

// Adds --hex, --text, --raw, --full, --field and --as. Call exclude_json() when --json is there, and settle() in the
// command's callback.
void add_print_options(CLI::App& command, print_options& options);
void exclude_json(CLI::App& command);
void settle(print_options& options);

class sample_printer {
 public:
  // Both must outlive it.
  sample_printer(console& out, const print_options& options) : out_(out), options_(options) {}

  // Decodes the sample with `type`. Null: shows the bytes, and remarks on `why` there is no type unless that is empty.
  // False: stop. Then the type lacks one of the fields, or the console says why.
  bool show(const sample_labels& labels, std::span<const std::byte> sample, const types::decoder* type,
            const std::string& why);

  [[nodiscard]] bool wrong_field() const noexcept { return wrong_field_; }

 private:
  bool show_bytes(const sample_labels& labels, std::span<const std::byte> sample);
  bool show_decoded(const sample_labels& labels, std::span<const std::byte> sample, const types::decoder& type);
  bool show_fields(const sample_labels& labels, std::span<const std::byte> sample, const types::decoder& type);
  [[nodiscard]] std::size_t fold() const noexcept;
  void remark(const std::string& text);

  console& out_;
  const print_options& options_;
  std::string text_;
  std::string remarked_;
  bool wrong_field_ = false;
};

}  // namespace orc::cli
