// Fingerprints of 50 generated types against those that lcm-gen computes: nested, recursive, in packages.
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "interop/peers.h"
#include "orc/schema.h"

using namespace orc::test;

namespace {

constexpr unsigned group_size = 5;
constexpr unsigned type_count = 50;

// Types are in groups. Within a group they may contain each other, also in circles; outside of it only types of the
// first two groups: lcm-gen's Python code takes time exponential in the length of such chains.
class type_maker {
 public:
  std::string definitions() {
    std::string text;
    for (unsigned i = 0; i < type_count; ++i) text += definition(i);
    return text;
  }
  static std::string package(unsigned type) { return type % 3 == 2 ? "deep.er" : "p" + std::to_string(type % 3); }
  static std::string name(unsigned type) { return "t" + std::to_string(type); }
  static std::string full_name(unsigned type) { return package(type) + "." + name(type); }

 private:
  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }

  std::string nested_type(unsigned user) {
    const unsigned group = user / group_size;
    const bool own_group = group < 2 || below(2) == 0;
    const unsigned type = own_group ? group * group_size + below(group_size) : below(2 * group_size);
    return package(type) == package(user) && below(2) == 0 ? name(type) : full_name(type);
  }

  std::string dimensions(bool has_length) {
    std::string text;
    for (unsigned i = below(4); i > 1; --i) {
      const auto size = std::to_string(1 + below(9));
      text += has_length && below(2) == 0 ? "[n]" : below(4) == 0 ? "[0x" + size + "]" : "[ " + size + " ]";
    }
    return text;
  }

  std::string definition(unsigned type) {
    static const std::vector<std::string> primitives{"int8_t", "int16_t", "int32_t", "int64_t", "byte",
                                                     "float",  "double",  "string",  "boolean"};
    std::string text =
        "package " + package(type) + ";\n/* Type\n * " + name(type) + " */\nstruct " + name(type) + " {\n";
    const bool has_length = below(2) == 0;
    if (has_length) text += "  int32_t n; // elements\n";
    if (below(3) == 0) text += "  const int32_t A = 1, B = -0x10;\n";
    unsigned nested = 0;
    for (unsigned i = 0, members = below(7); i < members; ++i) {
      const bool is_nested = nested < 2 && below(3) == 0;
      if (is_nested) ++nested;
      const auto member = "m" + std::string(below(140), 'x') + std::to_string(i);
      text += "  " + (is_nested ? nested_type(type) : primitives[below(9)]) + " " + member + dimensions(has_length);
      text += below(3) == 0 ? ", _" + member + ";\n" : ";\n";
    }
    return text + "}\n";
  }

  std::mt19937 random_{20'260'114};
};

// What the classes say that lcm-gen made: the fingerprint of each type by its full name.
std::map<std::string, std::string> told_by(const std::string& lcm_gen, const std::string& definitions) {
  const orc::detail::temporary_directory folder;
  const auto file = folder.path() / "types.lcm";
  std::ofstream(file) << definitions;
  std::string why;
  INFO(lcm_gen);
  const bool made = run_command({lcm_gen, "-p", "--ppath", folder.path().string(), file.string()}, why);
  INFO(why);
  REQUIRE(made);
  std::string program = "import sys, importlib\nsys.path.insert(0, sys.argv[1])\n";
  program += "for name in sys.argv[2:]:\n  package, type = name.rsplit('.', 1)\n";
  program += "  found = getattr(importlib.import_module(package), type)\n";
  program += "  print(name, '0x' + found._get_packed_fingerprint().hex())\n";
  std::vector<std::string> command{of_venv("python3"), "-c", program, folder.path().string()};
  for (unsigned i = 0; i < type_count; ++i) command.push_back(type_maker::full_name(i));
  child_process python(command);
  std::istringstream lines(python.read_all());
  INFO(lines.str());
  REQUIRE(python.wait_for_end() == 0);
  std::map<std::string, std::string> told;
  for (std::string name, fingerprint; lines >> name >> fingerprint;) told[name] = fingerprint;
  return told;
}

std::string hex(std::uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(16) << std::setfill('0') << value;
  return text.str();
}

void compare_with(const std::string& lcm_gen) {
  const auto definitions = type_maker().definitions();
  const auto told = told_by(lcm_gen, definitions);
  REQUIRE(told.size() == type_count);
  for (unsigned i = 0; i < type_count; ++i) {
    const orc::type_description type{type_maker::full_name(i), "lcm", "lcm", definitions};
    INFO(type.name << " in\n" << definitions);
    const auto fingerprint = orc::lcm_fingerprint(type);
    REQUIRE(fingerprint);
    CHECK(hex(*fingerprint) == told.at(type.name));
  }
}

}  // namespace

TEST_CASE("lcm fingerprint: for 50 generated types it is that of lcm-gen of PyPI", "[interop]") {
  if (const auto why = missing(kind::python)) return skip(*why);
  compare_with(of_venv("lcm-gen"));
}

TEST_CASE("lcm fingerprint: for 50 generated types it is that of the distribution's lcm-gen", "[interop]") {
  if (const auto why = missing(kind::python)) return skip(*why);
  if (!std::filesystem::exists("/usr/bin/lcm-gen")) return skip("no /usr/bin/lcm-gen: install liblcm-bin");
  compare_with("/usr/bin/lcm-gen");
}
