#include "tools/orc/sample/sample_printer.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "orc/types/json.h"
#include "tools/orc/common_options.h"
#include "tools/orc/sample/sample_tree.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// Longer arrays end with "… 997 more".
constexpr std::size_t folded_elements = 16;

}  // namespace

void add_print_options(CLI::App& command, print_options& options) {
  auto* hex =
      command.add_flag("--hex", options.hex, "Payload as hexadecimal digits (default: text if it is printable UTF-8)");
  auto* text = command.add_flag("--text", options.text, "Payload as text, anything unprintable escaped")->excludes(hex);
  auto* raw = command.add_flag("--raw", options.raw, "Only the bytes of the payloads, nothing between them")
                  ->excludes(hex)
                  ->excludes(text);
  auto* full = command.add_flag("--full", options.full,
                                "Long arrays and payloads whole (default: the first 16 elements, 256 bytes of text, "
                                "64 of hex)");
  full->excludes(raw);
  command.add_option("--field", options.fields, "Only this field, such as q[3] or pose.position.x; may be repeated")
      ->type_name("PATH")
      ->excludes(hex)
      ->excludes(text)
      ->excludes(raw)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_as(
      command, options.style.numbers,
      "Payload as numbers: f8x7 is seven doubles, u4,f4x3 an unsigned integer of 4 bytes and three floats; i, u or f "
      "and the bytes of one number, packed, in this machine's byte order")
      ->excludes(hex)
      ->excludes(text)
      ->excludes(raw)
      ->excludes(full);
}

// JSON shows everything whole anyway.
void exclude_json(CLI::App& command) {
  command.get_option("--json")->excludes(command.get_option("--raw"))->excludes(command.get_option("--full"));
}

void settle(print_options& options) {
  if (options.hex) options.style.shown = payload_style::form::hex;
  if (options.text) options.style.shown = payload_style::form::text;
}

bool sample_printer::show(const sample_labels& labels, std::span<const std::byte> sample, const types::decoder* type,
                          const std::string& why) {
  if (options_.raw) return out_.write(as_text(sample));
  if (type != nullptr && !options_.shows_bytes())
    return options_.fields.empty() ? show_decoded(labels, sample, *type) : show_fields(labels, sample, *type);
  if (!options_.fields.empty()) {
    remark(why.empty() ? "topic '" + labels.topic + "' is untyped: it has no fields (--type FILE:NAME)" : why);
    return true;
  }
  if (!why.empty()) remark(why);
  return show_bytes(labels, sample);
}

bool sample_printer::show_bytes(const sample_labels& labels, std::span<const std::byte> sample) {
  return out_.line(options_.json ? sample_json(labels, sample, options_.style)
                                 : sample_line(labels, sample, options_.style, options_.full));
}

bool sample_printer::show_decoded(const sample_labels& labels, std::span<const std::byte> sample,
                                  const types::decoder& type) {
  tree_text tree;
  const result decoded = options_.json
                             ? types::to_json(type, sample, {}, text_)
                             : sample_tree(type, sample, {.fold = folded_elements, .whole = options_.full}, tree);
  if (!decoded) {
    remark("this is no " + escaped(type.type().name) + ": " + decoded.error().message());
    return show_bytes(labels, sample);
  }
  if (options_.json) return out_.line(typed_json(labels, type.type().name, text_));
  return out_.write(labels.line + "\n" + tree.lines);
}

// One line per sample, with the value alone if there is one field.
bool sample_printer::show_fields(const sample_labels& labels, std::span<const std::byte> sample,
                                 const types::decoder& type) {
  std::vector<std::string> values;
  for (const std::string& each : options_.fields) {
    types::field_path path;
    result found = type.path(each, path);
    if (!found) {
      out_.note(escaped(found.error().message()));
      wrong_field_ = true;
      return false;
    }
    const types::json_options style{.pretty = false, .fold = options_.json ? 0 : fold()};
    found = types::to_json(type, sample, path, style, text_);
    if (!found) {
      remark("this is no " + escaped(type.type().name) + ": " + found.error().message());
      text_ = "null";
    }
    values.push_back(text_);
  }
  if (options_.json) return out_.line(fields_json(labels, options_.fields, values));
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > 1) line += (i == 0 ? "" : " ") + options_.fields[i] + "=";
    line += values[i];
  }
  return out_.line(line);
}

std::size_t sample_printer::fold() const noexcept { return options_.full ? 0 : folded_elements; }

// Once per text: a stream of such samples must not fill the terminal.
void sample_printer::remark(const std::string& text) {
  if (std::exchange(remarked_, text) != text) out_.note(escaped(text));
}

}  // namespace orc::cli
