// A topic from one publication to one subscription on another host, as ORC's streams over tcp behave on bad networks:
// in order; a new connection replaces a silent one, and what was on its way is counted as missed; the last sample of a
// publication that keeps it comes again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "simulation/network.h"

namespace orc::test {

using namespace std::chrono_literals;

template <class Sample>
class sim_stream {
 public:
  using taken = std::function<void(const Sample&, bool missed)>;

  // `departure_ends`: a broker's word that the publication left ends a link over which nothing comes.
  sim_stream(sim_network& net, std::size_t from, std::size_t to, bool keep_last, bool departure_ends, taken with)
      : net_(net),
        from_(from),
        to_(to),
        keep_last_(keep_last),
        departure_ends_(departure_ends),
        with_(std::move(with)) {
    watch_path();
  }
  ~sim_stream() { end_all(); }
  sim_stream(const sim_stream&) = delete;
  sim_stream& operator=(const sim_stream&) = delete;

  // ---- the publication ----
  void publish(std::uint64_t publication) {
    published_ = publication;
    sequence_ = 0;
    last_.reset();
  }
  // `told`: the connection is closed, which the other end hears where the path works.
  void unpublish() {
    published_ = 0;
    if (reader_) close(reader_);
    reader_.reset();
  }
  void send(Sample what) {
    ++sequence_;
    if (keep_last_) last_ = what;
    if (reader_ && reader_->pipe) reader_->pipe->send({.sequence = sequence_, .what = std::move(what)});
  }

  // ---- the subscription ----
  void update(std::optional<std::uint64_t> publication, bool pushed) {
    if (!publication) {
      if (pushed && wanted_ != 0 && !departed_at_) {
        departed_at_ = net_.time().now();
        baseline_.reset();
        sends_on_ = attempts_ = false;
      }
      return;
    }
    departed_at_.reset();
    sends_on_ = false;
    if (*publication != wanted_) {
      drop_link();
      wanted_ = *publication;
      newest_ = 0;
      joined_before_ = false;
    }
    if (!link_) look(0ms);
  }
  void release() {
    drop_link();
    wanted_ = 0;
    attempts_ = false;
  }
  [[nodiscard]] bool connected() const {
    if (!link_ || link_->lost) return false;
    return !departed_at_ || (departure_ends_ ? sends_on_ : !silent_);
  }
  // Both ends believe that a connection works which carries nothing any more.
  void break_silently() {
    if (link_ && link_->pipe) link_->pipe->drop();
    if (link_) link_->broken = true;
  }

 private:
  struct packet {
    std::uint64_t sequence = 0;  // 0: welcome
    Sample what = {};
    bool closes = false;
  };
  struct connection {
    std::uint64_t publication = 0;
    std::shared_ptr<sim_pipe<packet>> pipe = {};
    std::uint64_t newest_at_join = 0;
    bool lost = false;
    bool broken = false;
  };

