#include "tools/orc/type/type_file.h"

#include <flatbuffers/idl.h>
#include <flatbuffers/reflection.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "json/json_io.h"
#include "orc/schema.h"
#include "tools/orc/text.h"
#include "tools/orc/type/lcm_files.h"
#include "tools/orc/type/ros2_files.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

namespace fs = std::filesystem;
using described = detail::expected<type_description>;

// Several definitions of LCM in one schema.
constexpr std::size_t max_file_bytes = 4 * max_schema_bytes;

error wrong(const std::string& path, const std::string& why) {
  return error(errc::bad_argument, escaped(path) + ": " + escaped(why));
}

detail::expected<std::string> content_of(const fs::path& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) return wrong(path.string(), "this is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong(path.string(), std::strerror(errno));
  std::string bytes;
  std::array<char, 65536> part;
  while (file.read(part.data(), part.size()), file.gcount() > 0) {
    bytes.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > max_file_bytes)
      return wrong(path.string(), "the file has more than " + std::to_string(max_file_bytes) + " bytes");
  }
  return bytes;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& each : names) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// Returns the chosen name: the one asked for, with or without its package, or the only one.
detail::expected<std::string> choose(const std::string& path, const std::string& name,
                                     const std::vector<std::string>& names) {
  if (names.empty()) return wrong(path, "no type in this file");
  if (name.empty()) {
    if (names.size() == 1) return names.front();
    return wrong(path, "several types in this file; write " + path + ":NAME with one of " + list_of(names));
  }
  std::vector<std::string> fitting;
  for (const auto& each : names) {
    if (each == name) return each;
    if (each.ends_with("." + name)) fitting.push_back(each);
  }
  if (fitting.size() == 1) return fitting.front();
  if (!fitting.empty()) return wrong(path, name + " can be " + list_of(fitting) + ": write the whole name");
  return wrong(path, "no type " + name + " in this file; it has " + list_of(names));
}

// Where the names that a file imports begin: in its own directory and the current one, as protoc and flatc have them
// without -I, and in those above the file's, one of which was given with -I.
std::vector<std::string> import_roots(const fs::path& path) {
  std::error_code failure;
  const auto own = fs::absolute(path, failure).lexically_normal().parent_path();
  std::vector<std::string> roots{own.string(), fs::current_path(failure).string()};
  for (auto at = own; at.has_relative_path(); at = at.parent_path()) roots.push_back(at.parent_path().string());
  return roots;
}

// A file of LCM definitions.
struct lcm_file {
  std::string text;
  std::vector<std::string> names;  // of its types, with their package
};
using lcm_directory = std::map<fs::path, lcm_file>;

// Returns the .lcm files of a directory. Leaves out those that cannot be read.
lcm_directory lcm_files_in(const fs::path& directory) {
  lcm_directory files;
  std::error_code failure;
  for (const auto& each : fs::directory_iterator(directory, failure)) {
    if (each.path().extension() != ".lcm") continue;
    if (auto text = content_of(each.path())) {
      auto names = lcm_names_in(*text);
      files.emplace(each.path().filename(), lcm_file{*std::move(text), std::move(names)});
    }
  }
  return files;
}

bool has_package(const lcm_file& file) { return !file.names.empty() && file.names[0].find('.') != std::string::npos; }

// Whether the definitions use one of these types: its name without the package is a part of the text.
bool mentions(const std::string& text, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return text.find(name.substr(name.rfind('.') + 1)) != std::string::npos;
  });
}

// Adds the definitions of other files that are used, until the type is complete. Those without a package come first,
// because a package counts up to the next one.
bool complete_with(type_description& type, const lcm_file& own, const lcm_directory& others) {
  std::set<std::string> defined(own.names.begin(), own.names.end());
  std::string before = has_package(own) ? "" : own.text;
  std::string after = has_package(own) ? own.text : "";
  for (bool added = true; added;) {
    added = false;
    for (const auto& [path, file] : others) {
      const bool known =
          std::any_of(file.names.begin(), file.names.end(), [&](auto& name) { return defined.contains(name); });
      if (known || !mentions(before + after, file.names)) continue;
      added = true;
      defined.insert(file.names.begin(), file.names.end());
      (has_package(file) ? after : before) += "\n" + file.text;
      type.schema = before + "\n" + after;
      if (type.schema.size() > max_schema_bytes) return false;
      if (check_schema(type)) return true;
    }
  }
  return false;
}

