//! iceoryx2: samples in shared memory, at most `queue` (1 as it is best) of which wait for a reader, the oldest goes
//! first (safe overflow). Readers sleep in the listener of an event that the writer triggers, or poll. The writer
//! copies its sample into the loan, the reader looks at it in place.

mod peer;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use peer::{Outcome, Settings};
use std::time::{Duration, Instant};

type Service = ipc::Service;
const PROCESSES: usize = 80;

struct Ends(iceoryx2::node::Node<Service>);
struct Writer(Publisher<Service, [u8], ()>, Option<Notifier<Service>>);
struct Reader(Subscriber<Service, [u8], ()>, Option<Listener<Service>>);

impl Ends {
    fn topic(
        &self,
        topic: &str,
        s: &Settings,
    ) -> Outcome<iceoryx2::service::port_factory::publish_subscribe::PortFactory<Service, [u8], ()>> {
        let service = self.0.service_builder(&name(topic, s)?).publish_subscribe::<[u8]>();
        Ok(service
            .max_nodes(PROCESSES)
            .max_subscribers(PROCESSES)
            .subscriber_max_buffer_size(s.queue.max(1))
            .history_size(0)
            .open_or_create()?)
    }
    fn event(
        &self,
        topic: &str,
        s: &Settings,
    ) -> Outcome<iceoryx2::service::port_factory::event::PortFactory<Service>> {
        let event = self.0.service_builder(&name(topic, s)?).event();
        Ok(event.max_nodes(PROCESSES).max_listeners(PROCESSES).open_or_create()?)
    }
}

fn name(topic: &str, s: &Settings) -> Outcome<ServiceName> {
    Ok(format!("{}/{topic}", s.directory).as_str().try_into()?)
}

impl peer::Node for Ends {
    type Writer = Writer;
    type Reader = Reader;
    fn new(_: &Settings) -> Outcome<Self> {
        set_log_level(LogLevel::Error);
        Ok(Ends(NodeBuilder::new().signal_handling_mode(SignalHandlingMode::Disabled).create()?))
    }
    fn writer(&self, topic: &str, s: &Settings) -> Outcome<Writer> {
        let publisher = self.topic(topic, s)?.publisher_builder().initial_max_slice_len(s.size).create()?;
        let notifier = if s.spin { None } else { Some(self.event(topic, s)?.notifier_builder().create()?) };
        Ok(Writer(publisher, notifier))
    }
    fn reader(&self, topic: &str, s: &Settings) -> Outcome<Reader> {
        let subscriber = self.topic(topic, s)?.subscriber_builder().create()?;
        let listener = if s.spin { None } else { Some(self.event(topic, s)?.listener_builder().create()?) };
        Ok(Reader(subscriber, listener))
    }
}

impl peer::Writer for Writer {
    fn send(&mut self, sample: &[u8]) -> Outcome<()> {
        self.0.loan_slice_uninit(sample.len())?.write_from_slice(sample).send()?;
        if let Some(notifier) = &self.1 {
            notifier.notify()?;
        }
        Ok(())
    }
}

impl peer::Reader for Reader {
    fn receive(&mut self, timeout: Duration, take: &mut dyn FnMut(&[u8]) -> Outcome<()>) -> Outcome<bool> {
        let until = Instant::now() + timeout;
        for turns in 1u32.. {
            if let Some(sample) = self.0.receive()? {
                take(sample.payload())?;
                return Ok(true);
            }
            match &self.1 {
                Some(listener) => {
                    // may end early, by the event of a sample that was taken before
                    let rest = until.saturating_duration_since(Instant::now());
                    if rest.is_zero() {
                        return Ok(false);
                    }
                    listener.timed_wait(|_| {}, rest)?;
                }
                None if turns % 1024 == 0 && Instant::now() > until => return Ok(false),
                None => std::hint::spin_loop(),
            }
        }
        Ok(false)
    }
}

fn main() {
    peer::run::<Ends>();
}
