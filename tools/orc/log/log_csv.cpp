#include "tools/orc/log/log_csv.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>

#include "tools/command_line/words.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr std::size_t write_bytes = std::size_t{1} << 16;
constexpr std::size_t named_topics = 8;  // in a message
constexpr std::array<std::string_view, 3> time_columns = {"received_ns", "stamp_ns", "sequence"};

// A field that has the name of a column of ours gets another one.
std::string column_name(const std::string& field) {
  const bool ours = std::find(time_columns.begin(), time_columns.end(), field) != time_columns.end();
  return ours ? "sample." + field : field;
}

}  // namespace

int log_csv::run() {
  for (const auto step : {&log_csv::open, &log_csv::choose_topic, &log_csv::find_columns, &log_csv::write_rows}) {
    if (const int outcome = (this->*step)(); outcome != exit_code::ok) return outcome;
    if (stop_.raised()) return exit_code::interrupted;
  }
  if (output_) out_.hint("wrote " + counted(rows_, "row") + " to " + escaped(options_.output));
  note_losses(out_, lost_, options_.part.is_all() ? missing_samples(*from_, rows_) : 0);
  if (undecoded_ != 0) out_.note(counted(undecoded_, "row") + " without values: " + escaped(why_undecoded_));
  return undecoded_ != 0 || lost_.count != 0 || out_.failed() ? exit_code::failed : exit_code::ok;
}

int log_csv::fail(const result& why, int code) {
  out_.note(escaped(why.error().message()));
  return code;
}

int log_csv::open() {
  if (const result read = types_.read(options_.type, options_.lcm_types); !read) return fail(read, exit_code::usage);
  if (options_.output != "-") {
    output_.emplace(options_.output, options_.force);
    if (const result free = output_->check(); !free) return fail(free, exit_code::failed);
  }
  if (const result opened = merged_recording::open({options_.file}, from_); !opened)
    return fail(opened, exit_code::failed);
  note_torn_end(out_, *from_);
  const part_outcome chosen = choose_part(options_.part, *from_, span_);
  return chosen.exit_code == exit_code::ok ? exit_code::ok : fail(chosen.why, chosen.exit_code);
}

int log_csv::choose_topic() {
  std::set<std::string> topics;
  for (const merged_channel& each : from_->channels())
    if (options_.part.topics.takes(each.what.topic)) topics.insert(escaped(each.what.topic));
  if (topics.size() <= 1) return exit_code::ok;  // none: nothing can be read, find_columns() says why
  std::vector<std::string> names(topics.begin(), topics.end());
  const std::size_t count = names.size();
  if (count > named_topics) names.resize(named_topics);
  out_.note("a table has one topic: choose one of " + std::to_string(count) + " with --topic: " + joined(names, ", ") +
            (count > named_topics ? ", ..." : ""));
  return exit_code::usage;
}

template <class Function>
int log_csv::each_row(const Function& with) {
  lost_ = left_out_of(*from_);
  if (const result moved = from_->seek(span_.from_ns); !moved) return fail(moved, exit_code::failed);
  while (!stop_.raised()) {
    merged_sample sample;
    const result read = from_->next(sample);
    if (read.code() == errc::nothing_new) break;
    if (!read) {
      lost_.add(read.error().message());
      continue;
    }
    if (sample.what.received_ns > span_.to_ns) break;
    const result decoded = read_row(sample);
    if (wrong_field_) return fail(decoded, exit_code::usage);
    if (!with(sample, decoded)) break;
  }
  return exit_code::ok;
}

result log_csv::read_row(const merged_sample& sample) {
  const merged_channel& channel = from_->channels()[sample.channel];
  const types::decoder* const type = types_.decoder_of(channel.what.type, sample.what.data);
  if (type == nullptr) {
    return {errc::bad_argument, !types_.why().empty() ? types_.why()
                                                      : "topic '" + channel.what.topic +
                                                            "' is untyped: it has no fields (--type, --lcm-types)"};
  }
  if (type != paths_for_) {
    paths_.clear();
    for (const std::string& each : options_.fields) {
      types::field_path path;
      if (auto found = type->path(each, path); !found) {
        wrong_field_ = true;
        return found;
      }
      paths_.push_back(std::move(path));
    }
    paths_for_ = type;
  }
  return row_.read(*type, sample.what.data, paths_);
}

