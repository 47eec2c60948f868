//! From places in the text that the grammar reads back to places in the user's files.

use std::collections::BTreeMap;

use warpsmith_ir::{FileId, Span};

/// One token of the text the grammar reads.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub start: u32,
    pub end: u32,
    pub span: Span,
}

/// The tokens of that text in order.
#[derive(Clone, Debug, Default)]
pub struct TextMap {
    segments: Vec<Segment>,
}

impl TextMap {
    pub fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Moves everything `by` bytes on, for text put in front.
    pub fn shift(&mut self, by: u32) {
        for segment in &mut self.segments {
            segment.start += by;
            segment.end += by;
        }
    }

    /// Puts the segments of a text that comes before this one in front.
    pub fn prepend(&mut self, mut front: Vec<Segment>) {
        front.append(&mut self.segments);
        self.segments = front;
    }

    /// The user's text of a byte range; an empty place after the token before it when the range
    /// holds no token.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let first = self.segments.partition_point(|s| s.end as usize <= start);
        let last = self.segments.partition_point(|s| (s.start as usize) < end);
        if first < last {
            return self.segments[first].span.to(self.segments[last - 1].span);
        }
        match first.checked_sub(1).and_then(|i| self.segments.get(i)) {
            Some(before) => Span { start: before.span.end, ..before.span },
            None => Span { file: FileId(0), start: 0, end: 0 },
        }
    }

    /// Where the last token that ends at or before `at` ends; 0 when there is none.
    pub fn end_before(&self, at: usize) -> usize {
        let next = self.segments.partition_point(|s| (s.end as usize) <= at);
        next.checked_sub(1).map_or(0, |i| self.segments[i].end as usize)
    }

    /// The tokens that overlap a byte range.
    pub fn within(&self, start: usize, end: usize) -> &[Segment] {
        let first = self.segments.partition_point(|s| s.end as usize <= start);
        let last = self.segments.partition_point(|s| (s.start as usize) < end);
        self.segments.get(first..last).unwrap_or(&[])
    }
}

/// For text out of macros: from the place of the use to where the text is spelled.
#[derive(Clone, Debug, Default)]
pub struct Expansions {
    chains: BTreeMap<Span, Vec<Span>>,
}

impl Expansions {
    /// Notes that the macro used at `place` brought a token spelled at `spelled`.
    pub fn add(&mut self, place: Span, spelled: Span) {
        let chain = self.chains.entry(place).or_insert_with(|| vec![place]);
        let room = chain.len() < 64;
        match chain.last_mut() {
            // Tokens of one line of a definition become one span.
            Some(last)
                if *last != place
                    && last.file == spelled.file
                    && last.end <= spelled.start
                    && spelled.start - last.end <= 2 =>
            {
                last.end = spelled.end;
            }
            _ if room => chain.push(spelled),
            _ => {}
        }
    }

    /// The use of the macro, then the stretches of text it brought; empty for text as written.
    pub fn chain(&self, place: Span) -> &[Span] {
        self.chains.get(&place).map_or(&[], Vec::as_slice)
    }

    /// True when a span touches the use of a macro, so that editing it needs care.
    pub fn touches(&self, span: Span) -> bool {
        self.chains
            .range(..=Span { start: span.end, end: u32::MAX, ..span })
            .rev()
            .take_while(|(place, _)| place.file == span.file)
            .any(|(place, _)| place.start < span.end && span.start < place.end)
    }

    /// No macro was expanded.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}
