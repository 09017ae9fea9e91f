// What it costs to encode and decode one laser scan (LCM paper, Figure 9: 180 ranges, no intensities) with each
// encoding of typed topics, beside a memcpy of the struct; and to read one field of a 10 kB scan. In one process, in
// rounds in which each takes its turn.
//
// Encode: from the encoding's own C++ class to bytes in loaned memory, as typed_publisher::send does it; FlatBuffers
// has no such class and builds from arrays. Decode: from aligned bytes to a value whose fields can be read, as
// typed_subscriber::recv does it. "walk": the decoder visits each name and value.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <laser.pb.h>
#include <laser_bfbs_generated.h>
#include <laser_generated.h>
#include <laser_lcm_text.h>
#include <typed_lcm/laser/laser_t.hpp>
#include "benchmarks/support/command_line.h"
#include "orc/typed/flatbuffers.h"
#include "orc/typed/lcm.h"
#include "orc/typed/protobuf.h"
#include "orc/typed/struct.h"
#include "tools/support/clock.h"
#include "tools/support/json.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"
#ifdef ORC_HAVE_TYPES
#include <orc/types/decoder.h>
#endif

ORC_LCM_SCHEMA(typed_lcm::laser::laser_t, laser_lcm_text)
ORC_FLATBUFFERS_SCHEMA(typed_fb::laser::Laser)

