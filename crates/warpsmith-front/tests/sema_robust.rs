//! Damaged sources give diagnostics, never a panic, and never IR that the verifier refuses.

mod sema_support;

use std::path::Path;

/// A small generator of reproducible numbers (Knuth's constants for 64 bits).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Words and signs of a source, blanks kept with what follows.
fn tokens(text: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for c in text.chars() {
        let joins = all.last().is_some_and(|t| {
            let last = t.chars().next_back().unwrap_or(' ');
            (c.is_alphanumeric() || c == '_') && (last.is_alphanumeric() || last == '_')
                || c == ' ' && last == ' '
        });
        match all.last_mut() {
            Some(last) if joins => last.push(c),
            _ => all.push(c.to_string()),
        }
    }
    all
}

/// The source with a few tokens dropped, doubled, swapped or replaced by another of the file.
fn damaged(text: &str, numbers: &mut Numbers) -> String {
    let mut list = tokens(text);
    for _ in 0..1 + numbers.below(3) {
        let at = numbers.below(list.len());
        let other = numbers.below(list.len());
        match numbers.below(4) {
            0 => {
                list.remove(at);
            }
            1 => list.insert(at, list[at].clone()),
            2 => list.swap(at, other),
            _ => list[at] = list[other].clone(),
        }
    }
    list.concat()
}

#[test]
fn damaged_kernels_never_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/correct");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus").flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut numbers = Numbers(20261121);
    let mut refused = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        for _ in 0..6 {
            let broken = damaged(&text, &mut numbers);
            match sema_support::lower_file("test.cu", &broken) {
                Err(e) if e.starts_with("VERIFIER") => panic!("{e}\n{broken}"),
                Err(_) => refused += 1,
                Ok(_) => {}
            }
        }
    }
    assert!(refused > 100, "only {refused} were refused: the damage does nothing");
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let deep = |open: &str, close: &str, n: usize| {
        format!("__global__ void k(int *o) {{ o[0] = {}1{}; }}", open.repeat(n), close.repeat(n))
    };
    for text in [deep("(", ")", 3000), deep("-(", ")", 3000), deep("o[", "]", 2000)] {
        // Either is fine; what matters is that it comes back.
        let _ = sema_support::lower_file("test.cu", &text);
    }
    let sum = format!("__global__ void k(int *o) {{ o[0] = {}1; }}", "1 + ".repeat(3000));
    let _ = sema_support::lower_file("test.cu", &sum);
}
