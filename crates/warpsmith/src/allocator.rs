//! The command's allocator.
//!
//! Trees of programs are made and dropped by the thousand, on all cores: what is small comes from mimalloc, which spends a
//! third less on it than the C library. What is large – arrays of a kernel that is emulated – comes from the system, which
//! maps it, lets it grow in place, and has it back at once.

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc;

/// Bytes from which on the system is asked.
const LARGE: usize = 1 << 20;

/// For a program to install by `#[global_allocator]`; the library does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

fn is_small(bytes: usize) -> bool {
    bytes < LARGE
}

// SAFETY: a block belongs to the allocator that its size says, from when it is made until it is freed; where a change of size
// would change that, it is copied into a new one. Everything else is the caller's promise, handed on.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        match is_small(layout.size()) {
            true => unsafe { MiMalloc.alloc(layout) },
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        match is_small(layout.size()) {
            true => unsafe { MiMalloc.alloc_zeroed(layout) },
            false => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: a block of this size came from there.
        match is_small(layout.size()) {
            true => unsafe { MiMalloc.dealloc(block, layout) },
            false => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: it came from there and stays there, or is copied as far as both blocks reach, which are different ones.
        match (is_small(layout.size()), is_small(bytes)) {
            (true, true) => unsafe { MiMalloc.realloc(block, layout, bytes) },
            (false, false) => unsafe { System.realloc(block, layout, bytes) },
            _ => unsafe {
                let new = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
                if !new.is_null() {
                    block.copy_to_nonoverlapping(new, layout.size().min(bytes));
                    self.dealloc(block, layout);
                }
                new
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_its_bytes_across_the_border() {
        let all = |bytes: usize| Layout::from_size_align(bytes, 16).unwrap();
        // SAFETY: sizes are those of the blocks, and what is read was written.
        unsafe {
            let small = Allocator.alloc_zeroed(all(64));
            *small = 7;
            let large = Allocator.realloc(small, all(64), 2 * LARGE);
            assert_eq!((*large, *large.add(63)), (7, 0));
            let larger = Allocator.realloc(large, all(2 * LARGE), 4 * LARGE);
            *larger.add(4 * LARGE - 1) = 9;
            let small = Allocator.realloc(larger, all(4 * LARGE), 32);
            assert_eq!(*small, 7);
            Allocator.dealloc(small, all(32));
            let zeros = Allocator.alloc_zeroed(all(LARGE));
            assert_eq!(*zeros.add(LARGE - 1), 0);
            Allocator.dealloc(zeros, all(LARGE));
        }
    }
}
