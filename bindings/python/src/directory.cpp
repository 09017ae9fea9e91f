#include "directory.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "buffers.h"
#include "errors.h"
#include "gil.h"
#include "interpreter.h"
#include "orc/directory.h"
#include "orc/parameters/remote_parameters.h"
#include "parameters/value.h"

namespace orc::python {

namespace {

// The longest wait of one call of liborc, so that a thread that Ctrl-C left behind ends soon.
constexpr int max_call_ms = 2000;
constexpr std::chrono::milliseconds between_signals{20};

// ---- states as tuples, in the order of the dataclasses' fields ----

template <typename Value, typename Make>
nb::object optional(const std::optional<Value>& value, Make&& make) {
  return value ? nb::object(make(*value)) : nb::borrow(nb::none());
}

template <typename Values, typename Make>
nb::list list_of(const Values& values, Make&& make) {
  nb::list made;
  for (const auto& each : values) made.append(make(each));
  return made;
}

nb::object name_of(transport t) { return nb::cast(std::string(to_string(t))); }

nb::tuple tuple_of(const participant_state& of) { return nb::make_tuple(of.id, of.name, of.host, of.pid, of.library); }
nb::tuple tuple_of(const host_state& of) { return nb::make_tuple(of.id, of.participants); }
nb::tuple tuple_of(const endpoint& of) { return nb::make_tuple(name_of(of.transport), of.address); }
nb::tuple tuple_of(const topic_type& of) {
  return nb::make_tuple(of.name, of.schema_encoding, of.message_encoding, of.hash, of.schema_size);
}
nb::tuple tuple_of(const type_description& of) {
  return nb::make_tuple(of.name, of.schema_encoding, of.message_encoding,
                        nb::bytes(of.schema.data(), of.schema.size()));
}
nb::object cast_ns(std::int64_t ns) { return nb::cast(ns); }
nb::tuple tuple_of(const publication_counters& of) {
  return nb::make_tuple(of.sampled_ns, of.age.count(), of.sent, of.bytes, of.dropped, of.readers,
                        optional(of.last_sent_ns, cast_ns), optional(of.jitter_ns, cast_ns));
}
nb::tuple tuple_of(const prediction_info& of) {
  return nb::make_tuple(of.period_ns, of.hits, of.early, of.misses, of.watched_ns);
}
nb::tuple tuple_of(const subscription_counters& of) {
  const auto tuple = [](const auto& part) { return tuple_of(part); };
  return nb::make_tuple(of.age.count(), of.received, of.bytes, of.missed, of.malformed, of.stale,
                        optional(of.sample_age_ns, cast_ns), optional(of.transport, name_of), of.reason, of.sampled_ns,
                        optional(of.prediction, tuple));
}
nb::tuple tuple_of(const publication_state& of) {
  const auto tuple = [](const auto& part) { return tuple_of(part); };
  return nb::make_tuple(of.id, tuple_of(of.participant), list_of(of.endpoints, tuple), optional(of.type, tuple),
                        of.keep_last, optional(of.counters, tuple));
}
nb::tuple tuple_of(const subscription_state& of) {
  const auto tuple = [](const auto& part) { return tuple_of(part); };
  return nb::make_tuple(of.id, tuple_of(of.participant), of.max_age_ms, optional(of.type, tuple),
                        optional(of.counters, tuple));
}
nb::tuple tuple_of(const topic_state& of) {
  const auto tuple = [](const auto& part) { return tuple_of(part); };
  return nb::make_tuple(of.name, optional(of.publication, tuple), of.subscription_count,
                        list_of(of.subscriptions, tuple), of.shared, list_of(of.others, tuple));
}
nb::tuple tuple_of(const broker_state& of) {
  return nb::make_tuple(of.endpoint, of.version, of.epoch, of.uptime.count(), of.participants, of.rejected);
}

const char* name_of(directory_change::kind kind) {
  switch (kind) {
    case directory_change::kind::topic: return "topic";
    case directory_change::kind::topic_gone: return "topic_gone";
    case directory_change::kind::participant: return "participant";
    case directory_change::kind::participant_gone: return "participant_gone";
    case directory_change::kind::host: return "host";
    case directory_change::kind::host_gone: return "host_gone";
    case directory_change::kind::complete: return "complete";
    case directory_change::kind::broker_lost: break;
  }
  return "broker_lost";
}

nb::tuple tuple_of(const directory_change& of) {
  using kind = directory_change::kind;
  nb::object state = nb::borrow(nb::none());
  if (of.what == kind::topic || of.what == kind::topic_gone) state = tuple_of(of.topic);
  if (of.what == kind::participant || of.what == kind::participant_gone) state = tuple_of(of.participant);
  if (of.what == kind::host || of.what == kind::host_gone) state = tuple_of(of.host);
  return nb::make_tuple(name_of(of.what), state);
}

// ---- watch ----

struct watch_handle {
  std::shared_ptr<directory_watch> same;

