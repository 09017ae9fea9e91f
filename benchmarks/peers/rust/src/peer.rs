//! The program of every peer in Rust: what peer.h is in C++, with the same roles, stamps and output. A peer's file has
//! only the peer's own calls.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub type Failure = Box<dyn std::error::Error>;
pub type Outcome<T> = Result<T, Failure>;

/// settings.h has the meaning of each.
#[derive(Clone, Default)]
pub struct Settings {
    pub role: String,
    #[allow(dead_code)] // not every peer has a choice
    pub transport: String,
    pub input: String,
    pub output: String,
    pub directory: String,
    pub size: usize,
    pub seconds: f64,
    pub hz: f64,
    pub queue: usize,
    pub spin: bool,
}

pub trait Node: Sized {
    type Writer: Writer;
    type Reader: Reader;
    fn new(settings: &Settings) -> Outcome<Self>;
    fn writer(&self, topic: &str, settings: &Settings) -> Outcome<Self::Writer>;
    fn reader(&self, topic: &str, settings: &Settings) -> Outcome<Self::Reader>;
}

pub trait Writer {
    fn send(&mut self, sample: &[u8]) -> Outcome<()>;
}

pub trait Reader {
    /// Hands one sample over; false: none came in time.
    fn receive(&mut self, timeout: Duration, take: &mut dyn FnMut(&[u8]) -> Outcome<()>) -> Outcome<bool>;
}

const CONNECT: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(100);

static GO: AtomicBool = AtomicBool::new(false);
static OVER: AtomicBool = AtomicBool::new(false);

fn over() -> bool {
    OVER.load(Ordering::Relaxed)
}

fn listen_to_orders() {
    std::thread::spawn(|| {
        let mut byte = [0u8];
        while matches!(std::io::stdin().read(&mut byte), Ok(1)) {
            GO.store(true, Ordering::Relaxed);
        }
        OVER.store(true, Ordering::Relaxed);
    });
}

fn settings() -> Outcome<Settings> {
    let mut s = Settings::default();
    for text in std::env::args().skip(1) {
        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
        match name {
            "role" => s.role = value.into(),
            "in" => s.input = value.into(),
            "out" => s.output = value.into(),
            "directory" => s.directory = value.into(),
            "size" => s.size = value.parse()?,
            "seconds" => s.seconds = value.parse()?,
            "hz" => s.hz = value.parse()?,
            "queue" => s.queue = value.parse()?,
            "spin" => s.spin = value == "1",
            "transport" => s.transport = value.into(),
            _ => return Err(format!("unknown argument {text}").into()),
        }
    }
    Ok(s)
}

fn clock_ns(clock: libc::clockid_t) -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn now_ns() -> i64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

