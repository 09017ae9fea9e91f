// One topic of a recording as a table: `orc log convert --to csv`.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/log/csv_row.h"
#include "tools/orc/log/output_file.h"
#include "tools/orc/log/recording_part.h"
#include "tools/orc/recording/merged_recording.h"
#include "tools/orc/recording/recorded_types.h"

namespace orc::cli {

struct log_csv_options {
  std::string file;
  std::string output;  // "-": stdout
  bool force = false;
  recording_part part;  // must leave one topic
  std::vector<std::string> fields;
  std::string type;
  std::vector<std::string> lcm_types;
};

// Reads the recording twice: arrays that grow make columns, and the header comes first.
class log_csv {
 public:
  explicit log_csv(const log_csv_options& options) : options_(options) {}

  // Returns the exit code.
  int run();

 private:
  int open();
  int choose_topic();
  // Calls `with` for each row, until it returns false. Goes on behind what cannot be read; `lost_` has that then.
  template <class Function>
  int each_row(const Function& with);
  int find_columns();
  int write_rows();
  result read_row(const merged_sample& sample);
  void add_columns();
  bool append_row(const merged_sample& sample, bool decoded);
  [[nodiscard]] std::string header() const;
  bool flush();
  int fail(const result& why, int code);

  const log_csv_options& options_;
  console out_;
  const detail::stop_signal stop_;
  std::unique_ptr<merged_recording> from_;
  recorded_types types_;
  const types::decoder* paths_for_ = nullptr;  // the decoder that `paths_` are of
  std::vector<types::field_path> paths_;
  csv_row row_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> column_of_;
  std::vector<const csv_row::cell*> values_;  // of one row, by column; null: empty
  std::string text_;                          // not written yet
  std::ofstream file_;
  std::optional<output_file> output_;
  recording_span span_;
  recording::losses lost_;
  std::uint64_t rows_ = 0;
  std::uint64_t undecoded_ = 0;
  std::string why_undecoded_;
  bool wrong_field_ = false;
};

}  // namespace orc::cli
