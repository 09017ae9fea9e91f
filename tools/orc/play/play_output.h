// Publishes what plays: to ORC programs, or to LCM programs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orc/participant.h"
#include "tools/orc/play/play_sink.h"

namespace orc::cli {

struct play_output_options {
  std::string broker;
  transport_set transports;
  std::string multicast;  // not empty: to LCM programs on this network, without a broker
  topic_filter topics;    // of recorded names
  std::vector<std::pair<std::string, std::string>> remap;  // recorded name, name to publish
  std::string prefix;                                      // before each name, also a remapped one
  bool keep_stamps = false;                                // publish with the recorded stamps
};

class play_output final : public play_sink {
 public:
  explicit play_output(const play_output_options& options);

  // Registers the topic of this channel, with its recorded type. Channels are added in the order of
  // merged_recording::channels(). Channels of one name share a publication. Its type is that of the first channel;
  // samples of other types are left out, and a remark says so. When the first channel is one of a shared topic, the
  // name is shared, and each recorded publication has one of its own, of a participant that has the name of the
  // recorded one: at most 64, then the last one takes the samples of the others. LCM networks know no shared topics.
  // Topics that carry calls are left out: a server would run the requests again.
  // - as participant::register_topic.
  result add(const merged_channel& added) override;

  // Publishes a sample of a channel; nothing when its topic is left out.
  result publish(const played_sample& sample) override;

  // The publication of another topic than the recorded ones.
  result add_topic(const std::string& name, const topic_options& options, publisher& made);

  [[nodiscard]] std::vector<std::string> remarks() override { return std::exchange(remarks_, {}); }

  [[nodiscard]] std::size_t topics() const noexcept { return by_name_.size(); }
  // A topic that no subscriber is linked to; empty: each has one.
  [[nodiscard]] std::string unread_topic() const;

 private:
  struct publication {
    std::string name;
    type_description type;
    publisher to;
    std::unique_ptr<participant> by;  // of a shared topic; null: participant_
  };
  struct topic {
    std::string recorded = {};  // its name in the recording
    bool is_shared = false;
    std::size_t newest = 0;                             // in publications_
    std::map<std::string, std::size_t> publications{};  // by their recorded ids; not shared: by ""
  };

  static participant_options participant_for(const play_output_options& options);
  [[nodiscard]] std::string name_of(const std::string& recorded) const;
  // Adds the publication of a channel that has none.
  result publish_topic(const std::string& name, const type_description& type, const recording::channel& recorded,
                       topic& to);
  static result register_topic(participant& by, const std::string& name, const topic_options& options);

  const play_output_options& options_;
  participant participant_;
  std::vector<publication> publications_;
  std::map<std::string, topic> by_name_;
  std::vector<std::optional<std::size_t>> of_channel_;
  std::vector<std::string> remarks_;
  bool leaves_out_calls_ = false;  // a remark says so
};

}  // namespace orc::cli
