// Forward error correction of multicast without a network: what a message costs to encode and to put together again,
// and how many messages of a lossy link are delivered.
#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "benchmarks/support/command_line.h"
#include "tools/support/clock.h"
#include "tools/support/json.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"
#include "transport/multicast/fec/fec_assembly.h"

namespace orc::bench {
namespace {

using namespace detail::multicast;

struct options {
  std::string size = "1M";
  std::size_t shard_bytes = 1400;
  unsigned percent = 20;
  std::vector<double> losses{5, 10, 20};  // percent
  int messages = 10'000;
  int repeat = 500;
  common_options common;
};

struct encoded {
  std::vector<std::byte> payload;
  std::vector<std::vector<std::byte>> parity;  // of each block
};

[[nodiscard]] fec_packet packet_of(const fec_plan& plan, const encoded& message, std::uint32_t datagram) {
  const auto [block, shard] = plan.at(datagram);
  const unsigned k = plan.data_shards(block);
  const std::byte* const at = shard < k ? message.payload.data() + plan.offset(block, shard)
                                        : message.parity[block].data() + (shard - k) * plan.shard_bytes();
  return {.channel = "X",
          .sequence = 1,
          .stamp_ns = 0,
          .plan = plan,
          .block = block,
          .shard = shard,
          .bytes = {at, plan.sent_bytes(block, shard)}};
}

struct costs {
  summary encode;
  std::vector<summary> put_together;  // for each loss
};

// False: too much was lost.
bool put_together(const std::vector<fec_packet>& packets, std::span<std::byte> into, fec_code& code) {
  auto assembly = fec_assembly::make(packets.front(), into);
  if (!assembly) throw std::bad_alloc();
  for (const fec_packet& packet : packets) (void)assembly->add(packet, code);
  return assembly->complete();
}

costs measure(const options& o, const fec_plan& plan) {
  encoded message{std::vector<std::byte>(plan.size(), std::byte{0x5a}), {}};
  message.parity.assign(plan.blocks(), std::vector<std::byte>(std::size_t{plan.parity_shards()} * plan.shard_bytes()));
  fec_code code;
  costs out;
  std::vector<std::int64_t> ns;
  for (int i = 0; i < o.repeat; ++i) {
    const std::int64_t before = now_ns();
    for (std::uint16_t block = 0; block < plan.blocks(); ++block)
      if (!code.encode(plan, message.payload, block, message.parity[block])) throw std::bad_alloc();
    ns.push_back(now_ns() - before);
  }
  out.encode = summarize(ns);

  std::mt19937_64 random(1);
  std::vector<std::byte> into(plan.size());
  for (const double loss : o.losses) {
    std::bernoulli_distribution lost(loss / 100);
    ns.clear();
    for (int i = 0; i < o.repeat; ++i) {
      std::vector<fec_packet> packets;
      for (std::uint32_t d = 0; d < plan.datagrams(); ++d)
        if (!lost(random)) packets.push_back(packet_of(plan, message, d));
      const std::int64_t before = now_ns();
      if (put_together(packets, into, code)) ns.push_back(now_ns() - before);
    }
    out.put_together.push_back(summarize(ns));
  }
  return out;
}

// Of messages whose datagrams are lost each for itself: how many have k left of each block.
double delivered(const options& o, const fec_plan& plan, double loss, bool parity) {
  std::mt19937_64 random(2);
  int whole = 0;
  for (int i = 0; i < o.messages; ++i) {
    bool lost_one = false;
    for (std::uint16_t block = 0; block < plan.blocks(); ++block) {
      const unsigned m = parity ? plan.parity_shards() : 0;
      std::binomial_distribution<unsigned> losses(plan.data_shards(block) + m, loss / 100);
      lost_one = losses(random) > m || lost_one;
    }
    if (!lost_one) ++whole;
  }
  return whole / static_cast<double>(o.messages);
}

int run(options& o) {
  o.common.settle();
  pin_this_thread(o.common.cpus.first);
  o.common.print_machine();
  const std::size_t size = sizes_named({o.size}).front();
  const auto plan = fec_plan::make(size, o.shard_bytes, o.percent);
  if (!plan) throw std::runtime_error("a message of this size cannot be cut into shards of this size");
  const costs cost = measure(o, *plan);
  std::FILE* const out = o.common.tables();
  std::fprintf(out, "\n%s in %u blocks of %u data and %u parity shards of %u bytes, %u datagrams\n",
               size_label(size).c_str(), unsigned{plan->blocks()}, unsigned{plan->data_shards(0)},
               unsigned{plan->parity_shards()}, unsigned{plan->shard_bytes()}, plan->datagrams());
  std::fprintf(out, "encode: p50 %s p99 %s us\n\n", us(cost.encode.p50).c_str(), us(cost.encode.p99).c_str());
  table lines{{"loss", "put together p50", "p99 [us]", "delivered", "without parity"}};
  std::vector<json_value> objects;
  for (std::size_t i = 0; i < o.losses.size(); ++i) {
    const double with = delivered(o, *plan, o.losses[i], true);
    const double without = delivered(o, *plan, o.losses[i], false);
    const summary& s = cost.put_together[i];
    lines.push_back({fixed(o.losses[i], 0) + " %", s.count > 0 ? us(s.p50) : "-", s.count > 0 ? us(s.p99) : "-",
                     fixed(100 * with) + " %", fixed(100 * without) + " %"});
    objects.push_back({{"size", size},
                       {"loss_percent", o.losses[i]},
                       {"encode_p50_us", cost.encode.p50},
                       {"put_together_p50_us", s.p50},
                       {"delivered", with},
                       {"delivered_without_parity", without}});
  }
  print(out, lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  orc::bench::options o;
  orc::bench::command_line app{"Costs of forward error correction, and what it delivers", "fec_cost"};
  orc::bench::add_size(app, "--size", o.size, "Bytes of a message");
  app.add_option("--shard", o.shard_bytes, "Most bytes of a shard");
  app.add_option("--percent", o.percent, "Parity");
  app.add_option("--loss", o.losses, "Percent of the datagrams, several with commas").without_default();
  app.add_option("--messages", o.messages, "How many are sent over the simulated link").between(1, 1'000'000'000);
  app.add_option("--repeat", o.repeat, "How often each cost is measured").between(1, 1'000'000'000);
  o.common.add_to(app);
  return orc::bench::main_of(app, argc, argv, [&] { return orc::bench::run(o); });
}
