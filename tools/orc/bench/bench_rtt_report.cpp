#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/orc/bench/bench_rtt.h"
#include "tools/support/json.h"
#include "tools/support/machine.h"
#include "tools/support/text.h"

namespace orc::cli {
namespace {

const char* name_of(bench::send_mode mode) {
  switch (mode) {
    case bench::send_mode::copy: return "sent by copy";
    case bench::send_mode::move: return "forwarded by move";
    case bench::send_mode::loan: return "made in place";
  }
  return "";
}

// Table I of the paper: a line per transport, a column per size.
bench::table mean_table(const std::vector<rtt_row>& rows, const rtt_options& options) {
  bench::table table{{""}};
  for (const std::size_t size : options.sizes) table[0].push_back(bench::size_label(size));
  for (const orc::transport transport : options.transports) {
    std::vector<std::string> line{std::string(to_string(transport))};
    for (const std::size_t size : options.sizes) {
      std::string mean = "-";
      for (const rtt_row& row : rows) {
        if (row.transport == transport && row.size == size) mean = bench::fixed(row.one_way.mean);
      }
      line.push_back(mean);
    }
    table.push_back(std::move(line));
  }
  return table;
}

bench::table quantile_table(const std::vector<rtt_row>& rows) {
  bench::table table{{"transport", "size", "messages", "p50", "p90", "p99", "p99.9", "max"}};
  for (const rtt_row& row : rows) {
    const bench::summary& s = row.one_way;
    table.push_back({std::string(to_string(row.transport)), bench::size_label(row.size), std::to_string(s.count),
                     bench::us(s.p50), bench::us(s.p90), bench::us(s.p99), bench::us(s.p999), bench::us(s.max)});
  }
  return table;
}

json_value to_object(const rtt_row& row) {
  const bench::summary& s = row.one_way;
  return {{"transport", to_string(row.transport)},
          {"size", row.size},
          {"messages", s.count},
          {"mean_us", s.mean},
          {"p50_us", s.p50},
          {"p90_us", s.p90},
          {"p99_us", s.p99},
          {"p999_us", s.p999},
          {"max_us", s.max},
          {"min_us", s.min},
          {"p25_us", s.p25},
          {"p75_us", s.p75},
          {"whisker_low_us", s.whisker_low},
          {"whisker_high_us", s.whisker_high},
          {"outliers_us", s.outliers}};
}

std::string to_csv(const std::vector<rtt_row>& rows) {
  std::string text = "transport,size,messages,mean_us,p50_us,p90_us,p99_us,p999_us,max_us\n";
  for (const rtt_row& row : rows) {
    const bench::summary& s = row.one_way;
    text += std::string(to_string(row.transport)) + ',' + std::to_string(row.size) + ',' + std::to_string(s.count);
    for (const double value : {s.mean, s.p50, s.p90, s.p99, s.p999, s.max}) text += ',' + bench::fixed(value, 3);
    text += '\n';
  }
  return text;
}

bool write(const std::string& path, const std::string& text) {
  if (path.empty() || write_text(path, text)) return true;
  std::fprintf(stderr, "orc: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

void print_rtt_tables(std::FILE* to, const std::vector<rtt_row>& rows, const rtt_options& options) {
  if (rows.empty()) return;
  std::fprintf(to, "# %s\n", bench::machine_facts(options.cpus).c_str());
  std::fprintf(to, "# receiver %s, message %s\n\n", options.wait == bench::wait_mode::spin ? "spins" : "blocks",
               name_of(options.send));
  std::fprintf(to, "Mean one-way latency (round trip / 2), microseconds\n\n");
  bench::print(to, mean_table(rows, options));
  std::fprintf(to, "\nDistribution, microseconds\n\n");
  bench::print(to, quantile_table(rows));
}

bool write_rtt_files(const std::vector<rtt_row>& rows, const rtt_options& options) {
  std::vector<json_value> objects;
  for (const rtt_row& row : rows) objects.push_back(to_object(row));
  const bool json = write(options.json, to_json(objects));
  return write(options.csv, to_csv(rows)) && json;
}

}  // namespace orc::cli