namespace orc::bench {

template <std::size_t Ranges>
struct laser_of {
  std::int64_t utime;
  std::int32_t nranges;
  float ranges[Ranges];
  std::int32_t nintensities;
  float rad0;
  float radstep;
};
constexpr std::size_t paper_ranges = 180;
constexpr std::size_t many_ranges = 2493;  // 10 kB
using paper_laser = laser_of<paper_ranges>;
using large_laser = laser_of<many_ranges>;
ORC_DESCRIBE(paper_laser, utime, nranges, ranges, nintensities, rad0, radstep)
ORC_DESCRIBE(large_laser, utime, nranges, ranges, nintensities, rad0, radstep)
static_assert(sizeof(large_laser) == 10'000);

namespace {

using lcm_laser = typed_lcm::laser::laser_t;
using fb_laser = typed_fb::laser::Laser;
using pb_laser = typed_pb::laser::Laser;

struct options {
  int rounds = 41;
  int repeat = 2000;
  common_options common;
};

// Makes the compiler believe that the value is used, and that memory has changed.
inline void keep(const void* value) noexcept { asm volatile("" : : "r"(value) : "memory"); }

// The copy of publisher::send: of a size that the compiler does not know.
[[gnu::noinline]] void copy(std::byte* to, std::span<const std::byte> from) noexcept {
  std::memcpy(to, from.data(), from.size());
}

template <class T, class Source>
std::size_t encode(const Source& source, std::byte* to) {
  if constexpr (orc::detail::has_bytes<T, Source>) {
    const std::span<const std::byte> bytes = type_traits<T>::bytes_of(source);
    copy(to, bytes);
    return bytes.size();
  } else {
    const std::size_t size = type_traits<T>::encoded_size(source);
    if (!type_traits<T>::encode(source, {to, size})) throw std::runtime_error("a value cannot be encoded");
    return size;
  }
}

// Opens a view, as typed_message does.
template <class T>
void decode(std::span<const std::byte> bytes) {
  typename orc::detail::view_of<T>::type view;
  if (orc::detail::open_view(view, bytes) != errc::ok) throw std::runtime_error("a sample cannot be decoded");
  keep(view.get());
}

std::vector<float> ranges_of(std::size_t count) {
  std::vector<float> ranges(count);
  for (std::size_t i = 0; i < count; ++i) ranges[i] = 0.01F * static_cast<float>(i);
  return ranges;
}

template <class Laser>
Laser filled_struct() {
  Laser laser{};
  laser.utime = 1'234'567'890'123'456;
  const auto ranges = ranges_of(std::size(laser.ranges));
  laser.nranges = static_cast<std::int32_t>(ranges.size());
  std::copy(ranges.begin(), ranges.end(), std::begin(laser.ranges));
  laser.rad0 = -1.5F;
  laser.radstep = 0.01F;
  return laser;
}
lcm_laser filled_lcm(std::size_t count) {
  lcm_laser laser;
  laser.utime = 1'234'567'890'123'456;
  laser.nranges = static_cast<std::int32_t>(count);
  laser.ranges = ranges_of(count);
  laser.nintensities = 0;
  laser.rad0 = -1.5F;
  laser.radstep = 0.01F;
  return laser;
}
pb_laser filled_protobuf(std::size_t count) {
  pb_laser laser;
  laser.set_utime(1'234'567'890'123'456);
  for (const float range : ranges_of(count)) laser.add_ranges(range);
  laser.set_rad0(-1.5F);
  laser.set_radstep(0.01F);
  return laser;
}
void build_flatbuffer(flatbuffers::FlatBufferBuilder& builder, const std::vector<float>& ranges) {
  builder.Clear();
  const auto vector = builder.CreateVector(ranges);
  builder.Finish(typed_fb::laser::CreateLaser(builder, 1'234'567'890'123'456, vector, 0, -1.5F, 0.01F));
}

// Bytes of a sample at an address as shm has it.
struct sample {
  explicit sample(std::size_t capacity) : memory(capacity + 64) {}
  [[nodiscard]] std::byte* data() noexcept {
    return memory.data() + (32 - reinterpret_cast<std::uintptr_t>(memory.data()) % 32) % 32;
  }
  [[nodiscard]] std::span<const std::byte> bytes() noexcept { return {data(), size}; }
  std::vector<std::byte> memory;
  std::size_t size = 0;
};
template <class T, class Source>
std::shared_ptr<sample> encoded(const Source& source) {
  auto made = std::make_shared<sample>(64'000);
  made->size = encode<T>(source, made->data());
  return made;
}

// One row of a table: what is measured, and what came out, in ns per call.
struct contender {
  std::string name;
  std::size_t size = 0;
  std::function<void(int)> run;  // so many times
  std::vector<double> ns = {};
};

template <class Once>
contender repeated(std::string name, std::size_t size, Once once) {
  return {std::move(name), size, [once](int times) mutable {
            for (int i = 0; i < times; ++i) once();
          }};
}

void measure(const options& o, std::vector<contender>& all) {
  for (contender& each : all) each.run(o.repeat);
  for (int round = 0; round < o.rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      contender& each = all[(i + static_cast<std::size_t>(round)) % all.size()];
      const std::int64_t before = now_ns();
      each.run(o.repeat);
      each.ns.push_back(static_cast<double>(now_ns() - before) / o.repeat);
    }
  }
}

#ifdef ORC_HAVE_TYPES
struct counting_visitor : types::visitor {
  void signed_integer(std::int64_t value) override { keep(&value); }
  void float32(float value) override { keep(&value); }
  types::step numbers(const types::number_array& all) override {
    for (std::size_t i = 0; i < all.size(); ++i) sum += all.at<double>(i);
    return types::step::enter;
  }
  double sum = 0;
};

std::shared_ptr<types::decoder> decoder_of(const type_description& type) {
  std::unique_ptr<types::decoder> made;
  if (const result done = types::decoder::make(type, made); !done) throw std::runtime_error(done.error().message());
  return made;
}

void add_walks(std::vector<contender>& to, const type_description& type, const std::shared_ptr<sample>& of) {
  to.push_back(repeated(type.message_encoding + ", walk", of->size, [decoder = decoder_of(type), of] {
    counting_visitor visitor;
    if (!decoder->walk(of->bytes(), visitor)) throw std::runtime_error("a sample cannot be walked");
    keep(&visitor);
  }));
}

void add_find(std::vector<contender>& to, const type_description& type, const std::shared_ptr<sample>& of) {
  const auto decoder = decoder_of(type);
  const auto path = std::make_shared<types::field_path>();
  if (const result done = decoder->path("ranges[1250]", *path); !done) throw std::runtime_error(done.error().message());
  to.push_back(repeated(type.message_encoding + ", decoder", of->size, [decoder, path, of] {
    types::value value;
    if (!decoder->find(of->bytes(), *path, value)) throw std::runtime_error("a field cannot be read");
    keep(&value);
  }));
}
#else
void add_walks(std::vector<contender>&, const type_description&, const std::shared_ptr<sample>&) {}
void add_find(std::vector<contender>&, const type_description&, const std::shared_ptr<sample>&) {}
#endif

std::vector<contender> encoders() {
  auto to = std::make_shared<sample>(64'000);
  auto laser = std::make_shared<paper_laser>(filled_struct<paper_laser>());
  auto builder = std::make_shared<flatbuffers::FlatBufferBuilder>();
  std::vector<contender> all;
  all.push_back(repeated("memcpy", sizeof *laser, [to, laser] {
    copy(to->data(), std::as_bytes(std::span(laser.get(), 1)));
    keep(to->data());
  }));
  const auto add = [&]<class T>(const char* name, std::type_identity<T>, auto source) {
    const std::size_t size = encode<T>(*source, to->data());
    all.push_back(repeated(name, size, [to, source] {
      (void)encode<T>(*source, to->data());
      keep(to->data());
    }));
  };
  add("struct", std::type_identity<paper_laser>(), laser);
  build_flatbuffer(*builder, ranges_of(paper_ranges));
  all.push_back(repeated("flatbuffer", builder->GetSize(), [to, builder, ranges = ranges_of(paper_ranges)] {
    build_flatbuffer(*builder, ranges);
    (void)encode<fb_laser>(*builder, to->data());
    keep(to->data());
  }));
  add("protobuf", std::type_identity<pb_laser>(), std::make_shared<pb_laser>(filled_protobuf(paper_ranges)));
  add("lcm", std::type_identity<lcm_laser>(), std::make_shared<lcm_laser>(filled_lcm(paper_ranges)));
  return all;
}

std::vector<contender> decoders() {
  flatbuffers::FlatBufferBuilder builder;
  build_flatbuffer(builder, ranges_of(paper_ranges));
  const auto as_struct = encoded<paper_laser>(filled_struct<paper_laser>());
  const auto as_flatbuffer = encoded<fb_laser>(builder);
  const auto as_protobuf = encoded<pb_laser>(filled_protobuf(paper_ranges));
  const auto as_lcm = encoded<lcm_laser>(filled_lcm(paper_ranges));
  auto laser = std::make_shared<paper_laser>();
  std::vector<contender> all;
  all.push_back(repeated("memcpy", sizeof *laser, [laser, as_struct] {
    copy(reinterpret_cast<std::byte*>(laser.get()), as_struct->bytes());
    keep(laser.get());
  }));
  const auto add = [&]<class T>(const char* name, std::type_identity<T>, const std::shared_ptr<sample>& from) {
    all.push_back(repeated(name, from->size, [from] { decode<T>(from->bytes()); }));
  };
  add("struct, in place", std::type_identity<paper_laser>(), as_struct);
  auto unaligned = std::make_shared<sample>(64'000);
  copy(unaligned->data() + 1, as_struct->bytes());
  all.push_back(repeated("struct, unaligned", as_struct->size, [unaligned, size = as_struct->size] {
    decode<paper_laser>({unaligned->data() + 1, size});  // copies
  }));
  add("flatbuffer, in place", std::type_identity<fb_laser>(), as_flatbuffer);
  add("protobuf", std::type_identity<pb_laser>(), as_protobuf);
  add("lcm", std::type_identity<lcm_laser>(), as_lcm);
  add_walks(all, type_traits<paper_laser>::describe(), as_struct);
  add_walks(all, type_traits<fb_laser>::describe(), as_flatbuffer);
  add_walks(all, type_traits<pb_laser>::describe(), as_protobuf);
  add_walks(all, type_traits<lcm_laser>::describe(), as_lcm);
  return all;
}

// ranges[1250] of a scan of 10 kB.
std::vector<contender> fields() {
  flatbuffers::FlatBufferBuilder builder;
  build_flatbuffer(builder, ranges_of(many_ranges));
  const auto as_struct = encoded<large_laser>(filled_struct<large_laser>());
  const auto as_flatbuffer = encoded<fb_laser>(builder);
  const auto as_protobuf = encoded<pb_laser>(filled_protobuf(many_ranges));
  const auto as_lcm = encoded<lcm_laser>(filled_lcm(many_ranges));
  auto laser = std::make_shared<large_laser>();
  std::vector<contender> all;
  all.push_back(repeated("memcpy", sizeof *laser, [laser, as_struct] {
    copy(reinterpret_cast<std::byte*>(laser.get()), as_struct->bytes());
    keep(laser.get());
  }));
  const auto add = [&]<class T>(const char* name, std::type_identity<T>, const std::shared_ptr<sample>& from,
                                auto field) {
    all.push_back(repeated(name, from->size, [from, field] {
      typename orc::detail::view_of<T>::type view;
      if (orc::detail::open_view(view, from->bytes()) != errc::ok) throw std::runtime_error("cannot be decoded");
      const float value = field(*view.get());
      keep(&value);
    }));
  };
  add("struct, C++", std::type_identity<large_laser>(), as_struct, [](const large_laser& l) { return l.ranges[1250]; });
  add("flatbuffer, C++", std::type_identity<fb_laser>(), as_flatbuffer,
      [](const fb_laser& l) { return l.ranges()->Get(1250); });
  add("protobuf, C++", std::type_identity<pb_laser>(), as_protobuf, [](const pb_laser& l) { return l.ranges(1250); });
  add("lcm, C++", std::type_identity<lcm_laser>(), as_lcm, [](const lcm_laser& l) { return l.ranges[1250]; });
  add_find(all, type_traits<large_laser>::describe(), as_struct);
  add_find(all, type_traits<fb_laser>::describe(), as_flatbuffer);
  add_find(all, type_traits<pb_laser>::describe(), as_protobuf);
  add_find(all, type_traits<lcm_laser>::describe(), as_lcm);
  return all;
}

void report(const options& o, const char* title, const char* what, const std::vector<contender>& all,
            std::vector<json_value>& objects) {
  table lines{{title, "bytes", "ns", "x memcpy", "quartiles"}};
  const double floor = median(all.front().ns);
  for (const contender& each : all) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < each.ns.size(); ++i) ratios.push_back(each.ns[i] / all.front().ns[i]);
    std::sort(ratios.begin(), ratios.end());
    const double ns = median(each.ns);
    lines.push_back({each.name, std::to_string(each.size), fixed(ns, 1), fixed(ns / floor),
                     fixed(quantile(ratios, 0.25)) + ".." + fixed(quantile(ratios, 0.75))});
    objects.push_back(
        {{"what", std::string(what)}, {"encoding", each.name}, {"size", each.size}, {"ns", ns}, {"ratio", ns / floor}});
  }
  std::fputc('\n', o.common.tables());
  print(o.common.tables(), lines);
}

int run(options& o) {
  o.common.settle();
  pin_this_thread(o.common.cpus.first);
  o.common.print_machine();
  std::fprintf(o.common.tables(),
               "\nMedians of %d rounds, ns per call; the ratio of the medians to memcpy, and the\n"
               "quartiles of the ratios of the rounds\n",
               o.rounds);
  std::vector<json_value> objects;
  const auto table_of = [&](const char* title, const char* what, std::vector<contender> all) {
    measure(o, all);
    report(o, title, what, all, objects);
  };
  table_of("encode a laser scan", "encode", encoders());
  table_of("decode a laser scan", "decode", decoders());
  table_of("read ranges[1250] of 10 kB", "field", fields());
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  orc::bench::options o;
  CLI::App app{"Encodes and decodes a laser scan with each encoding of typed topics", "marshalling"};
  app.add_option("--rounds", o.rounds, "How often each takes its turn")
      ->check(orc::bench::between(1, 100'000))
      ->capture_default_str();
  app.add_option("--repeat", o.repeat, "Calls in each turn")
      ->check(orc::bench::between(1, 10'000'000))
      ->capture_default_str();
  o.common.add_to(app);
  return orc::bench::main_of(app, argc, argv, [&] { return orc::bench::run(o); });
}