  [[nodiscard]] std::shared_ptr<directory_watch> open() const {
    if (!same) fail(errc::closed, "the watch is closed");
    return same;
  }

  // Returns None when nothing changed. Waits a slice at a time, so that Ctrl-C ends the wait.
  [[nodiscard]] nb::object next_change(int timeout_ms) const {
    patience left(timeout_ms);
    for (;;) {
      auto kept = open();
      directory_change change;
      const int slice = left.slice();
      const result outcome = without_gil([&]() noexcept {
        auto found = kept->next_change(change, slice);
        kept.reset();
        return found;
      });
      if (outcome) return tuple_of(change);
      if (outcome.code() == errc::nothing_new) return nb::borrow(nb::none());
      if (outcome.code() != errc::timed_out) check(outcome);
      raise_signals();
      if (!left.goes_on()) return nb::borrow(nb::none());
    }
  }

  void close() {
    auto ended = std::exchange(same, nullptr);
    without_gil([&]() noexcept { ended.reset(); });
  }
};

// ---- directory ----

// How many calls of equal length a wait takes.
int calls_in(int timeout_ms) { return std::max(timeout_ms - 1, 0) / max_call_ms + 1; }

class directory_handle {
 public:
  directory_handle(directory_options options, int timeout_ms) : timeout_ms_(timeout_ms) {
    without_gil([&]() noexcept { same_ = std::make_shared<directory>(std::move(options)); });
  }

  // Asks on another thread, so that Ctrl-C ends the wait.
  template <typename Found, typename Question>
  [[nodiscard]] Found ask(const Question& question) const {
    for (int call = 1;; ++call) {
      auto [outcome, found] = ask_beside<Found>(question);
      const bool is_last = timeout_ms_ != -1 && call >= calls_in(timeout_ms_);
      if (outcome.code() != errc::no_broker || is_last) {
        check(outcome);
        return std::move(found);
      }
      raise_signals();
    }
  }

  [[nodiscard]] watch_handle watch(watch_options options) const {
    const auto kept = open();
    watch_handle made;
    without_gil([&]() noexcept { made.same = std::make_shared<directory_watch>(kept->watch(std::move(options))); });
    return made;
  }

  void close() {
    auto ended = std::exchange(same_, nullptr);
    without_gil([&]() noexcept { ended.reset(); });
  }

 private:
  [[nodiscard]] std::shared_ptr<directory> open() const {
    if (!same_) fail(errc::closed, "the directory is closed");
    return same_;
  }

  template <typename Found, typename Question>
  [[nodiscard]] std::pair<result, Found> ask_beside(const Question& question) const {
    auto task = std::make_shared<std::packaged_task<std::pair<result, Found>()>>([used = open(), question]() mutable {
      std::pair<result, Found> answer;
      answer.first = question(*used, answer.second);
      used.reset();
      return answer;
    });
    auto answer = task->get_future();
    try {
      interpreter::run_beside([task = std::move(task)] { (*task)(); });
    } catch (const std::system_error& problem) {
      fail(errc::system_error, std::string("no thread for the call: ") + problem.what());
    }
    while (without_gil([&]() noexcept { return answer.wait_for(between_signals); }) != std::future_status::ready)
      raise_signals();
    return answer.get();
  }

