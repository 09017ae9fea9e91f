#include "tools/orc/play/play_output.h"

#include <algorithm>
#include <utility>

#include "orc/calls/call_record.h"
#include "orc/directory.h"
#include "orc/schema.h"
#include "tools/orc/recording/recorded_types.h"
#include "tools/orc/recording/shared_channel.h"
#include "tools/orc/text.h"
#include "wire/control.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

// That can share a topic.
constexpr std::size_t most_publications = 64;

// Whether a topic can have a type with these names.
bool has_sayable_names(const type_description& type) {
  const auto fits = [](const std::string& text) {
    return text.size() <= wire::max_text && text.find('\0') == std::string::npos;
  };
  return fits(type.name) && fits(type.schema_encoding) && fits(type.message_encoding);
}

}  // namespace

play_output::play_output(const play_output_options& options)
    : options_(options), participant_(participant_for(options)) {}

participant_options play_output::participant_for(const play_output_options& options) {
  participant_options own;
  own.name = "orc play";
  own.name_space = wire::no_name_space;
  own.broker = options.multicast.empty() ? options.broker : "none";
  own.transports = options.multicast.empty() ? options.transports : transport_set{transport::multicast};
  own.multicast = options.multicast;
  return own;
}

std::string play_output::name_of(const std::string& recorded) const {
  const auto renamed = std::find_if(options_.remap.begin(), options_.remap.end(),
                                    [&](const auto& each) { return each.first == recorded; });
  return options_.prefix + (renamed == options_.remap.end() ? recorded : renamed->second);
}

result play_output::add(const merged_channel& added) {
  std::optional<std::size_t>& place = of_channel_.emplace_back();
  if (!options_.topics.takes(added.what.topic)) return {};
  const std::string name(wire::without_slash(name_of(added.what.topic)));
  if (const auto checked = wire::check_topic_name(name); !checked) {
    remarks_.push_back("leaves out channel '" + escaped(name) + "', which is no topic name: rename it with --remap");
    return {};
  }
  if (options_.multicast.empty() && is_reserved(name) && !is_call_record_topic(name)) {
    if (!std::exchange(leaves_out_calls_, true)) {
      remarks_.push_back("leaves out ORC's own topics, such as '" + name +
                         "': playing those of calls would call services again");
    }
    return {};
  }
  // An encoding alone would match no subscriber that expects a type.
  type_description type = is_unknown(added.what.type) ? type_description() : added.what.type;
  if (!has_sayable_names(type)) {
    remarks_.push_back("publishes '" + name + "' without its type, whose name is none that a topic can have");
    type = {};
  } else if (const auto readable = check_schema(type); !readable) {
    remarks_.push_back("publishes '" + name + "' without its schema: " + escaped(readable.error().message()));
    type.schema.clear();
  }
  const auto [known, is_new] = by_name_.try_emplace(name);
  topic& to = known->second;
  if (is_new) to.recorded = added.what.topic;
  if (to.recorded != added.what.topic) {
    remarks_.push_back("leaves out channel '" + escaped(added.what.topic) + "': '" + escaped(to.recorded) +
                       "' is published as '" + name + "': rename it with --remap");
    return {};
  }
  const std::string shared_by = shared_publication_of(added.what);
  if (is_new) to.is_shared = !shared_by.empty() && options_.multicast.empty();
  const auto [own, is_first] = to.publications.try_emplace(to.is_shared ? shared_by : "", to.newest);
  if (is_first && to.publications.size() <= most_publications) {
    if (auto done = publish_topic(name, type, added.what, to); !done) return done;
    own->second = to.newest;
  } else if (const auto& first = publications_[own->second].type; !type.empty() && type != first) {
    remarks_.push_back("leaves out samples of '" + name + "' with type " + escaped(type.name) +
                       ": the topic is published with " + (first.empty() ? "no type" : "type " + escaped(first.name)));
    return {};
  }
  place = own->second;
  return {};
}

result play_output::publish_topic(const std::string& name, const type_description& type,
                                  const recording::channel& recorded, topic& to) {
  topic_options options;
  options.type = type;
  options.shared = to.is_shared;
  publication made{name, type, {}, nullptr};
  if (to.is_shared) {
    participant_options own = participant_for(options_);
    const std::string publisher = metadata_of(recorded, "orc.publisher");
    if (!publisher.empty() && publisher.size() <= wire::max_text) own.name = publisher;
    made.by = std::make_unique<participant>(own);
  }
  participant& by = made.by ? *made.by : participant_;
  if (auto done = register_topic(by, name, options); !done) return done;
  made.to = by.publisher(name);
  to.newest = publications_.size();
  publications_.push_back(std::move(made));
  return {};
}

result play_output::register_topic(participant& by, const std::string& name, const topic_options& options) {
  result done = by.register_topic(name, options).result();
  if (done) return done;
  return {done.code(), "cannot publish '" + name + "': " + escaped(done.error().message())};
}

result play_output::add_topic(const std::string& name, const topic_options& options, publisher& made) {
  if (by_name_.contains(name)) return {errc::bad_argument, "the recording has a topic '" + name + "' already"};
  if (auto done = register_topic(participant_, name, options); !done) return done;
  made = participant_.publisher(name);
  return {};
}

result play_output::publish(const played_sample& sample) {
  const auto& place = of_channel_[sample.channel];
  if (!place) return {};
  publication& to = publications_[*place];
  const auto& bytes = sample.data;
  const bool has_stamp = options_.keep_stamps && sample.stamp_ns > 0;
  result sent =
      has_stamp ? to.to.send(bytes.data(), bytes.size(), sample.stamp_ns) : to.to.send(bytes.data(), bytes.size());
  if (sent) return sent;
  return {sent.code(), "cannot send to '" + to.name + "': " + sent.error().message()};
}

std::string play_output::unread_topic() const {
  for (const publication& each : publications_)
    if (each.to.readers() == 0) return each.name;
  return {};
}

}  // namespace orc::cli