  void watch_path() {
    net_.time().after(500ms, [this, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return;
      watch_path();
      const auto now = net_.time().now();
      const bool answers = net_.answers(from_, to_) && !(link_ && (link_->broken || link_->pipe->is_stuck()));
      if (answers) silent_since_.reset();
      if (!answers && !silent_since_) silent_since_ = now;
      const bool was_silent = std::exchange(silent_, silent_since_ && now - *silent_since_ >= 1s);
      if (link_ && !attempts_ && (silent_ || (link_->lost && !departed_at_))) look(0ms);
      if (link_ && !link_->lost && !silent_ && was_silent && net_.time().chance(50))
        attempts_ = false;  // the old one was first
      if (departed_at_) look_at_departure(now);
    });
  }
  void look_at_departure(scheduler::time now) {
    if (now - *departed_at_ >= 500ms) {
      if (!baseline_) baseline_ = received_;
      if (*baseline_ != received_) {
        baseline_ = received_;
        sends_on_ = true;
        departed_at_ = now;
      }
    }
    if (now - *departed_at_ >= 3s && (departure_ends_ || silent_)) {
      attempts_ = false;
      drop_link();
    }
    if (link_ && link_->lost) drop_link();
  }
  void look(scheduler::duration pause) {
    attempts_ = true;
    const std::uint64_t number = ++attempt_;
    net_.time().after(pause, [this, number, alive = std::weak_ptr(alive_)] {
      if (!alive.expired() && attempts_ && number == attempt_) attempt();
    });
  }
  void attempt() {
    look(net_.time().between(400ms, 900ms));
    if (!net_.answers(from_, to_) || published_ == 0 || published_ != wanted_) return;
    net_.time().after(3 * net_.delay(), [this, alive = std::weak_ptr(alive_)] {
      if (alive.expired() || !attempts_ || published_ == 0 || published_ != wanted_) return;
      if (net_.answers(from_, to_)) join();
    });
  }
  // The publication's end.
  void join() {
    if (reader_) {  // the same subscription over an older connection
      reader_->pipe->drop();
      net_.send(from_, to_, [this, old = reader_, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) lose(old);
      });
    }
    auto made = std::make_shared<connection>();
    made->publication = published_;
    made->newest_at_join = keep_last_ ? sequence_ : sequence_ + 1;
    made->pipe = std::make_shared<sim_pipe<packet>>(
        net_, from_, to_, [this, alive = std::weak_ptr(alive_), of = std::weak_ptr(made)](packet&& each) {
          if (const auto here = of.lock(); here && !alive.expired()) arrive(here, std::move(each));
        });
    reader_ = made;
    made->pipe->send({});
    // From the hello on: what the subscription had then.
    if (keep_last_ && last_ && newest_ < sequence_) made->pipe->send({.sequence = sequence_, .what = *last_});
  }
  void arrive(const std::shared_ptr<connection>& over, packet&& each) {
    if (each.closes) return lose(over);
    if (each.sequence == 0) {
      if (over->publication != wanted_ || !attempts_) return;
      drop_link();
      link_ = over;
      attempts_ = silent_ = false;
      silent_since_.reset();
      if (!std::exchange(joined_before_, true)) before_first_ = std::max<std::uint64_t>(over->newest_at_join, 1) - 1;
      return;
    }
    if (over != link_ || each.sequence <= newest_) return;
    const std::uint64_t before = newest_ != 0 ? newest_ : before_first_;
    newest_ = each.sequence;
    ++received_;
    with_(each.what, each.sequence > before + 1);
  }
  void lose(const std::shared_ptr<connection>& over) {
    over->lost = true;
    if (over == link_ && !departed_at_ && !attempts_) look(net_.time().between(0ms, 250ms));
  }
  void close(const std::shared_ptr<connection>& of) {
    if (of->pipe) of->pipe->send({.closes = true});
  }
  void drop_link() {
    if (!link_) return;
    if (link_->pipe && link_ != reader_) link_->pipe->drop();
    if (link_->pipe && link_ == reader_ && net_.passes(to_, from_)) {
      link_->pipe->drop();
      reader_.reset();
    }
    link_.reset();
  }
  void end_all() {
    if (reader_ && reader_->pipe) reader_->pipe->drop();
    if (link_ && link_->pipe) link_->pipe->drop();
  }

  sim_network& net_;
  const std::size_t from_, to_;
  const bool keep_last_, departure_ends_;
  taken with_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  // the publication
  std::uint64_t published_ = 0;
  std::uint64_t sequence_ = 0;
  std::optional<Sample> last_;
  std::shared_ptr<connection> reader_;
  // the subscription
  std::uint64_t wanted_ = 0;
  std::shared_ptr<connection> link_;
  std::uint64_t newest_ = 0, before_first_ = 0, received_ = 0;
  bool joined_before_ = false;
  bool attempts_ = false;
  std::uint64_t attempt_ = 0;
  bool silent_ = false;
  std::optional<scheduler::time> silent_since_, departed_at_;
  std::optional<std::uint64_t> baseline_;
  bool sends_on_ = false;
};

}  // namespace orc::test