  int timeout_ms_;
  std::shared_ptr<directory> same_;
};

directory_options options_of(std::string broker, int timeout_ms) {
  const int call_ms = timeout_ms == -1 ? max_call_ms : timeout_ms / calls_in(timeout_ms);
  return {.broker = std::move(broker), .broker_timeout = std::chrono::milliseconds(call_ms)};
}

}  // namespace

void bind_directory(nb::module_& m) {
  nb::class_<watch_handle>(m, "Watch", "Changes as tuples (liborc/include/orc/directory.h). Any thread may call.")
      .def(
          "next_change",
          [](const watch_handle& self, nb::handle timeout_ms) {
            return self.next_change(to_int(timeout_ms, "timeout_ms"));
          },
          nb::arg("timeout_ms"), "Returns kind and state, or None.")
      .def(
          "fileno",
          [](const watch_handle& self) {
            const int found = self.open()->fd();
            if (found < 0) fail(errc::no_descriptors);
            return found;
          },
          "Returns a descriptor that is readable when next_change(0) may return a change.")
      .def("close", &watch_handle::close, "Later calls raise Closed.");
  nb::class_<directory_handle>(m, "Directory",
                               "Questions to the broker (liborc/include/orc/directory.h). Any thread may call.")
      .def(
          "__init__",
          [](directory_handle* self, std::string broker, nb::handle broker_timeout_ms) {
            const int timeout_ms = to_int(broker_timeout_ms, "broker_timeout_ms");
            new (self) directory_handle(options_of(std::move(broker), timeout_ms), timeout_ms);
          },
          nb::arg("broker"), nb::arg("broker_timeout_ms"))
      .def("broker",
           [](const directory_handle& self) {
             return tuple_of(
                 self.ask<broker_state>([](directory& from, broker_state& found) { return from.broker(found); }));
           })
      .def(
          "topics",
          [](const directory_handle& self, const std::string& pattern) {
            const auto all = self.ask<std::vector<topic_state>>(
                [pattern](directory& from, auto& found) { return from.topics(pattern, found); });
            return list_of(all, [](const auto& each) { return tuple_of(each); });
          },
          nb::arg("pattern"))
      .def(
          "describe",
          [](const directory_handle& self, const std::string& topic) {
            return tuple_of(
                self.ask<topic_state>([topic](directory& from, auto& found) { return from.describe(topic, found); }));
          },
          nb::arg("topic"))
      .def(
          "find_type",
          [](const directory_handle& self, std::string name, std::string schema_encoding, std::string message_encoding,
             std::uint64_t hash, std::size_t schema_size) {
            const topic_type which{.name = std::move(name),
                                   .schema_encoding = std::move(schema_encoding),
                                   .message_encoding = std::move(message_encoding),
                                   .hash = hash,
                                   .schema_size = schema_size};
            return tuple_of(self.ask<type_description>(
                [which](directory& from, auto& found) { return from.find_type(which, found); }));
          },
          nb::arg("name"), nb::arg("schema_encoding"), nb::arg("message_encoding"), nb::arg("hash"),
          nb::arg("schema_size"))
      .def(
          "parameters",
          [](const directory_handle& self, const std::string& pattern) {
            const auto all = self.ask<std::vector<parameter_description>>(
                [pattern](directory& from, auto& found) { return list_parameters(from, pattern, found); });
            return list_of(all, [](const auto& each) { return tuple_of(each); });
          },
          nb::arg("pattern"))
      .def("participants",
           [](const directory_handle& self) {
             const auto all = self.ask<std::vector<participant_state>>(
                 [](directory& from, auto& found) { return from.participants(found); });
             return list_of(all, [](const auto& each) { return tuple_of(each); });
           })
      .def("hosts",
           [](const directory_handle& self) {
             const auto all =
                 self.ask<std::vector<host_state>>([](directory& from, auto& found) { return from.hosts(found); });
             return list_of(all, [](const auto& each) { return tuple_of(each); });
           })
      .def(
          "watch",
          [](const directory_handle& self, std::vector<std::string> topics, bool participants, bool hosts) {
            return self.watch({std::move(topics), participants, hosts});
          },
          nb::arg("topics"), nb::arg("participants"), nb::arg("hosts"))
      .def("close", &directory_handle::close, "Later calls raise Closed.");
}

}  // namespace orc::python
