//! What may run beside each other because nothing orders the streams that it was asked for in.
//!
//! Launches, copies and fills run in the order of the host here. Each gets a clock: how much of each stream comes before it,
//! by its own stream, by events, by the default stream, or because the host waited. Two that no clock orders must not touch the
//! same bytes, unless both read them or both are atomic.
//!
//! The host itself is one more of those that touch memory, where it can use what kernels and copies do: it comes after what it has
//! waited for, and must not use what the others write, nor write what they use. Flags that both use order what nobody can tell.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use warpsmith_emu::Touched;
use warpsmith_ir::interp::Piece;
use warpsmith_ir::{Span, StreamOrder};

/// The default stream, and the numbers of those that a program makes.
const DEFAULT: u64 = 0;
const LEGACY: u64 = 1;
const FIRST: u64 = 0x100;
/// Operations that are kept, at most, and ranges of one.
const MOST_KEPT: usize = 1024;
const MOST_RANGES: usize = 1 << 20;

/// How many operations of each stream come before.
type Clock = BTreeMap<u64, u64>;

/// A launch, copy or fill that has begun.
pub struct Begun {
    stream: u64,
    number: u64,
    before: Clock,
    /// Its stream is known.
    known: bool,
    /// Others may run beside it.
    beside: bool,
    /// The host may use what it touches.
    visible: bool,
}

impl Begun {
    /// The host can use what it touches, and does not wait for it.
    pub fn is_visible(&mut self) {
        self.visible = self.known;
    }

    /// Somebody may run beside it.
    pub fn watched(&self) -> bool {
        self.beside || self.visible
    }
}

/// An operation that the host has not waited for.
struct Kept {
    stream: u64,
    number: u64,
    done: Done,
    /// The host may use what it touches, and has not waited for it, as far as is understood.
    open: bool,
}

/// What an operation did.
#[derive(Clone, PartialEq)]
pub struct Done {
    /// As messages name it.
    pub name: String,
    pub at: Option<Span>,
    pub touched: Vec<Touched>,
}

/// Two operations that nothing orders and that touch the same byte.
pub struct Unordered {
    pub buffer: usize,
    pub byte: u64,
    pub earlier: (Done, &'static str),
    pub later: &'static str,
}

/// The streams of one run of a program.
#[derive(Default)]
pub struct Streams {
    made: u64,
    /// Those that do not wait for the default stream.
    apart: HashSet<u64>,
    streams: HashMap<u64, Clock>,
    events: HashMap<u64, Clock>,
    host: Clock,
    /// The stream of the next operation, if it was named; it may not be known.
    into: Option<Option<u64>>,
    kept: Vec<Kept>,
    /// Whether those kept touch a buffer, of the buffers that were asked for since something changed.
    asked: RefCell<HashMap<usize, bool>>,
}

impl Streams {
    /// What a program asks about the order of streams; the number of what it makes.
    pub fn order(&mut self, what: StreamOrder, operands: &[Option<u64>]) -> u64 {
        use StreamOrder::*;
        let stream = |of: Option<u64>| if of == Some(LEGACY) { Some(DEFAULT) } else { of };
        match (what, operands) {
            (Into, [of]) => self.into = Some(stream(*of)),
            (Create | CreateApart | CreateEvent, _) => return self.make(what),
            (Record, [Some(event), of]) => match stream(*of) {
                Some(of) => {
                    let clock = self.clock(of);
                    self.events.insert(*event, clock);
                }
                None => self.all(),
            },
            (Wait, [of, Some(event)]) => match stream(*of) {
                Some(of) => {
                    let clock = self.events.get(event).cloned().unwrap_or_default();
                    join(self.streams.entry(of).or_default(), &clock);
                }
                None => self.all(),
            },
            (Stream, [of]) if stream(*of).is_some() => {
                let clock = self.clock(stream(*of).unwrap_or(DEFAULT));
                self.host_waits(&clock);
            }
            (Event, [Some(event)]) => {
                let clock = self.events.get(event).cloned().unwrap_or_default();
                self.host_waits(&clock);
            }
            // What is not known may be any of them.
            _ => self.all(),
        }
        0
    }

    fn make(&mut self, what: StreamOrder) -> u64 {
        self.made += 1;
        let number = FIRST + self.made;
        if what == StreamOrder::CreateApart {
            self.apart.insert(number);
        }
        if what != StreamOrder::CreateEvent {
            self.streams.insert(number, Clock::new());
        }
        number
    }

    /// The host waits for everything.
    fn all(&mut self) {
        let mut all = std::mem::take(&mut self.host);
        self.streams.values().for_each(|clock| join(&mut all, clock));
        self.host = all;
        self.kept.clear();
        self.asked.take();
    }

    fn host_waits(&mut self, clock: &Clock) {
        join(&mut self.host, clock);
        let host = &self.host;
        self.kept.retain(|k| k.number > count(host, k.stream));
        self.asked.take();
    }

