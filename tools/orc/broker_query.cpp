#include "broker_query.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <zmq.hpp>

#include "base/run_dir.h"
#include "endpoint_check.h"
#include "exit_code.h"
#include "text.h"
#include "wire/broker_endpoint.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;
using clock = detail::stop_signal::clock;

// A broker that is being restarted is back within this; without one, a person does not want to wait longer.
constexpr auto patience_without_listener = 1s;
constexpr auto patience_with_listener = 3s;
constexpr auto one_attempt = 1s;

}  // namespace

// A DEALER: unlike REQ it survives a lost reply. Replies to older attempts are told apart by their request id.
struct broker_query::connection {
  explicit connection(const std::string& endpoint) : socket(context, zmq::socket_type::dealer) {
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::ipv6, true);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::max_control_bytes));
    socket.connect(endpoint);
  }

  // One whole message if there is one; nullopt for anything that is not a single frame too.
  std::optional<zmq::message_t> receive() {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
    bool single = true;
    while (socket.get(zmq::sockopt::rcvmore)) {
      single = false;
      if (!socket.recv(frame, zmq::recv_flags::dontwait)) break;
    }
    if (!single) return std::nullopt;
    return frame;
  }

  std::optional<wire::body> answer(const std::string& question, std::uint64_t request, clock::time_point until,
                                   const detail::stop_signal& stop) {
    if (!socket.send(zmq::buffer(question), zmq::send_flags::dontwait)) return std::nullopt;
    while (clock::now() < until && !stop.raised()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
      zmq::pollitem_t items[] = {{socket.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, stop.fd(), ZMQ_POLLIN, 0}};
      zmq::poll(items, 2, std::max(left, 0ms));
      while (socket.get(zmq::sockopt::events) & ZMQ_POLLIN) {
        const auto frame = receive();
        if (!frame) continue;
        auto decoded = wire::decode({frame->data<const std::byte>(), frame->size()});
        auto* reply = std::get_if<wire::envelope>(&decoded);
        if (reply != nullptr && reply->request == request) return std::move(reply->content);
      }
    }
    return std::nullopt;
  }

  zmq::context_t context;
  zmq::socket_t socket;
};

broker_query::broker_query(const std::string& endpoint, const detail::stop_signal& stop)
    : stop_(stop), searches_(!detail::broker_is_named(endpoint)), candidates_(detail::broker_candidates(endpoint)) {}

broker_query::~broker_query() = default;

// The next of them where somebody listens.
bool broker_query::connect() {
  if (next_ == ways_.size()) {
    ways_ = ways_to(candidates_);
    next_ = 0;
    findings_.clear();
  }
  while (next_ < ways_.size()) {
    const std::string& way = ways_[next_++];
    std::string silent = why_silent(way);
    if (silent.empty() && searches_) silent = why_ignored(way);
    if (!findings_.empty()) findings_ += ", ";
    findings_ += escaped(way) + (silent.empty() ? "" : " (" + silent + ")");
    if (!silent.empty()) continue;
    try {
      connection_ = std::make_unique<connection>(way);
      endpoint_ = way;
      return true;
    } catch (const zmq::error_t& error) {
      findings_ += std::string(" (") + error.what() + ")";
    }
  }
  return false;
}

query_failure broker_query::nobody_answers() const {
  // A search leaves out what is not there, or not to be trusted; what was named is looked at more closely.
  const std::string findings = searches_ ? findings_ : why_none_answers(candidates_, stop_);
  return {exit_code::failed,
          "no broker answers at " + findings + ": start one with orc-broker, or name it with --broker or ORC_BROKER"};
}

query_result<wire::body> broker_query::ask(const wire::body& question) {
  const std::uint64_t request = ++last_request_;
  return ask(wire::encode({request, question}), request);
}

query_result<wire::body> broker_query::ask(const std::string& frame, std::uint64_t request) {
  if (candidates_.front() == detail::without_broker)
    return query_failure{exit_code::failed,
                         "only a broker knows that, and ORC_BROKER=none or --broker none says to do without one"};
  for (const auto& each : candidates_) {
    if (const auto problem = wire::problem_of_broker_endpoint(each))
      return query_failure{exit_code::failed, "the broker's endpoint " + problem->text};
  }
  const auto start = clock::now();
  while (!stop_.raised()) {
    const auto waited = clock::now() - start;
    if (connection_ == nullptr && !connect()) {
      if (waited > patience_without_listener) return nobody_answers();
      stop_.wait_until(clock::now() + 50ms);
      continue;
    }
    if (waited > std::max<clock::duration>(patience_with_listener, static_cast<int>(ways_.size()) * 1200ms))
      return nobody_answers();
    auto reply = connection_->answer(frame, request, clock::now() + one_attempt, stop_);
    if (!reply) {
      connection_.reset();  // the next one's turn
    } else if (const auto* refusal = std::get_if<wire::error>(&*reply)) {
      const bool unknown = refusal->code == wire::error_code::unknown_topic;
      return query_failure{unknown ? exit_code::no_topic : exit_code::failed, escaped(refusal->text)};
    } else {
      return std::move(*reply);
    }
  }
  return query_failure{exit_code::interrupted, "interrupted"};
}

query_result<wire::welcome> broker_query::greet() {
  // What libzmq's ZMQ_PROBE_ROUTER sends for participants: an empty frame, which a broker answers unasked.
  auto reply = ask(std::string(), 0);
  if (auto* failure = std::get_if<query_failure>(&reply)) return std::move(*failure);
  auto* welcome = std::get_if<wire::welcome>(&std::get<wire::body>(reply));
  if (welcome == nullptr) return query_failure{exit_code::failed, "the broker's answer is no welcome"};
  return std::move(*welcome);
}

query_result<wire::topic_list> broker_query::list() {
  wire::topic_list all;
  wire::list_topics question;
  do {
    auto reply = ask(question);
    if (auto* failure = std::get_if<query_failure>(&reply)) return std::move(*failure);
    auto* page = std::get_if<wire::topic_list>(&std::get<wire::body>(reply));
    if (page == nullptr) return query_failure{exit_code::failed, "the broker's answer is not a list of topics"};
    std::move(page->topics.begin(), page->topics.end(), std::back_inserter(all.topics));
    page->topics = std::move(all.topics);
    all = std::move(*page);
    // Names must grow, or a broken broker would keep us asking for ever.
    if (!all.more || all.topics.empty() || all.topics.back().topic <= question.after) break;
    question.after = all.topics.back().topic;
  } while (true);
  return all;
}

query_result<wire::topic_state> broker_query::describe(const std::string& topic) {
  std::optional<wire::topic_state> all;
  wire::describe_topic question{topic};
  do {
    auto reply = ask(question);
    if (auto* failure = std::get_if<query_failure>(&reply)) return std::move(*failure);
    auto* page = std::get_if<wire::topic_state>(&std::get<wire::body>(reply));
    if (page == nullptr) return query_failure{exit_code::failed, "the broker's answer is not the state of a topic"};
    const auto last = page->subscriptions.empty() ? wire::id{} : page->subscriptions.back().subscription;
    if (!all) {
      all = std::move(*page);  // with the type's schema
    } else {
      std::move(page->subscriptions.begin(), page->subscriptions.end(), std::back_inserter(all->subscriptions));
      all->more = page->more;
      all->subscription_count = page->subscription_count;
    }
    // Ids must grow, or a broken broker would keep us asking for ever.
    if (!all->more || last <= question.after) break;
    question.after = last;
  } while (true);
  return std::move(*all);
}

}  // namespace orc::cli
