#include "schema/sentences.h"

#include "base/text/printable.h"

namespace orc::detail {
namespace {

constexpr std::size_t max_path_bytes = 1'024;

}  // namespace

sentences::sentences(std::string_view publisher)
    : there_(publisher.empty() ? "at the publisher" : "at publisher `" + escaped(publisher) + "`") {}

std::string sentences::differs(const std::string& what, const std::string& published,
                               const std::string& expected) const {
  return what + " is " + published + " " + there_ + ", " + expected + " here";
}

std::string sentences::only_there(const std::string& what, const std::string& published) const {
  return differs(what, published, "missing");
}

std::string sentences::only_here(const std::string& what, const std::string& expected) const {
  return differs(what, "missing", expected);
}

std::string sentences::field(const std::string& path) { return "field `" + path + "`"; }

std::string sentences::joined(const std::string& path, std::string_view name) {
  if (path.size() > max_path_bytes) return path.ends_with(".…") ? path : path + ".…";
  return path.empty() ? escaped(name) : path + "." + escaped(name);
}

std::string sentences::type_name(std::string_view name) { return name.empty() ? "an unnamed type" : escaped(name); }

std::string sentences::hex(std::uint64_t value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

}  // namespace orc::detail
