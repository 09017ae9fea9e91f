// Learns topics from the address broker, asks for their samples, and finds out their types.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "orc/directory.h"
#include "orc/participant.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/record/record_options.h"
#include "tools/orc/record/record_receiver.h"

namespace orc::cli {

// One thread at a time.
class record_follower {
 public:
  using clock = std::chrono::steady_clock;

  // `note` gets sentences for people. `stop` and `to` must outlive it.
  record_follower(const record_options& options, const detail::stop_signal& stop, record_receiver& to,
                  std::function<void(const std::string&)> note);

  // Descriptors that are readable when step() has something to do.
  [[nodiscard]] std::vector<int> fds() const;
  // When step() has something to do anyway.
  [[nodiscard]] clock::time_point due() const noexcept { return due_; }
  // Takes the broker's news, asks for the samples of new topics, and describes sources. Waits only for the broker's
  // answers.
  // - bad_argument, refused: the broker cannot be watched.
  [[nodiscard]] result step();

  // `stop` was raised, which ended the directory: from here on, step() only describes the sources that there are.
  void finish();

  // Topics that are recorded.
  [[nodiscard]] std::size_t topics() const noexcept { return topics_.size(); }

 private:
  // A publication of a shared topic.
  struct publisher_state {
    publication_state publication;
    bool is_gone = false;
  };
  struct followed {
    std::shared_ptr<record_subscription> subscription;
    publication_state publication;  // as the broker reported it last; empty id: none yet
    publication_state former;       // the one before
    bool is_shared = false;
    std::map<std::string, publisher_state> publishers;  // of a shared topic, by the ids of their publications
  };

  // A publisher of a shared topic of which not everything is known.
  struct undescribed {
    std::uint32_t number;  // in record_subscription::publishers
    std::shared_ptr<record_source> source;
    publisher_info info;
    clock::time_point since;
  };

  void take(const directory_change& change);
  // ORC's own topics are recorded if a pattern with such a part matches; those with recorded calls as other topics.
  [[nodiscard]] bool wants(const std::string& topic) const;
  void follow(const topic_state& topic);
  // The broker reports this publication of a topic.
  static void replace(followed& topic, const publication_state& found);
  // The broker reports these publishers of a topic.
  static void replace_publishers(followed& topic, const topic_state& found);
  [[nodiscard]] std::shared_ptr<record_subscription> subscribe(const topic_state& topic);
  [[nodiscard]] std::size_t depth_for(const std::string& topic);
  // True: nothing is left to do for this topic.
  [[nodiscard]] bool describe(followed& topic, const std::string& name);
  [[nodiscard]] bool describe_former(followed& topic, const std::string& name);
  [[nodiscard]] bool describe_publishers(followed& topic, const std::string& name);
  [[nodiscard]] bool describe_publisher(followed& topic, const std::string& name, const undescribed& which);
  // False: the broker does not have the schema yet. `found` has what is known then.
  [[nodiscard]] bool find_type(const topic_type& which, type_description& found);
  void look_at_links();

  const record_options& options_;
  const std::function<void(const std::string&)> note_;
  record_receiver& to_;
  directory directory_;
  std::vector<directory_watch> watches_;
  participant participant_;
  std::map<std::string, followed> topics_;
  std::set<std::string> failed_;                     // topics of which that was said
  std::map<std::uint64_t, type_description> types_;  // by hash
  const clock::time_point begun_ = clock::now();
  bool has_broker_ = false;
  bool lost_ = false;
  clock::time_point due_ = clock::now();
  clock::time_point look_at_links_at_ = clock::now();
};

}  // namespace orc::cli
