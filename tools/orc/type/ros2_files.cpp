#include "tools/orc/type/ros2_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/type_description.h"

namespace orc::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view blank = " \t\r";

struct message_name {
  std::string package;
  std::string name;
  auto operator<=>(const message_name&) const = default;
};

// "pkg/msg/Name", "pkg/Name", or "Name" of the package around it.
message_name split(std::string_view text, const std::string& package) {
  const auto first = text.find('/');
  const auto last = text.rfind('/');
  if (first == std::string_view::npos) return {text == "Header" ? "std_msgs" : package, std::string(text)};
  return {std::string(text.substr(0, first)), std::string(text.substr(last + 1))};
}

// The type with which a line begins, or what it is else; empty: it is blank or a comment.
std::string_view first_word(std::string_view line) {
  line = line.substr(0, line.find('#'));
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  return line.substr(0, line.find_first_of(" \t\r[<"));
}

// Directories with packages: those above the file's package, then the installed ones.
std::vector<fs::path> package_roots(const fs::path& own_package) {
  std::vector<fs::path> roots;
  for (auto at = own_package; at.has_relative_path(); at = at.parent_path()) roots.push_back(at.parent_path());
  const char* const prefixes = std::getenv("AMENT_PREFIX_PATH");
  for (std::string_view rest = prefixes == nullptr ? "" : prefixes; !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) roots.push_back(fs::path(rest.substr(0, end)) / "share");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return roots;
}

fs::path normal(const fs::path& file) {
  std::error_code failure;
  return fs::absolute(file, failure).lexically_normal();
}

// The messages that one text uses, and those that it defines.
class message_scan {
 public:
  void read(std::string_view text, message_name own) {
    std::string package = own.package;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    defined_.insert(std::move(own));
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      const auto line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const auto word = first_word(line);
      if (word == "MSG:") {
        auto name = line.substr(line.find(':') + 1);
        name.remove_prefix(std::min(name.find_first_not_of(blank), name.size()));
        auto defined = split(first_word(name), package);
        package = defined.package;
        defined_.insert(std::move(defined));
      } else if (!word.empty()) {
        used_.push_back(split(word, package));
      }
    }
  }
  // Returns the next that is used and not defined; it then counts as defined.
  bool next(message_name& found) {
    while (!used_.empty()) {
      found = std::move(used_.back());
      used_.pop_back();
      if (defined_.insert(found).second) return true;
    }
    return false;
  }

 private:
  std::vector<message_name> used_;
  std::set<message_name> defined_;
};

}  // namespace

std::string ros2_name_of(const fs::path& file) {
  const auto path = normal(file);
  const auto package = path.parent_path().parent_path();
  if (path.parent_path().filename() != "msg" || !package.has_filename()) return {};
  std::string name = package.filename().string();
  std::ifstream manifest(package / "package.xml");
  const std::string text{std::istreambuf_iterator<char>(manifest), {}};
  const auto begin = text.find("<name>");
  const auto end = text.find("</name>");
  if (begin != std::string::npos && end != std::string::npos && end > begin)
    name = text.substr(begin + 6, end - begin - 6);
  return name + "/msg/" + path.stem().string();
}

std::string with_ros2_neighbours(const fs::path& file, const std::string& name, std::string text,
                                 const file_reader& read) {
  const auto directory = normal(file).parent_path();
  const auto roots = package_roots(directory.parent_path());
  const auto own = split(name, "");
  message_scan scan;
  scan.read(text, own);
  for (message_name each; text.size() <= max_schema_bytes && scan.next(each);) {
    std::vector<fs::path> places;
    if (each.package == own.package) places.push_back(directory);
    for (const auto& root : roots) places.push_back(root / each.package / "msg");
    for (const auto& place : places) {
      std::error_code failure;
      const auto candidate = place / (each.name + ".msg");
      if (!fs::is_regular_file(candidate, failure)) continue;
      const auto found = read(candidate);
      if (!found) continue;
      text += "\n" + std::string(80, '=') + "\nMSG: " + each.package + "/" + each.name + "\n" + *found;
      scan.read(*found, each);
      break;
    }
  }
  return text;
}

}  // namespace orc::cli
