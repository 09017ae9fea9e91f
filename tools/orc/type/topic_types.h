// Decoders for the samples of one topic, whatever publication they come from.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orc/types/decoder.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/type/lcm_decoders.h"

namespace orc::cli {

// Follows the topic's type as the broker reports it. LCM messages on channels that the broker does not know are
// recognised by their fingerprint.
class topic_types {
 public:
  // Asks `from`.
  topic_types(directory from, std::string topic);

  // Decodes everything with this type instead.
  [[nodiscard]] result use(const type_description& type);
  // Adds types of LCM channels, found by their fingerprint.
  [[nodiscard]] result add_lcm(const std::vector<type_description>& types) { return lcm_.add(types); }

  // Returns the decoder for a sample that has just come. Null: its type is not known, or cannot be decoded; why() says
  // which. Valid until the next call. May ask the broker.
  [[nodiscard]] const types::decoder* decoder_of(std::span<const std::byte> sample);
  // Asks the broker for the type again before the next sample: that one may come from another publication, of which the
  // watch has not reported yet.
  void look_again() { look_again_ = true; }
  // Empty: the topic is untyped.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  using clock = detail::stop_signal::clock;

  void follow();
  void take_over(const std::optional<topic_type>& type);

  const std::string topic_;
  directory directory_;
  std::optional<directory_watch> watch_;
  bool fixed_ = false;
  bool asked_ = false;
  bool look_again_ = false;
  std::optional<topic_type> pending_;  // its schema is not at the broker yet
  clock::time_point ask_again_;        // for that
  std::optional<topic_type> current_;
  std::string why_;
  std::unique_ptr<types::decoder> decoder_;
  lcm_decoders lcm_;
};

// Returns the type of the topic's publication, with its schema. unknown_topic: no participant publishes it.
// unknown_type: it is untyped, or the broker does not have the schema.
[[nodiscard]] result type_of_topic(directory& from, const std::string& topic, type_description& found);

}  // namespace orc::cli
