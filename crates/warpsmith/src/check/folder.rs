//! The files of a folder, on all cores.
//!
//! Each is checked by itself; what they add is put together in their order, so that the report is the same whoever checked what.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpsmith_front::prelude;
use warpsmith_ir::SourceMap;

use super::linked;
use super::parts::Part;
use super::runner::Runner;
use super::shown;
use crate::progress::Progress;

/// Deep nesting is recursion, as on a main thread.
const STACK: usize = 64 << 20;

/// What a worker made of a file: the worker, and what the file adds.
type Checked = (usize, Part);

/// Whether files may be checked beside each other: nothing that one uses up is missed by the next.
pub(super) fn independent(runner: &Runner<'_>, files: &[(PathBuf, bool)]) -> bool {
    files.len() > 1
        && files.iter().all(|(_, in_folder)| *in_folder)
        && runner.args.max_total_steps.is_none()
        && workers(runner.args.jobs, files.len()) > 1
}

fn workers(jobs: usize, files: usize) -> usize {
    let cores = match jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    cores.min(files)
}

/// Checks all files and adds what they add.
pub(super) fn check(runner: &mut Runner<'_>, files: &[(PathBuf, bool)], sources: &mut SourceMap) {
    let progress = Mutex::new(Progress::new("checking", files.len()));
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Checked>>> = files.iter().map(|_| Mutex::new(None)).collect();
    let (args, deadline) = (runner.args, runner.deadline);
    let work = &|worker: usize| {
        let mut own = SourceMap::new();
        let prelude = Rc::new(prelude::unit(&mut own));
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some((file, _)), Some(result)) = (files.get(at), results.get(at)) else {
                return own;
            };
            if let Ok(mut progress) = progress.lock() {
                progress.step(&shown(file));
            }
            let mut one = Runner::new(args);
            one.deadline = deadline;
            one.prelude = Some(prelude.clone());
            if let Err(failure) = one.file(file, true, &mut own) {
                one.unreadable(file, failure);
            }
            if let Ok(mut result) = result.lock() {
                *result = Some((worker, one.into_part()));
            }
        }
    };
    let maps: Vec<SourceMap> = std::thread::scope(|scope| {
        let start = |worker| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, move || work(worker)).ok()
        };
        let threads: Vec<_> = (0..workers(args.jobs, files.len())).map(start).collect();
        let join =
            |t: Option<std::thread::ScopedJoinHandle<'_, SourceMap>>| match t.map(|t| t.join()) {
                Some(Ok(map)) => map,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => SourceMap::new(),
            };
        threads.into_iter().map(join).collect()
    });
    let mut firsts = vec![];
    for map in &maps {
        firsts.push(sources.files().count() as u32);
        for (_, file) in map.files() {
            sources.add(file.path.clone(), file.text.clone());
        }
    }
    for ((file, _), result) in files.iter().zip(results) {
        let Ok(Some((worker, part))) = result.into_inner() else {
            runner.lost.push(format!("{}: not checked: no thread could be started", shown(file)));
            continue;
        };
        // What is a part of a program that was checked is not checked again by itself.
        if !runner.programs.iter().any(|p| linked::same(p, file)) {
            runner.absorb(part, firsts[worker]);
        }
    }
}