    /// Whether anything that the host has not waited for touches the buffer, or any.
    pub fn in_flight(&self, buffer: Option<usize>) -> bool {
        let mut open = self.kept.iter().filter(|k| k.open);
        let Some(buffer) = buffer else { return open.next().is_some() };
        let touches = |k: &Kept| k.done.touched.iter().any(|t| t.buffer as usize == buffer);
        *self.asked.borrow_mut().entry(buffer).or_insert_with(|| open.any(touches))
    }

    /// Nothing is known any more of what the host has waited for.
    pub fn settle(&mut self) {
        self.kept.iter_mut().for_each(|k| k.open = false);
        self.asked.take();
    }

    /// The host touches a piece: the latest operation that may be at it meanwhile, and how. One missing wait is told once.
    pub fn host_touches(&mut self, piece: Piece, plain: bool) -> Option<Unordered> {
        let of_host = Done { name: String::new(), at: None, touched: touched_by(&[piece]) };
        let open = || self.kept.iter().rev().filter(|k| k.open);
        let flag = open().any(|k| flags(&k.done, piece));
        let found = open().find_map(|k| meet(&k.done, &of_host)).filter(|_| plain && !flag);
        if found.is_some() || flag || !plain {
            self.settle();
        }
        found
    }

    /// What comes before the next operation of a stream.
    fn clock(&self, stream: u64) -> Clock {
        let mut clock = self.host.clone();
        for (other, of) in &self.streams {
            let waits = match (stream, *other) {
                (DEFAULT, other) => !self.apart.contains(&other),
                (stream, DEFAULT) => !self.apart.contains(&stream),
                (stream, other) => stream == other,
            };
            if waits {
                join(&mut clock, of);
            }
        }
        clock
    }

    /// The next operation, in the stream that was named for it.
    pub fn begin(&mut self) -> Begun {
        let into = self.into.take();
        if into == Some(None) {
            self.all();
        }
        let stream = into.flatten().unwrap_or(DEFAULT);
        let before = self.clock(stream);
        let number = count(&before, stream) + 1;
        let mut clock = before.clone();
        clock.insert(stream, number);
        self.streams.insert(stream, clock);
        let several = self.streams.keys().filter(|s| **s != DEFAULT).count() > 1;
        let known = into != Some(None);
        let beside = known && (!self.apart.is_empty() || several && stream != DEFAULT);
        Begun { stream, number, before, known, beside, visible: false }
    }

    /// A statement was left out: what it was to be in is not the stream of the next operation, and what the host waited for in it
    /// is not known.
    pub fn skip(&mut self) {
        self.into = None;
        self.settle();
    }

    /// The host waits for an operation.
    pub fn wait_for(&mut self, begun: &Begun) {
        let clock = self.clock(begun.stream);
        self.host_waits(&clock);
    }

    /// Takes down what an operation did, and compares it with those that nothing orders it with.
    pub fn ended(&mut self, begun: &Begun, done: Done) -> Vec<Unordered> {
        if !begun.watched() {
            return vec![];
        }
        let beside = self.kept.iter().filter(|k| k.number > count(&begun.before, k.stream));
        let found = beside.filter_map(|k| meet(&k.done, &done)).collect();
        self.keep(begun, done);
        found
    }

