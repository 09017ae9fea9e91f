#include "mcap/mcap_claims.h"

#include <algorithm>
#include <utility>

#include "mcap/mcap_check.h"

namespace orc::recording::detail {
namespace {

std::string at_byte(const char* what, std::uint64_t offset) {
  return std::string(what) + " at byte " + std::to_string(offset);
}

}  // namespace

void mcap_facts::count(channel_id which, std::int64_t time) {
  first = messages == 0 ? time : std::min(first, time);
  last = messages == 0 ? time : std::max(last, time);
  ++messages;
  if (counts.size() <= which) counts.resize(std::size_t{which} + 1);
  ++counts[which];
}

void mcap_claims::note(std::string problem) {
  if (problems_.size() < max_problems) problems_.push_back(std::move(problem));
}

template <class Fact>
const Fact* mcap_claims::fact_at(const std::map<std::uint64_t, Fact>& facts, std::uint64_t offset, const char* what) {
  const auto found = facts.find(offset);
  if (found == facts.end()) {
    note(at_byte(what, offset) + " is in the index, and not in the file");
    return nullptr;
  }
  places_.insert(offset);
  return &found->second;
}

void mcap_claims::take_chunk(byte_cursor from) {
  const auto first = from_mcap_time(from.number<std::uint64_t>());
  const auto last = from_mcap_time(from.number<std::uint64_t>());
  const auto offset = from.number<std::uint64_t>();
  const mcap_facts::chunk* const is = fact_at(facts_.chunks, offset, "the chunk");
  if (is == nullptr) return;
  bool equal = from.number<std::uint64_t>() == is->length;
  byte_cursor indexes = from.nested();
  std::set<channel_id> indexed;
  while (!indexes.failed() && indexes.left() > 0) {
    const auto number = indexes.number<std::uint16_t>();
    const auto place = is->indexes.find(number);
    equal = equal && place != is->indexes.end() && place->second == indexes.number<std::uint64_t>();
    if (const auto id = catalog_.find(number)) indexed.insert(*id);
  }
  equal = equal && from.number<std::uint64_t>() == is->index_length && from.text() == is->compression &&
          from.number<std::uint64_t>() == is->size && from.number<std::uint64_t>() == is->uncompressed;
  if (!is->channels.empty()) equal = equal && first == is->first && last == is->last;
  if (!is->indexes.empty()) {
    equal = equal && std::all_of(is->channels.begin(), is->channels.end(),
                                 [&](channel_id each) { return indexed.contains(each); });
  }
  if (!equal || from.failed()) note(at_byte("the chunk", offset) + " differs from its index");
}

void mcap_claims::take_attachment(byte_cursor from) {
  mcap_facts::attachment claimed;
  const auto offset = from.number<std::uint64_t>();
  claimed.length = from.number<std::uint64_t>();
  claimed.log_time = from.number<std::uint64_t>();
  claimed.create_time = from.number<std::uint64_t>();
  claimed.size = from.number<std::uint64_t>();
  claimed.name = from.text();
  claimed.media_type = from.text();
  const auto* const is = fact_at(facts_.attachments, offset, "the attachment");
  if (is != nullptr && (from.failed() || claimed != *is)) {
    note(at_byte("the attachment", offset) + " differs from its index");
  }
}

void mcap_claims::take_metadata(byte_cursor from) {
  const auto offset = from.number<std::uint64_t>();
  mcap_facts::metadata claimed{from.number<std::uint64_t>()};
  claimed.name = from.text();
  const auto* const is = fact_at(facts_.metadata_records, offset, "the metadata record");
  if (is != nullptr && (from.failed() || claimed != *is)) {
    note(at_byte("the metadata record", offset) + " differs from its index");
  }
}

void mcap_claims::take_group(byte_cursor from) {
  const auto code = static_cast<opcode>(from.number<std::uint8_t>());
  const auto offset = from.number<std::uint64_t>();
  const auto length = from.number<std::uint64_t>();
  const auto found = groups_.find(code);
  const bool is_there = found != groups_.end();
  if (!from.failed() && !is_there && length == 0) return;  // some writers say so of each kind
  if (!is_there || found->second.offset != offset || found->second.length != length) {
    note("the summary has its records of kind " + std::to_string(static_cast<int>(code)) +
         " elsewhere than its offsets say");
  }
}

void mcap_claims::take(const record_place& found, std::span<const std::byte> content) {
  group& of = groups_.try_emplace(found.code, group{found.offset, 0, 0}).first->second;
  of.length = found.offset + found.length - of.offset;
  ++of.records;
  const byte_cursor from(content);
  switch (found.code) {
    case opcode::chunk_index: return take_chunk(from);
    case opcode::attachment_index: return take_attachment(from);
    case opcode::metadata_index: return take_metadata(from);
    case opcode::summary_offset: return take_group(from);
    case opcode::statistics:
      if (!parse(content, statistics_.emplace())) statistics_.reset();
      return;
    default: return;
  }
}

void mcap_claims::compare_statistics(const statistics_record& claimed) {
  const auto compare = [this](const std::string& what, auto says, auto is) {
    if (std::cmp_equal(says, is)) return;
    note("the statistics count " + std::to_string(says) + " " + what + ", and there are " + std::to_string(is));
  };
  compare("messages", claimed.messages, facts_.messages);
  compare("chunks", claimed.chunks, facts_.chunks.size());
  compare("attachments", claimed.attachments, facts_.attachments.size());
  compare("metadata records", claimed.metadata, facts_.metadata_records.size());
  // Some writers describe channels without messages in the summary alone, and count them.
  if (claimed.schemas != groups_[opcode::schema].records) compare("schemas", claimed.schemas, catalog_.schemas());
  if (claimed.channels != groups_[opcode::channel].records) compare("channels", claimed.channels, channels_.size());
  if (claimed.first != facts_.first || claimed.last != facts_.last) {
    note("the statistics have other times than the first message and the last one");
  }
  if (claimed.counts.empty()) return;  // the writer did not count
  std::vector<std::uint64_t> counts(channels_.size());
  for (const auto& [number, count] : claimed.counts) {
    if (const auto id = catalog_.find(number)) {
      counts[*id] = count;
    } else if (count != 0) {
      note("the statistics count messages of channel " + std::to_string(number) + ", which is not described");
    }
  }
  for (std::size_t id = 0; id < counts.size(); ++id) {
    compare("messages of channel " + channels_[id].topic, counts[id],
            id < facts_.counts.size() ? facts_.counts[id] : 0);
  }
}

const std::vector<std::string>& mcap_claims::end() {
  const auto missing = [this](const auto& facts, opcode index, const char* what) {
    if (!groups_.contains(index)) return;  // an index may be left out
    for (const auto& [offset, is] : facts)
      if (!places_.contains(offset)) note(at_byte(what, offset) + " is not in the index");
  };
  missing(facts_.chunks, opcode::chunk_index, "the chunk");
  missing(facts_.attachments, opcode::attachment_index, "the attachment");
  missing(facts_.metadata_records, opcode::metadata_index, "the metadata record");
  if (statistics_) compare_statistics(*statistics_);
  return problems_;
}

}  // namespace orc::recording::detail
