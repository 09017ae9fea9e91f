#include "tools/orc/log/log_copy.h"

#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/type/type_file.h"

namespace orc::cli {

int log_copy::run() {
  for (const auto step : {&log_copy::open, &log_copy::copy, &log_copy::finish}) {
    if (stop_.raised()) return exit_code::interrupted;
    if (const int outcome = (this->*step)(); outcome != exit_code::ok) return outcome;
  }
  return lost_.count != 0 || out_.failed() ? exit_code::failed : exit_code::ok;
}

int log_copy::finish() {
  const bool lost_all = lost_.count != 0 && to_->samples() == 0;
  note_losses(out_, lost_, options_.part.is_all() ? missing_samples(*from_, to_->samples()) : 0);
  if (to_->samples() == 0 && (lost_all || from_->samples() != 0)) return fail(nothing_chosen(), exit_code::failed);
  if (options_.part.is_all()) {
    if (const result copied = to_->copy_silent_channels(); !copied) return fail(copied, exit_code::failed);
  }
  if (format() == log_format::mcap) note_escapes(out_, *from_);
  const std::uint64_t bytes = to_->bytes();
  if (const result finished = to_->finish(); !finished) return fail(finished, exit_code::failed);
  out_.hint(written_text(to_->samples(), to_->topics(), bytes, options_.output.path));
  return exit_code::ok;
}

int log_copy::stop(const result& why) {
  out_.note(escaped(why.error().message()));
  if (!options_.skip_broken) out_.note("wrote nothing: orc log recover makes a whole file of what can be read");
  return exit_code::failed;
}

int log_copy::fail(const result& why, int code) {
  out_.note(escaped(why.error().message()));
  return code;
}

log_format log_copy::format() const {
  if (const auto said = format_of(options_.output)) return *said;
  for (std::size_t i = 0; i < from_->files(); ++i)
    if (from_->reader(i).summary().format != "lcm") return log_format::mcap;
  return log_format::lcm;
}

int log_copy::open() {
  if (!options_.lcm_types.empty()) {
    const auto found = lcm_types_in(options_.lcm_types);
    if (!found) return fail(found.error(), exit_code::usage);
    if (const result added = types_.add(*found); !added) return fail(added, exit_code::usage);
  }
  if (const result opened = merged_recording::open(options_.files, from_); !opened)
    return fail(opened, exit_code::failed);
  note_torn_end(out_, *from_);
  lost_ = left_out_of(*from_);
  if (lost_.count != 0 && !options_.skip_broken) return stop({errc::bad_argument, lost_.sentences.front()});
  const part_outcome chosen = choose_part(options_.part, *from_, span_);
  if (chosen.exit_code != exit_code::ok) return fail(chosen.why, chosen.exit_code);
  const result created =
      new_recording::create(options_.output, format(), *from_, options_.lcm_types.empty() ? nullptr : &types_, to_);
  return created ? exit_code::ok : fail(created, exit_code::failed);
}

// A part stands alone, as the splits of a recorder do: it begins with the last sample of each topic.
result log_copy::copy_last_values() {
  if (span_.from_ns <= from_->first_ns()) return {};
  result copied;
  const result found = from_->each_last_before(span_.from_ns - 1, [&](const merged_sample& each) {
    if (copied) copied = to_->copy_at(each, span_.from_ns);
  });
  return found ? copied : found;
}

int log_copy::copy() {
  if (const result copied = to_->copy_extras(options_.skip_broken ? &lost_ : nullptr); !copied)
    return copied.code() == errc::bad_argument ? stop(copied) : fail(copied, exit_code::failed);
  if (const result copied = copy_last_values(); !copied) return fail(copied, exit_code::failed);
  if (span_.from_ns > from_->first_ns()) {
    if (const result moved = from_->seek(span_.from_ns); !moved) return fail(moved, exit_code::failed);
  }
  while (!stop_.raised()) {
    merged_sample sample;
    const result read = from_->next(sample);
    if (read.code() == errc::nothing_new || (read && sample.what.received_ns > span_.to_ns)) break;
    const result done = read ? to_->copy(sample) : read;
    if (done) continue;
    // What the new file cannot have is like what cannot be read. A disk that is full is not.
    const bool can_go_on = options_.skip_broken && (!read || done.code() == errc::bad_argument);
    if (!can_go_on) return read ? fail(done, exit_code::failed) : stop(done);
    lost_.add(done.error().message());
  }
  return exit_code::ok;
}

}  // namespace orc::cli