    fn keep(&mut self, begun: &Begun, done: Done) {
        let (stream, number) = (begun.stream, begun.number);
        let ranges = |t: &Touched| t.written.len() + t.atomic.len() + t.flags.len() + t.read.len();
        if done.touched.iter().map(ranges).sum::<usize>() > MOST_RANGES {
            return;
        }
        // Who waits for the later of two that are alike has waited for both.
        self.kept.retain(|k| k.stream != stream || k.done != done);
        if self.kept.len() == MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(Kept { stream, number, done, open: begun.visible });
        self.asked.take();
    }
}

/// What a copy or fill touches.
pub fn touched_by(pieces: &[Piece]) -> Vec<Touched> {
    let of = |p: &Piece| {
        let range = p.at as u64..(p.at + p.bytes) as u64;
        let (written, read) = match p.writes {
            true => (vec![range], vec![]),
            false => (vec![], vec![range]),
        };
        Touched { buffer: p.buffer as u32, written, read, ..Touched::default() }
    };
    pieces.iter().map(of).collect()
}

fn count(clock: &Clock, stream: u64) -> u64 {
    clock.get(&stream).copied().unwrap_or(0)
}

fn join(clock: &mut Clock, other: &Clock) {
    for (stream, n) in other {
        let own = clock.entry(*stream).or_insert(0);
        *own = (*own).max(*n);
    }
}

/// A byte that both touch, one of them writing it.
fn meet(earlier: &Done, later: &Done) -> Option<Unordered> {
    for new in &later.touched {
        for old in earlier.touched.iter().filter(|old| old.buffer == new.buffer) {
            let pairs = [
                ("write", &old.written, "write", &new.written),
                ("write", &old.written, "read", &new.read),
                ("read", &old.read, "write", &new.written),
                ("write", &old.written, "atomic", &new.atomic),
                ("atomic", &old.atomic, "write", &new.written),
                ("read", &old.read, "atomic", &new.atomic),
                ("atomic", &old.atomic, "read", &new.read),
                ("write", &old.written, "volatile access", &new.flags),
                ("volatile access", &old.flags, "write", &new.written),
                ("read", &old.read, "volatile access", &new.flags),
                ("volatile access", &old.flags, "read", &new.read),
            ];
            for (was, a, is, b) in pairs {
                if let Some(byte) = common(a, b) {
                    let buffer = new.buffer as usize;
                    return Some(Unordered {
                        buffer,
                        byte,
                        earlier: (earlier.clone(), was),
                        later: is,
                    });
                }
            }
        }
    }
    None
}

/// The operation uses the piece, or a part of it, as a flag.
fn flags(done: &Done, piece: Piece) -> bool {
    let range = piece.at as u64..(piece.at + piece.bytes) as u64;
    let mut own = done.touched.iter().filter(|t| t.buffer as usize == piece.buffer);
    own.any(|t| common(&t.flags, std::slice::from_ref(&range)).is_some())
}

/// The first byte in both lists of ranges.
fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start < y.end && y.start < x.end {
            return Some(x.start.max(y.start));
        }
        match x.end <= y.end {
            true => i += 1,
            false => j += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that writes, or only reads, the bytes from `at` on of buffer 0.
    fn act(streams: &mut Streams, stream: u64, at: u64, writes: bool) -> usize {
        streams.order(StreamOrder::Into, &[Some(stream)]);
        let begun = streams.begin();
        let range = [Range { start: at, end: at + 4 }].to_vec();
        let (written, read) = if writes { (range, vec![]) } else { (vec![], range) };
        let touched = vec![Touched { buffer: 0, written, read, ..Touched::default() }];
        streams.ended(&begun, Done { name: "k".into(), at: None, touched }).len()
    }

    fn two() -> (Streams, u64, u64) {
        let mut streams = Streams::default();
        let a = streams.order(StreamOrder::Create, &[]);
        let b = streams.order(StreamOrder::Create, &[]);
        (streams, a, b)
    }

    #[test]
    fn two_streams_may_not_touch_what_one_writes() {
        let (mut streams, a, b) = two();
        assert_eq!(act(&mut streams, a, 0, true), 0);
        assert_eq!(act(&mut streams, b, 4, true), 0, "beside it");
        assert_eq!(act(&mut streams, a, 8, true), 0, "the same stream");
        assert_eq!(act(&mut streams, b, 2, false), 1);
        assert_eq!(act(&mut streams, a, 20, false) + act(&mut streams, b, 20, false), 0);
    }

    #[test]
    fn an_event_orders_what_comes_before_it_and_nothing_later() {
        let (mut streams, a, b) = two();
        let e = streams.order(StreamOrder::CreateEvent, &[]);
        act(&mut streams, a, 0, true);
        streams.order(StreamOrder::Record, &[Some(e), Some(a)]);
        act(&mut streams, a, 8, true);
        streams.order(StreamOrder::Wait, &[Some(b), Some(e)]);
        assert_eq!(act(&mut streams, b, 0, false), 0);
        assert_eq!(act(&mut streams, b, 8, false), 1);
    }

    #[test]
    fn the_default_stream_waits_for_all_but_those_apart() {
        let (mut streams, a, b) = two();
        let apart = streams.order(StreamOrder::CreateApart, &[]);
        act(&mut streams, a, 0, true);
        assert_eq!(act(&mut streams, DEFAULT, 0, true), 0);
        assert_eq!(act(&mut streams, b, 0, true), 0);
        assert_eq!(act(&mut streams, apart, 0, false), 3);
    }

    #[test]
    fn a_host_that_waits_orders_and_what_is_not_known_is_no_race() {
        let (mut streams, a, b) = two();
        act(&mut streams, a, 0, true);
        streams.order(StreamOrder::Stream, &[Some(a)]);
        assert_eq!(act(&mut streams, b, 0, true), 0);
        streams.order(StreamOrder::Event, &[None]);
        assert_eq!(act(&mut streams, a, 0, true), 0);
        streams.order(StreamOrder::Into, &[None]);
        assert!(!streams.begin().watched());
        assert_eq!(act(&mut streams, b, 0, true), 0, "all of them come before it");
    }

    #[test]
    fn atomics_of_two_streams_need_no_order() {
        let (mut streams, a, b) = two();
        let mut add = |stream: u64| {
            streams.order(StreamOrder::Into, &[Some(stream)]);
            let begun = streams.begin();
            let touched =
                Touched { atomic: [Range { start: 0, end: 4 }].to_vec(), ..Touched::default() };
            streams.ended(&begun, Done { name: "k".into(), at: None, touched: vec![touched] }).len()
        };
        assert_eq!(add(a) + add(b), 0);
        assert_eq!(act(&mut streams, b, 0, false), 1);
    }
}