int log_csv::find_columns() {
  bool any = false;
  result first_failure;
  const int outcome = each_row([&](const merged_sample& sample, const result& decoded) {
    if (decoded) {
      any = true;
      add_columns();
    } else if (first_failure) {
      first_failure = decoded;
    }
    // A struct has the same fields in each sample.
    const auto& type = from_->channels()[sample.channel].what.type;
    return !(decoded && type.message_encoding == "struct" && options_.type.empty() && from_->channels().size() == 1);
  });
  if (outcome != exit_code::ok || any || stop_.raised()) return outcome;
  note_losses(out_, lost_, 0);
  return fail(first_failure ? nothing_chosen() : first_failure, exit_code::failed);
}

// A column that is new stands behind the one before it in this sample: q[3] behind q[2].
void log_csv::add_columns() {
  std::size_t place = 0;
  bool added = false;
  for (const csv_row::cell& each : row_.cells()) {
    if (const auto known = column_of_.find(each.name); known != column_of_.end() && !added) {
      place = known->second + 1;
      continue;
    }
    const auto there = std::find(columns_.begin(), columns_.end(), each.name);
    if (there != columns_.end()) {
      place = static_cast<std::size_t>(there - columns_.begin()) + 1;
      continue;
    }
    columns_.insert(columns_.begin() + static_cast<std::ptrdiff_t>(std::min(place, columns_.size())), each.name);
    ++place;
    added = true;
  }
  if (!added) return;
  column_of_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) column_of_[columns_[i]] = i;
}

int log_csv::write_rows() {
  if (columns_.size() > max_csv_columns) {
    return fail({errc::bad_argument,
                 "the table would have " + std::to_string(columns_.size()) + " columns: choose some with --fields"},
                exit_code::failed);
  }
  if (output_) {
    file_.open(output_->temporary(), std::ios::binary | std::ios::trunc);
    if (!file_) {
      return fail(
          {errc::system_error, "cannot write " + options_.output + ": " + std::generic_category().message(errno)},
          exit_code::failed);
    }
  }
  text_ = header();
  const int outcome = each_row([&](const merged_sample& sample, const result& decoded) {
    if (!decoded && ++undecoded_ == 1) why_undecoded_ = decoded.error().message();
    return append_row(sample, static_cast<bool>(decoded));
  });
  if (outcome != exit_code::ok || stop_.raised()) return outcome;
  if (!flush()) return out_.reader_gone() ? exit_code::ok : exit_code::failed;
  if (!output_) return exit_code::ok;
  file_.close();
  if (file_.fail()) return fail({errc::system_error, "cannot write " + options_.output}, exit_code::failed);
  const result kept = output_->commit();
  return kept ? exit_code::ok : fail(kept, exit_code::failed);
}

std::string log_csv::header() const {
  std::string line;
  for (const std::string_view each : time_columns) (line += line.empty() ? "" : ",") += each;
  for (const std::string& each : columns_) append_csv_text(line += ',', column_name(each));
  return line + "\n";
}

bool log_csv::append_row(const merged_sample& sample, bool decoded) {
  values_.assign(columns_.size(), nullptr);
  if (decoded) {
    for (const csv_row::cell& each : row_.cells())
      if (const auto found = column_of_.find(each.name); found != column_of_.end()) values_[found->second] = &each;
  }
  const recording::sample& what = sample.what;
  text_ += std::to_string(static_cast<std::uint64_t>(what.received_ns) + what.received_excess_ns) + "," +
           std::to_string(static_cast<std::uint64_t>(what.stamp_ns) + what.stamp_excess_ns) + "," +
           std::to_string(what.sequence);
  for (const csv_row::cell* each : values_) {
    text_ += ',';
    if (each != nullptr) each->is_text ? append_csv_text(text_, each->value) : append_csv(text_, each->value);
  }
  text_ += '\n';
  ++rows_;
  return text_.size() < write_bytes || flush();
}

bool log_csv::flush() {
  const std::string text = std::exchange(text_, {});
  if (!output_) return out_.write(text);
  file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (file_) return true;
  out_.note("cannot write " + escaped(options_.output) + ": " + std::generic_category().message(errno));
  return false;
}

}  // namespace orc::cli
