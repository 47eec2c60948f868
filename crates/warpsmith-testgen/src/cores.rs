//! Cases of one test side by side: a test alone would leave all cores but one idle.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does the same with each case, on as many cores as there are; results come in the order of the cases.
///
/// # Panics
/// Where one of them does.
pub fn on_all_cores<T: Sync, R: Send>(cases: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let worker = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(k) else { break };
            let result = one(case);
            done.lock().expect("no worker panics with this lock").push((k, result));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores.min(cases.len())).for_each(|_| _ = scope.spawn(worker)));
    let mut done = done.into_inner().expect("no worker panics with this lock");
    done.sort_unstable_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;

    #[test]
    fn results_come_in_order() {
        let cases: Vec<u32> = (0..100).collect();
        assert_eq!(on_all_cores(&cases, |n| n + 1), (1..101).collect::<Vec<_>>());
        assert!(on_all_cores(&[], |n: &u32| *n).is_empty());
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_case_that_panics_is_not_passed_over() {
        on_all_cores(&[1, 2], |n| assert_ne!(*n, 2));
    }
}
