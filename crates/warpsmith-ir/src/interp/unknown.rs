//! Which bytes of an array hold nothing known.

use std::ops::Range;

/// As long as what is known is one range – after a copy, a fill, a loop that begins at either end – only its ends are kept, so
/// that a large array costs no more than a small one; else a mark for each byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    length: usize,
    /// Where there are no marks.
    known: Range<usize>,
    /// `true`: nothing is known. Empty, or one for each byte.
    marks: Vec<bool>,
}

impl Unknown {
    /// Of an array of so many bytes nothing is known.
    pub fn new(length: usize) -> Unknown {
        Unknown { length, ..Unknown::default() }
    }

    /// All of so many bytes are known.
    pub fn none(length: usize) -> Unknown {
        Unknown { length, known: 0..length, marks: vec![] }
    }

    /// Bytes of the array.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the array has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether all bytes of a piece are known; beyond the end there is nothing to be known.
    #[inline]
    pub fn knows(&self, piece: Range<usize>) -> bool {
        match self.marks.is_empty() {
            true => {
                piece.start >= self.known.start && piece.end <= self.known.end
                    || piece.is_empty()
                    || piece.end > self.length
            }
            false => self.marks.get(piece).is_none_or(|part| !any(part)),
        }
    }

    /// The first byte of a piece of which nothing is known, counted from where it begins.
    pub fn first(&self, piece: Range<usize>) -> Option<usize> {
        if self.knows(piece.clone()) {
            return None;
        }
        match self.marks.is_empty() {
            true if self.known.contains(&piece.start) => Some(self.known.end - piece.start),
            true => Some(0),
            false => self.marks[piece].iter().position(|mark| *mark),
        }
    }

    /// Whether nothing is known of any byte.
    pub fn is_all(&self) -> bool {
        match self.marks.is_empty() {
            true => self.known.is_empty() && self.length > 0,
            false => !self.marks.contains(&false),
        }
    }

    /// Whether every byte is known.
    pub fn is_none(&self) -> bool {
        self.knows(0..self.length)
    }

    /// Marks a piece; what lies beyond the end is left out.
    #[inline]
    pub fn mark(&mut self, piece: Range<usize>, unknown: bool) {
        let piece = piece.start..piece.end.min(self.length);
        if piece.is_empty() {
            return;
        }
        if self.marks.is_empty() {
            match extended(&self.known, &piece, unknown) {
                Some(known) => {
                    self.known = known;
                    return;
                }
                None => self.marks = self.to_marks(),
            }
        } else if piece.len() == self.length {
            *self = if unknown { Unknown::new(self.length) } else { Unknown::none(self.length) };
            return;
        }
        self.marks[piece].fill(unknown);
    }

    /// Puts what is known of another array in the place of a piece.
    pub fn put(&mut self, at: usize, piece: &Unknown) {
        match piece.marks.is_empty() {
            true if piece.known.is_empty() => self.mark(at..at + piece.length, true),
            true => {
                let known = &piece.known;
                self.mark(at..at + known.start, true);
                self.mark(at + known.start..at + known.end, false);
                self.mark(at + known.end..at + piece.length, true);
            }
            false => {
                let mut at = at;
                for alike in piece.marks.chunk_by(|a, b| a == b) {
                    self.mark(at..at + alike.len(), alike[0]);
                    at += alike.len();
                }
            }
        }
    }

    /// What is known of a piece, which lies inside.
    pub fn part(&self, piece: Range<usize>) -> Unknown {
        let length = piece.len();
        match self.marks.is_empty() {
            true => {
                let inside = |at: usize| at.clamp(piece.start, piece.end) - piece.start;
                let known = inside(self.known.start)..inside(self.known.end);
                Unknown { length, known, marks: vec![] }
            }
            false => Unknown::from(self.marks[piece].to_vec()),
        }
    }

    /// A mark for each byte.
    pub fn to_marks(&self) -> Vec<bool> {
        self.clone().into_marks()
    }

    /// The same of one that is needed no more.
    pub fn into_marks(self) -> Vec<bool> {
        if !self.marks.is_empty() {
            return self.marks;
        }
        let mut marks = vec![true; self.length];
        marks[self.known].fill(false);
        marks
    }
}

impl From<Vec<bool>> for Unknown {
    fn from(marks: Vec<bool>) -> Unknown {
        Unknown { length: marks.len(), known: 0..0, marks }
    }
}

/// The one range that is known after a piece was marked, if it is one.
#[inline]
fn extended(known: &Range<usize>, piece: &Range<usize>, unknown: bool) -> Option<Range<usize>> {
    let (from, to) = (known.start, known.end);
    match unknown {
        false if from >= to => Some(piece.clone()),
        false if piece.start <= to && piece.end >= from => {
            Some(from.min(piece.start)..to.max(piece.end))
        }
        true if piece.start <= from && piece.end >= to => Some(0..0),
        true if piece.start >= to || piece.end <= from => Some(known.clone()),
        true if piece.start <= from => Some(piece.end..to),
        true if piece.end >= to => Some(from..piece.start),
        _ => None,
    }
}

/// Whether any is true, without a branch for each.
#[inline]
fn any(marks: &[bool]) -> bool {
    marks.iter().fold(false, |any, mark| any | mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn next(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 33) as usize
    }

    fn same(unknown: &Unknown, marks: &[bool], state: &mut u64) {
        assert_eq!(unknown.to_marks(), marks);
        assert_eq!(unknown.is_none(), !marks.contains(&true));
        assert_eq!(unknown.is_all(), !marks.contains(&false));
        for _ in 0..8 {
            let (a, b) = (next(state) % 17, next(state) % 17);
            let piece = a.min(b)..a.max(b);
            let part = &marks[piece.clone()];
            assert_eq!(unknown.knows(piece.clone()), !part.contains(&true), "{piece:?}");
            assert_eq!(unknown.first(piece.clone()), part.iter().position(|m| *m), "{piece:?}");
            assert_eq!(unknown.part(piece.clone()).to_marks(), part, "{piece:?}");
        }
    }

    #[test]
    fn it_is_a_mark_for_each_byte_whatever_is_kept() {
        let mut state = 7;
        for _ in 0..400 {
            let (mut unknown, mut marks) = (Unknown::new(16), vec![true; 16]);
            for _ in 0..12 {
                let (a, b) = (next(&mut state) % 17, next(&mut state) % 17);
                let (from, to) = (a.min(b), a.max(b));
                if next(&mut state).is_multiple_of(4) {
                    let other = Unknown::from(marks[from..to].to_vec());
                    let at = next(&mut state) % (17 - other.len());
                    unknown.put(at, &other);
                    let piece = marks[from..to].to_vec();
                    marks[at..at + piece.len()].copy_from_slice(&piece);
                } else {
                    let mark = next(&mut state).is_multiple_of(3);
                    unknown.mark(from..to, mark);
                    marks[from..to].fill(mark);
                }
                same(&unknown, &marks, &mut state);
            }
        }
    }

    #[test]
    fn arrays_that_are_filled_from_one_end_have_no_marks() {
        let mut unknown = Unknown::new(1 << 40);
        for i in 0..1000 {
            unknown.mark(4 * i..4 * i + 4, false);
        }
        assert!(unknown.knows(0..4000) && !unknown.knows(3999..4001));
        assert_eq!(unknown.first(8..1 << 30), Some(3992));
        unknown.mark(0..1 << 40, false);
        assert!(unknown.is_none() && unknown.marks.is_empty());
    }
}
