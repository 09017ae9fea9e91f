//! Zenoh, peers that know each other's address, over tcp on the loopback interface, with the shared memory that it
//! chooses itself for large samples. Express (no batching), the highest priority, congestion control "drop". As it is
//! best and for newest only, a ring of one sample waits for a reader; else a ring of `queue`.

mod peer;

use peer::{Outcome, Settings};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Config, Session, Wait};

struct Node(Session);
struct Writer(Publisher<'static>);
struct Reader(Subscriber<RingChannelHandler<Sample>>);

fn set(config: &mut Config, name: &str, value: &str) -> Outcome<()> {
    config.insert_json5(name, value).map_err(|error| error.to_string().into())
}

fn failed(error: zenoh::Error) -> peer::Failure {
    error.to_string().into()
}

impl peer::Node for Node {
    type Writer = Writer;
    type Reader = Reader;
    fn new(s: &Settings) -> Outcome<Self> {
        let mut config = Config::default();
        set(&mut config, "mode", "\"peer\"")?;
        set(&mut config, "scouting/multicast/enabled", "false")?;
        set(&mut config, "scouting/gossip/enabled", "false")?;
        set(&mut config, "transport/shared_memory/enabled", "true")?;
        set(&mut config, "connect/timeout_ms", "20000")?;
        set(&mut config, "listen/endpoints", "[]")?;
        if !s.output.is_empty() {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let endpoint = format!("tcp/127.0.0.1:{port}");
            set(&mut config, "listen/endpoints", &format!("[\"{endpoint}\"]"))?;
            peer::announce(s, &s.output, &endpoint)?;
        }
        if !s.input.is_empty() {
            let endpoint = peer::announced(s, &s.input)?;
            set(&mut config, "connect/endpoints", &format!("[\"{endpoint}\"]"))?;
        }
        Ok(Node(zenoh::open(config).wait().map_err(failed)?))
    }
    fn writer(&self, topic: &str, _: &Settings) -> Outcome<Writer> {
        let publisher = self
            .0
            .declare_publisher(topic.to_string())
            .express(true)
            .priority(Priority::RealTime)
            .congestion_control(CongestionControl::Drop);
        Ok(Writer(publisher.wait().map_err(failed)?))
    }
    fn reader(&self, topic: &str, s: &Settings) -> Outcome<Reader> {
        let subscriber = self.0.declare_subscriber(topic.to_string()).with(RingChannel::new(s.queue.max(1)));
        Ok(Reader(subscriber.wait().map_err(failed)?))
    }
}

impl peer::Writer for Writer {
    fn send(&mut self, sample: &[u8]) -> Outcome<()> {
        self.0.put(sample).wait().map_err(failed)
    }
}

impl peer::Reader for Reader {
    fn receive(&mut self, timeout: Duration, take: &mut dyn FnMut(&[u8]) -> Outcome<()>) -> Outcome<bool> {
        match self.0.recv_deadline(Instant::now() + timeout).map_err(failed)? {
            Some(sample) => take(&sample.payload().to_bytes()).map(|()| true),
            None => Ok(false),
        }
    }
}

fn main() {
    peer::run::<Node>();
}
