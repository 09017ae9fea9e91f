// Samples of struct and LCM as ROS 2's CDR. The first byte picks a fixed type, or says that a schema of struct or lcm
// follows, behind its length in two bytes; the rest is the sample, without LCM's fingerprint. What becomes of it has
// the same values.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/schema.h"
#include "orc/types/decoder.h"
#include "support/leaf_list.h"
#include "tools/web/ros2/cdr_transcoder.h"

namespace {

using namespace orc;

struct transcoded_type {
  std::unique_ptr<types::decoder> original;
  std::unique_ptr<const web::cdr_transcoder> transcoder;
  std::unique_ptr<types::decoder> cdr;
};

// Null: this is no type, or ROS 2 cannot have it. Each definition that is written can be read.
std::unique_ptr<transcoded_type> transcoded(const type_description& type) {
  auto made = std::make_unique<transcoded_type>();
  if (!types::decoder::make(type, made->original)) return nullptr;
  std::string problem;
  made->transcoder = web::cdr_transcoder::make(*made->original, type.name, problem);
  if ((made->transcoder == nullptr) == problem.empty()) std::abort();
  if (!made->transcoder) return nullptr;
  const type_description cdr{made->transcoder->schema_name(), "ros2msg", "cdr", made->transcoder->schema()};
  if (!types::decoder::make(cdr, made->cdr)) std::abort();
  return made;
}

void check(const transcoded_type& type, std::span<const std::byte> rest) {
  std::vector<std::byte> sample;
  if (const auto fingerprint = lcm_fingerprint(type.original->type())) {
    for (int shift = 56; shift >= 0; shift -= 8)
      sample.push_back(static_cast<std::byte>(*fingerprint >> shift & 0xffU));
  }
  sample.insert(sample.end(), rest.begin(), rest.end());
  std::vector<std::byte> made;
  const result outcome = type.transcoder->transcode(sample, made);
  if (made.size() > web::cdr_transcoder::most_bytes(sample.size())) std::abort();
  test::leaf_list expected;
  const result read = type.original->walk(sample, expected);
  if (outcome && !read) std::abort();
  if (!outcome) {
    if (read && outcome.error().message().find("would have more than") == std::string::npos) std::abort();
    return;
  }
  test::leaf_list found;
  const result again = type.cdr->walk(made, found);
  // A structure without fields has one there: more values than a walk visits.
  if (!again && again.error().message().find("more values than") == std::string::npos) std::abort();
  if (again && found.leaves() != expected.leaves()) std::abort();
}

const std::array<type_description, 4>& fixed_types() {
  static const std::array<type_description, 4> types{
      {{"a.T", "struct", "struct",
        R"({"byte_order":"big","size":40,"fields":[{"name":"q","type":"float64","offset":0,"shape")"
        R"(:[2],"unit":"rad"},{"name":"Name","type":"char","offset":16,"shape":[2,3]},{"name":"mode",)"
        R"("type":"int8","offset":22,"values":{"idle":0,"on":1}},{"name":"s","type":{"size":4,"field)"
        R"(s":[{"name":"v","type":"uint16","offset":0},{"name":"b","type":"bool","offset":2,"shape":[2]}]},)"
        R"("offset":24,"shape":[2,2]}]})"},
       {"p.t", "lcm", "lcm",
        "package p; struct e { } struct j { int8_t k; string n; double y[k]; e none; } struct t { int8_t n; "
        "double x[n]; j js[n][2]; e es[n]; string s; byte b[3]; boolean f[n]; int16_t m[2][n]; int64_t last; }"},
       {"t", "lcm", "lcm", "struct t { int8_t n; int64_t a[n]; string s; int16_t b[n]; float c; string w[n]; }"},
       {"t", "lcm", "lcm", "struct e { } struct k { int8_t n; e a[n]; e b[n]; } struct t { int8_t n; k all[n]; }"}}};
  return types;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto fixed = [] {
    std::vector<std::unique_ptr<transcoded_type>> made;
    for (const auto& type : fixed_types()) {
      if (!made.emplace_back(transcoded(type))) std::abort();
    }
    return made;
  }();
  if (size == 0) return 0;
  const auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] < fixed.size()) {
    check(*fixed[data[0]], rest);
  } else if (size > 3) {
    const std::size_t length = std::min<std::size_t>(data[1] + 256U * data[2], size - 3);
    const std::string encoding = data[0] % 2 == 0 ? "struct" : "lcm";
    const std::string schema(reinterpret_cast<const char*>(data + 3), length);
    if (const auto type = transcoded({"", encoding, encoding, schema})) check(*type, rest.subspan(2 + length));
  }
  return 0;
}