// Returns those definitions that the type needs: the file's own, and where that does not suffice, its neighbours'.
described lcm_type(const fs::path& path, const std::string& name, const lcm_directory* known) {
  auto text = content_of(path);
  if (!text) return text.error();
  auto chosen = choose(path.string(), name, lcm_names_in(*text));
  if (!chosen) return chosen.error();
  type_description type{*chosen, "lcm", "lcm", *text};
  const result alone = check_schema(type);
  if (alone) return type;
  const lcm_file own{*text, lcm_names_in(*text)};
  const bool found = complete_with(
      type, own, known != nullptr ? *known : lcm_files_in(path.has_parent_path() ? path.parent_path() : "."));
  if (found) return type;
  return wrong(path.string(), alone.error().message());
}

described lcm_type(const fs::path& path, const std::string& name) { return lcm_type(path, name, nullptr); }

described flatbuffer_type(const fs::path& path, const std::string& name) {
  auto content = content_of(path);
  if (!content) return content.error();
  std::string schema = *std::move(content);
  if (path.extension() == ".fbs") {
    flatbuffers::IDLOptions options;
    options.lang_to_generate =
        flatbuffers::IDLOptions::kBinary;  // as flatc --schema: unions may have structs and texts
    flatbuffers::Parser parser(options);
    const auto roots = import_roots(path);
    std::vector<const char*> include_paths;
    for (const auto& each : roots) include_paths.push_back(each.c_str());
    include_paths.push_back(nullptr);
    const std::string file = path.string();
    if (!parser.Parse(schema.c_str(), include_paths.data(), file.c_str())) return wrong(file, parser.error_);
    if (!name.empty() && !parser.SetRootType(name.c_str()) &&
        (parser.root_struct_def_ == nullptr ||
         parser.root_struct_def_->defined_namespace->GetFullyQualifiedName(parser.root_struct_def_->name) != name))
      return wrong(file, "no table " + name + " in this file");
    if (parser.root_struct_def_ == nullptr) return wrong(file, "no root_type in this file; write " + file + ":TABLE");
    parser.opts.binary_schema_comments = true;
    parser.Serialize();
    schema.assign(reinterpret_cast<const char*>(parser.builder_.GetBufferPointer()), parser.builder_.GetSize());
  }
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(schema.data()), schema.size());
  if (!reflection::VerifySchemaBuffer(verifier)) return wrong(path.string(), "not a binary schema of FlatBuffers");
  const auto* const root = reflection::GetSchema(schema.data())->root_table();
  if (root == nullptr) return wrong(path.string(), "this binary schema has no root_type");
  const std::string found = root->name()->str();
  if (auto chosen = choose(path.string(), name, {found}); !chosen) return chosen.error();
  return type_description{found, "flatbuffer", "flatbuffer", std::move(schema)};
}

constexpr const char* hint_of_editions =
    " (an edition that this build's Protobuf cannot read as text: use protoc --include_imports "
    "--descriptor_set_out=FILE.desc)";

class proto_errors : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    if (text.empty()) text = file + ":" + std::to_string(line + 1) + ": " + message;
  }
  std::string text;
};

void add_with_dependencies(const google::protobuf::FileDescriptor& file, google::protobuf::FileDescriptorSet& to,
                           std::set<std::string>& known) {
  if (!known.insert(file.name()).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) add_with_dependencies(*file.dependency(i), to, known);
  file.CopyTo(to.add_file());
}

void add_names(const google::protobuf::DescriptorProto& of, const std::string& scope, std::vector<std::string>& to) {
  const std::string name = scope.empty() ? of.name() : scope + "." + of.name();
  to.push_back(name);
  for (const auto& each : of.nested_type())
    if (!each.options().map_entry()) add_names(each, name, to);
}

described protobuf_type(const fs::path& path, const std::string& name) {
  google::protobuf::FileDescriptorSet set;
  std::vector<std::string> names;
  if (path.extension() == ".proto") {
    const auto readable = content_of(path);
    if (!readable) return readable.error();
    google::protobuf::compiler::DiskSourceTree tree;
    for (const auto& each : import_roots(path)) tree.MapPath("", each);
    // google/protobuf/*.proto, which protoc has with it
    google::protobuf::DescriptorPoolDatabase well_known(*google::protobuf::DescriptorPool::generated_pool());
    google::protobuf::compiler::SourceTreeDescriptorDatabase files(&tree, &well_known);
    proto_errors errors;
    files.RecordErrorsTo(&errors);
    google::protobuf::DescriptorPool pool(&files, files.GetValidationErrorCollector());
    pool.EnforceWeakDependencies(true);
    const auto* const file = pool.FindFileByName(path.filename().string());
    if (file == nullptr) {
      const bool edition = readable->find("\nedition") != std::string::npos || readable->starts_with("edition");
      return wrong(path.string(), errors.text + (edition ? hint_of_editions : ""));
    }
    std::set<std::string> known;
    add_with_dependencies(*file, set, known);
    const auto& own = set.file(set.file_size() - 1);
    for (const auto& each : own.message_type()) add_names(each, own.package(), names);
  } else {
    const auto content = content_of(path);
    if (!content) return content.error();
    if (!set.ParseFromString(*content)) return wrong(path.string(), "not a FileDescriptorSet of Protobuf");
    for (const auto& file : set.file())
      for (const auto& each : file.message_type()) add_names(each, file.package(), names);
  }
  auto chosen = choose(path.string(), name, names);
  if (!chosen) return chosen.error();
  return type_description{*std::move(chosen), "protobuf", "protobuf", set.SerializeAsString()};
}

