// Runs a callback for each sample, in the thread of the caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "orc/message.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/version.h"

namespace orc {

template <class T>
class typed_message;
template <class T>
class typed_subscriber;

// Receives from subscriptions and calls back.
//
//   orc::executor loop;
//   loop.on_sample(state, [](const orc::message& sample) { … });
//   loop.run();
//
// It has no thread: the callbacks run in the thread that calls run, run_for or run_once, one after the other. With one
// subscription that thread waits as subscriber::recv does, with all of request_options::spin and wait. With several it
// polls their descriptors, and takes one sample of each in turn, so that a fast topic does not keep the others waiting.
//
// One thread at a time makes the calls; a callback may make all but run, run_for and run_once, which return
// bad_argument then. Only stop() is for any thread. An exception that leaves a callback leaves run too; the sample is
// received, and run may be called again.
//
// A subscription leaves the executor when its topic was released or its participant ended.
class ORC_API executor {
 public:
  // Names a callback.
  using id = std::uint64_t;

  // Throws std::bad_alloc.
  executor();
  ~executor();
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  // Calls `callback` with each sample that a receive returns. The message belongs to the callback, so take it by value
  // to keep it. Do not receive from this subscription elsewhere. A false handle is not added. Throws std::bad_alloc.
  id on_sample(subscriber from, std::function<void(message&&)> callback);
  // The same for a typed subscription, with a typed_message<T>. One whose bytes are no T is false, and its status()
  // type_mismatch. Include orc/typed.h.
  template <class T, class Callback>
  id on_sample(const typed_subscriber<T>& from, Callback callback) {
    return on_sample(from.untyped(), [call = std::move(callback)](message&& sample) mutable {
      call(typed_message<T>(std::move(sample)));
    });
  }
  // Removes a callback, which is not called again. No effect when it is gone. A callback may remove itself.
  void remove(id callback) noexcept;

  // Calls back until stop().
  // - ok: stop() was called.
  // - closed: there is no subscription, or none any more.
  // - no_descriptors: several subscriptions need descriptors, and there are none.
  // - forked: this process is a child of the one that made the executor. It makes its own.
  // - bad_argument: a callback called this.
  result run();
  // The same, at most for this time. Then the result is ok as well.
  // - bad_argument: also a negative duration.
  result run_for(std::chrono::nanoseconds duration);
  // Waits for a sample, at most as long as the timeout, and calls back once for each subscription that has one. With
  // several subscriptions more samples may be there afterwards.
  // - ok: a callback was called.
  // - timed_out, or nothing_new when the timeout is 0: there was no sample, or stop() was called.
  // - closed, no_descriptors, forked and bad_argument as above.
  result run_once(std::chrono::nanoseconds timeout);

  // Ends the call of run, run_for or run_once that is running, or else the next one, after the callback that is
  // running. A waiting thread notices within 20 ms. Any thread may call it, and a signal handler.
  void stop() noexcept;

 private:
  struct core;
  std::unique_ptr<core> core_;
};

}  // namespace orc