fn sleep_until_ns(when: i64) {
    let t = libc::timespec { tv_sec: when / 1_000_000_000, tv_nsec: when % 1_000_000_000 };
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &t, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

fn stamp(sample: &mut [u8], number: u64, sent_ns: i64) {
    let mut head = [0u8; 16];
    head[..8].copy_from_slice(&number.to_ne_bytes());
    head[8..].copy_from_slice(&sent_ns.to_ne_bytes());
    let size = head.len().min(sample.len());
    sample[..size].copy_from_slice(&head[..size]);
}

fn head_of(sample: &[u8]) -> (u64, i64) {
    let mut head = [0u8; 16];
    let size = head.len().min(sample.len());
    head[..size].copy_from_slice(&sample[..size]);
    (u64::from_ne_bytes(head[..8].try_into().unwrap()), i64::from_ne_bytes(head[8..].try_into().unwrap()))
}

fn say(text: &str) {
    println!("{text}");
    let _ = std::io::stdout().flush();
}

/// Waits for the endpoint that the writer of a topic left with `announce`.
#[allow(dead_code)] // not every peer has addresses
pub fn announced(settings: &Settings, topic: &str) -> Outcome<String> {
    let until = Instant::now() + CONNECT;
    loop {
        match std::fs::read_to_string(format!("{}/{topic}.endpoint", settings.directory)) {
            Ok(text) => return Ok(text),
            Err(_) if Instant::now() > until => return Err(format!("no writer announced {topic}").into()),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[allow(dead_code)]
pub fn announce(settings: &Settings, topic: &str, endpoint: &str) -> Outcome<()> {
    let path = format!("{}/{topic}.endpoint", settings.directory);
    std::fs::write(format!("{path}.new"), endpoint)?;
    Ok(std::fs::rename(format!("{path}.new"), path)?)
}

fn memory_kb() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = rollup.lines().find(|line| line.starts_with("Pss:"));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}

fn times(name: &str, ns: &mut [i64], parts: f64) -> String {
    ns.sort_unstable();
    let at = |share: f64| match ns.len() {
        0 => 0.0,
        n => ns[(share * (n - 1) as f64 + 0.5) as usize] as f64 / 1000.0 / parts,
    };
    [("p50", 0.5), ("p99", 0.99), ("max", 1.0)]
        .map(|(label, share)| format!("\"{name}_{label}_us\": {:.3}, ", at(share)))
        .concat()
}

/// One sample and its echo. False: it was lost.
fn round_trip<N: Node>(
    out: &mut N::Writer,
    input: &mut N::Reader,
    sample: &mut [u8],
    number: u64,
    timeout: Duration,
) -> Outcome<bool> {
    stamp(sample, number, 0);
    out.send(sample)?;
    loop {
        let mut mine = false;
        let mut look = |reply: &[u8]| {
            mine = reply.len() == sample.len() && head_of(reply).0 == number;
            Ok(())
        };
        if !input.receive(timeout, &mut look)? {
            return Ok(false);
        }
        if mine {
            return Ok(true);
        }
    }
}

fn client<N: Node>(out: &mut N::Writer, input: &mut N::Reader, s: &Settings) -> Outcome<()> {
    const MOST: usize = 400_000;
    const LEAST: usize = 5;
    let mut sample = vec![0x5a; s.size];
    let mut number = 1;
    let until = Instant::now() + CONNECT;
    while !round_trip::<N>(out, input, &mut sample, number, LOOK)? {
        if over() || Instant::now() > until {
            return Err("no echo came back".into());
        }
        number += 1;
    }
    say("met");
    let mut ns = Vec::with_capacity(MOST);
    let mut lost = 0;
    for seconds in [s.seconds / 4.0, s.seconds] {
        ns.clear();
        let end = now_ns() + (seconds * 1e9) as i64;
        while ns.len() < MOST && (now_ns() < end || ns.len() < LEAST) {
            let before = now_ns();
            number += 1;
            if round_trip::<N>(out, input, &mut sample, number, Duration::from_secs(1))? {
                ns.push(now_ns() - before);
            } else {
                lost += 1;
                if over() || lost > 3 {
                    return Err("samples are lost".into());
                }
            }
        }
    }
    say(&format!("{{{}\"count\": {}}}", times("echo", &mut ns, 2.0), ns.len()));
    Ok(())
}

fn publish<W: Writer>(out: &mut W, s: &Settings) -> Outcome<()> {
    let mut sample = vec![0x5a; s.size];
    while !GO.load(Ordering::Relaxed) {
        if over() {
            return Ok(());
        }
        stamp(&mut sample, 0, now_ns());
        out.send(&sample)?;
        std::thread::sleep(Duration::from_millis(10));
    }
    let count = (s.seconds * s.hz) as u64;
    let period = 1e9 / s.hz;
    let mut call_ns = vec![0; count as usize];
    let cpu_before = clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let start = now_ns();
    for i in 0..count {
        if over() {
            break;
        }
        // late samples are sent at once, so that the rate holds
        sleep_until_ns(start + (period * (i + 1) as f64) as i64);
        let before = now_ns();
        stamp(&mut sample, i + 1, before);
        out.send(&sample)?;
        call_ns[i as usize] = now_ns() - before;
    }
    let took = (now_ns() - start) as f64;
    let cpu_us = (clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) - cpu_before) as f64 / 1000.0 / count as f64;
    say(&format!(
        "{{{}\"cpu_us\": {cpu_us:.3}, \"memory_kb\": {}, \"sent\": {count}, \"achieved_hz\": {:.1}}}",
        times("call", &mut call_ns, 1.0),
        memory_kb(),
        count as f64 * 1e9 / took
    ));
    while !over() {
        std::thread::sleep(Duration::from_millis(10)); // the last samples are under way
    }
    Ok(())
}

fn subscribe<R: Reader>(input: &mut R) -> Outcome<()> {
    let mut age_ns = Vec::with_capacity(1_000_000);
    let (mut previous, mut disordered, mut met) = (0, 0, false);
    let mut take = |sample: &[u8]| {
        let now = now_ns();
        let (number, sent_ns) = head_of(sample);
        if !std::mem::replace(&mut met, true) {
            say("met");
        }
        if number > 0 {
            disordered += u64::from(number <= previous);
            previous = number;
            age_ns.push(now - sent_ns);
        }
        Ok(())
    };
    while !over() {
        input.receive(LOOK, &mut take)?;
    }
    let received = age_ns.len();
    say(&format!(
        "{{{}\"received\": {received}, \"disordered\": {disordered}, \"newest\": {previous}}}",
        times("age", &mut age_ns, 1.0)
    ));
    Ok(())
}

fn play_role<N: Node>() -> Outcome<()> {
    let s = settings()?;
    let node = N::new(&s)?;
    if s.role == "publisher" {
        let mut out = node.writer(&s.output, &s)?;
        say("ready");
        return publish(&mut out, &s);
    }
    if s.role == "subscriber" {
        let mut input = node.reader(&s.input, &s)?;
        say("ready");
        return subscribe(&mut input);
    }
    let mut out = node.writer(&s.output, &s)?;
    let mut input = node.reader(&s.input, &s)?;
    say("ready");
    if s.role == "client" {
        return client::<N>(&mut out, &mut input, &s);
    }
    while !over() {
        input.receive(LOOK, &mut |sample| out.send(sample))?;
    }
    Ok(())
}

pub fn run<N: Node>() {
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    listen_to_orders();
    if let Err(error) = play_role::<N>() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