described ros2_type(const fs::path& path, const std::string& name) {
  auto text = content_of(path);
  if (!text) return text.error();
  const std::string full = name.empty() ? ros2_name_of(path) : name;
  if (full.empty()) return wrong(path.string(), "write " + path.string() + ":PACKAGE/msg/" + path.stem().string());
  const auto read = [](const fs::path& file) -> std::optional<std::string> {
    auto content = content_of(file);
    return content ? std::optional(*std::move(content)) : std::nullopt;
  };
  return type_description{full, "ros2msg", "cdr", with_ros2_neighbours(path, full, *std::move(text), read)};
}

described json_type(const fs::path& path, const std::string& name) {
  auto text = content_of(path);
  if (!text) return text.error();
  nlohmann::json parsed;
  if (detail::read_json(*text, parsed, detail::any_json_depth)) return wrong(path.string(), "this is not JSON");
  if (parsed.is_object() && parsed.contains("byte_order") && parsed.contains("fields")) {
    while (text->ends_with('\n')) text->pop_back();
    return type_description{name, "struct", "struct", *std::move(text)};
  }
  return type_description{name.empty() ? path.stem().string() : name, "jsonschema", "json", *std::move(text)};
}

struct parts {
  fs::path path;
  std::string name;
};

parts parts_of(const std::string& words) {
  std::error_code failure;
  const auto colon = words.rfind(':');
  if (colon == std::string::npos || fs::exists(words, failure)) return {words, ""};
  return {words.substr(0, colon), words.substr(colon + 1)};
}

}  // namespace

bool names_file(const std::string& words) {
  std::error_code failure;
  return fs::is_regular_file(parts_of(words).path, failure);
}

described type_from_file(const std::string& words) {
  using reader = described (*)(const fs::path&, const std::string&);
  static const std::map<std::string, reader> readers{
      {".lcm", lcm_type},     {".bfbs", flatbuffer_type}, {".fbs", flatbuffer_type}, {".proto", protobuf_type},
      {".pb", protobuf_type}, {".desc", protobuf_type},   {".msg", ros2_type},       {".json", json_type},
  };
  const auto [path, name] = parts_of(words);
  const auto found = readers.find(path.extension().string());
  if (found == readers.end())
    return wrong(path.string(), "not a file of types: .lcm, .fbs, .bfbs, .proto, .pb, .desc, .msg or .json");
  auto type = found->second(path, name);
  if (!type) return type;
  if (const auto good = check_schema(*type); !good) return wrong(path.string(), good.error().message());
  return type;
}

detail::expected<std::vector<type_description>> lcm_types_in(const std::vector<std::string>& paths) {
  std::vector<type_description> types;
  // Of a directory, definitions that cannot be read are left out; a file that is named must be right.
  const auto add = [&types](const fs::path& file, const lcm_directory& others, bool named) -> result {
    const auto text = content_of(file);
    if (!text) return named ? result(text.error()) : result();
    for (const auto& name : lcm_names_in(*text)) {
      auto type = lcm_type(file, name, &others);
      if (!type && named) return type.error();
      if (type) types.push_back(*std::move(type));
    }
    return {};
  };
  for (const auto& each : paths) {
    std::error_code failure;
    if (!fs::is_directory(each, failure)) {
      const fs::path path(each);
      const auto others = lcm_files_in(path.has_parent_path() ? path.parent_path() : ".");
      if (auto added = add(path, others, true); !added) return added.error();
      continue;
    }
    std::set<fs::path> directories{each};
    for (const auto& one : fs::recursive_directory_iterator(each, failure))
      if (one.is_directory(failure)) directories.insert(one.path());
    const std::size_t before = types.size();
    for (const auto& directory : directories) {
      const auto files = lcm_files_in(directory);
      for (const auto& [name, file] : files) (void)add(directory / name, files, false);
    }
    if (types.size() == before) return wrong(each, "no type in the .lcm files of this directory");
  }
  return types;
}

}  // namespace orc::cli
