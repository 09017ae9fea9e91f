// One topic, as all clients see it: its newest sample, its state, and the plots of its fields.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orc/types/field_path.h"
#include "orc/types/value.h"
#include "tools/web/feed/decoded_type.h"
#include "tools/web/feed/plot_sampler.h"
#include "tools/web/memory_budget.h"
#include "tools/web/time_budget.h"

namespace orc::web {

struct fed_sample {
  std::vector<std::byte> data = {};
  std::size_t size = 0;  // of the sample; more than data.size() when it is too large to be shown
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;                      // when it was sent
  std::optional<std::int64_t> age_ns = {};        // when it was recorded; nothing: it is now's less stamp_ns
  std::uint64_t missed = 0;                       // samples between the one shown before and this one
  std::shared_ptr<const decoded_type> type = {};  // null: untyped
  std::shared_ptr<const void> share = {};         // of the memory for samples, which data takes
};

inline constexpr std::size_t max_shown_bytes = std::size_t{64} << 20;

// Shared by the feeds of a source.
struct feed_limits {
  static constexpr std::size_t max_sample_bytes = std::size_t{512} << 20;

  std::shared_ptr<memory_budget> samples = std::make_shared<memory_budget>(max_sample_bytes);
  std::shared_ptr<plot_room> plots = std::make_shared<plot_room>();
  double decoding_share = time_budget::usual_share;  // of a core, for the plots of each topic

  // A share for a sample that clients are shown; null: it is too large. When little is left, it is for small ones.
  [[nodiscard]] std::shared_ptr<const void> keep(std::size_t bytes) const;
};

struct feed_state {
  enum class kind : std::uint8_t { waiting, up, gone };
  kind what = kind::waiting;
  std::string message = {};

  bool operator==(const feed_state&) const = default;
};

// One field of a topic, for one client. Made by topic_feed::add_plot.
class topic_plot {
 public:
  topic_plot(std::string path, double per_second, std::shared_ptr<plot_room> room)
      : path_(std::move(path)), sampler_(per_second, std::move(room)) {}

 private:
  friend class topic_feed;
  const std::string path_;
  plot_sampler sampler_;  // with the feed's mutex
};

// Any thread may call. A source feeds it, and clients read it.
class topic_feed {
 public:
  // `news` is called when something changed, from the thread of the source.
  topic_feed(std::string topic, std::function<void()> news, feed_limits limits = {})
      : topic_(std::move(topic)), news_(std::move(news)), limits_(std::move(limits)), budget_(limits_.decoding_share) {}

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }

  // For clients. Changes with each sample and each state.
  [[nodiscard]] std::uint64_t sample_number() const noexcept { return sample_number_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t state_number() const noexcept { return state_number_.load(std::memory_order_acquire); }
  // Null: none came yet, or the source forgot it; also when sample_number() has changed.
  [[nodiscard]] std::shared_ptr<const fed_sample> newest() const;
  [[nodiscard]] feed_state state() const;

  [[nodiscard]] std::shared_ptr<topic_plot> add_plot(const std::string& path, double per_second);
  void remove_plot(const std::shared_ptr<topic_plot>& plot);
  void set_resolution(topic_plot& plot, double per_second);
  [[nodiscard]] bool plot_ready(const topic_plot& plot, std::int64_t now_ns) const;
  // At most so many points: they merge.
  [[nodiscard]] plot_batch take(topic_plot& plot, std::int64_t now_ns, std::size_t most = plot_sampler::max_pending);
  // Why it has no points; empty: no reason.
  [[nodiscard]] std::string problem_of(const topic_plot& plot) const;

  // A share for a sample of this size; null: show it without its data.
  [[nodiscard]] std::shared_ptr<const void> keep(std::size_t bytes) const { return limits_.keep(bytes); }
  // For the source, from one thread at a time. All samples that come, if there are plots. Decodes each field once,
  // without a lock. Beyond the time_budget, fields miss samples, and the plots have a problem that says so.
  void plot(std::span<const std::byte> sample, std::int64_t stamp_ns, std::int64_t now_ns);
  // What comes next does not continue what came before.
  void restart_plots();
  void set_type(std::shared_ptr<const decoded_type> type);
  void show(std::shared_ptr<const fed_sample> sample);
  // Clients that come later do not see the newest sample.
  void forget();
  void set_state(feed_state state);
  // Calls `news`, after one or more of the above.
  void announce() const { news_(); }

 private:
  // A field that is plotted, for all clients that plot it.
  struct plotted_field {
    std::string name = {};
    std::optional<types::field_path> path = {};  // nothing: the type does not have it
    std::string problem = {};
    std::vector<std::shared_ptr<topic_plot>> plots = {};
  };

  [[nodiscard]] std::shared_ptr<plotted_field> prepare(const std::string& path) const;
  [[nodiscard]] bool begin_plot();
  void plot_field(plotted_field& field, std::span<const std::byte> sample, std::int64_t stamp_ns, std::int64_t now_ns);
  void set_thinned(bool thinned, time_budget::clock::time_point now);
  void fail(plotted_field& field, std::string problem);

  const std::string topic_;
  const std::function<void()> news_;
  const feed_limits limits_;
  std::atomic<std::uint64_t> sample_number_{0};
  std::atomic<std::uint64_t> state_number_{1};  // also grows with the problem of a plot

  mutable std::mutex mutex_;
  std::shared_ptr<const fed_sample> newest_;
  feed_state state_;
  std::shared_ptr<const decoded_type> type_;
  bool typed_ = false;                                            // set_type() was called: null means untyped
  std::map<std::string, std::shared_ptr<plotted_field>> fields_;  // by path; their paths do not change
  bool thinned_ = false;

  // Of plot().
  std::shared_ptr<const decoded_type> plotted_type_;
  std::vector<std::shared_ptr<plotted_field>> plotted_;
  types::value value_;
  time_budget budget_;
  std::size_t turn_ = 0;  // the field that is next when the time was over
  time_budget::clock::time_point thinned_at_ = {};
};

}  // namespace orc::web
