//! Zenoh: peers without router, scouting and gossip, that connect to the writer's address: tcp on the loopback
//! interface or a Unix socket. With "shm", samples of 3 kB and more go through the shared memory that Zenoh takes itself
//! (its stable API offers no loan); the pool has room for several of the largest. No batching, express, the highest
//! priority, congestion control "drop". Its low-latency transport, which has neither fragments nor priorities, carries
//! samples that fit one batch. A ring of one sample waits for a reader as it is best and for newest only, else a ring of
//! `queue`. The receiver looks at the sample where it arrived, if it arrived in one piece.

mod peer;

use peer::{Outcome, Settings};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Config, Session, Wait};

const FITS_ONE_BATCH: usize = 60_000;
const SHARED_MEMORY: usize = 128 << 20;

struct Node(Session);
struct Writer(Publisher<'static>);
struct Reader(Subscriber<RingChannelHandler<Sample>>);

fn failed(error: zenoh::Error) -> peer::Failure {
    error.to_string().into()
}

fn free_endpoint(s: &Settings) -> Outcome<String> {
    if s.transport == "tcp" {
        return Ok(format!("tcp/{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?));
    }
    Ok(format!("unixsock-stream/{}/{}", s.directory, s.output))
}

fn configuration(s: &Settings, listen: &str, connect: &str) -> Outcome<Config> {
    let list = |endpoint: &str| if endpoint.is_empty() { "[]".into() } else { format!("[\"{endpoint}\"]") };
    let small = s.size <= FITS_ONE_BATCH;
    let mut config = Config::default();
    for (name, value) in [
        ("mode", "\"peer\"".into()),
        ("scouting/multicast/enabled", "false".into()),
        ("scouting/gossip/enabled", "false".into()),
        ("listen/endpoints", list(listen)),
        ("connect/endpoints", list(connect)),
        ("connect/timeout_ms", "20000".into()),
        ("transport/unicast/qos/enabled", (!small).to_string()),
        ("transport/unicast/lowlatency", small.to_string()),
        ("transport/link/tx/queue/batching/enabled", "false".into()),
        ("transport/shared_memory/enabled", (s.transport == "shm").to_string()),
        ("transport/shared_memory/mode", "\"init\"".into()),
        ("transport/shared_memory/transport_optimization/pool_size", SHARED_MEMORY.to_string()),
    ] {
        config.insert_json5(name, &value).map_err(failed)?;
    }
    Ok(config)
}

impl peer::Node for Node {
    type Writer = Writer;
    type Reader = Reader;
    fn new(s: &Settings) -> Outcome<Self> {
        let listen = if s.output.is_empty() { String::new() } else { free_endpoint(s)? };
        // The other end of the echo connects to the client: Zenoh refuses a second link between two peers.
        let connects = !s.input.is_empty() && s.role != "client";
        let connect = if connects { peer::announced(s, &s.input)? } else { String::new() };
        let session = zenoh::open(configuration(s, &listen, &connect)?).wait().map_err(failed)?;
        if !listen.is_empty() {
            peer::announce(s, &s.output, &listen)?;
        }
        Ok(Node(session))
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
