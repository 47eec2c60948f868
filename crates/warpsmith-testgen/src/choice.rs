//! Choices drawn from a byte string.

use arbitrary::Unstructured;

/// A source of choices; when the bytes run out every choice is the first one, so generation ends.
pub struct Choice<'a> {
    bytes: Unstructured<'a>,
}

impl<'a> Choice<'a> {
    pub fn new(bytes: &'a [u8]) -> Choice<'a> {
        Choice { bytes: Unstructured::new(bytes) }
    }

    /// A number below `n`; 0 when `n` is 0 or nothing is left.
    pub fn below(&mut self, n: usize) -> usize {
        if n < 2 { 0 } else { self.bytes.int_in_range(0..=n - 1).unwrap_or(0) }
    }

    /// True with probability `percent` / 100; false when nothing is left.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) > 99 - percent.min(99)
    }

    /// One of the items.
    pub fn pick<'b, T: ?Sized>(&mut self, items: &[&'b T]) -> &'b T {
        items[self.below(items.len())]
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
