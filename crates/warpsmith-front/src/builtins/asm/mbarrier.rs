//! PTX for barriers in shared memory, and for what arrives at them: `mbarrier.…`, `cp.async.mbarrier.arrive`,
//! `cp.async.bulk`. What they do is written in CUDA in `prelude/barriers.cuh`.

use warpsmith_ir::{Diagnostic, Expr, Scalar, Space, Type};

use super::Machine;
use super::memory::address_in;
use super::text::Instruction;

/// Executes the instruction if it is one of these; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    let second = i.words.get(1).map_or("", String::as_str);
    match (i.name(), second) {
        ("mbarrier", "init") => {
            let [at, count] = i.operands.as_slice() else { return Err(m.unsupported()) };
            act(m, i, "ptxMbarrierInit", at, &[count])?;
        }
        // The word is memory like any other again.
        ("mbarrier", "inval") => {}
        ("mbarrier", "arrive") => arrive(m, i, 0)?,
        ("mbarrier", "arrive_drop") => arrive(m, i, 1)?,
        ("mbarrier", "expect_tx" | "complete_tx") => {
            let [at, bytes] = i.operands.as_slice() else { return Err(m.unsupported()) };
            let expects = second == "expect_tx";
            let name = if expects { "ptxMbarrierExpect" } else { "ptxMbarrierComplete" };
            act(m, i, name, at, &[bytes])?;
        }
        ("mbarrier", "test_wait" | "try_wait") => test(m, i)?,
        ("mbarrier", WAIT) => wait(m, i)?,
        ("mbarrier", "pending_count") => {
            let [to, token] = i.operands.as_slice() else { return Err(m.unsupported()) };
            let token = m.operand(token, Scalar::U64)?;
            let count = m.call("ptxMbarrierPending", vec![token])?;
            give(m, to, count)?;
        }
        ("cp", "async") if i.has("mbarrier") => copies_arrive(m, i)?,
        ("cp", "async") if i.has("bulk") => bulk(m, i)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The word that stands for a loop around a test, see [`with_waits`].
const WAIT: &str = "wait";

/// PTX waits by a loop around `test_wait` or `try_wait`, the only loops that are understood. Each becomes one instruction.
///
/// ```text
/// L: mbarrier.try_wait… p, [a], x;  @p bra D;  bra L;  D:
/// L: mbarrier.try_wait… p, [a], x;  @!p bra L;
/// ```
pub fn with_waits(list: Vec<Instruction>) -> Vec<Instruction> {
    let mut out = vec![];
    let mut rest = list.as_slice();
    while let Some(first) = rest.first() {
        match waiting(rest) {
            Some((wait, length)) => {
                out.push(wait);
                rest = &rest[length..];
            }
            None => {
                out.push(first.clone());
                rest = &rest[1..];
            }
        }
    }
    out
}

/// The loop that the list begins with, as an instruction, and its length.
fn waiting(list: &[Instruction]) -> Option<(Instruction, usize)> {
    let start = list.first()?.as_label()?;
    let test = list.get(1)?;
    let tests = test.name() == "mbarrier" && (test.has("try_wait") || test.has("test_wait"));
    let predicate = test.operands.first()?;
    let jump = |i: &Instruction, negated: bool| {
        let by = i.guard.as_ref().is_some_and(|(p, not)| p == predicate && *not == negated);
        (i.name() == "bra" && by).then(|| i.operands.first().cloned()).flatten()
    };
    let third = list.get(2)?;
    let length = if jump(third, true).as_deref() == Some(start) {
        3
    } else {
        let done = jump(third, false)?;
        let back = list.get(3)?;
        let returns = back.name() == "bra"
            && back.guard.is_none()
            && back.operands.first().map(String::as_str) == Some(start);
        let leaves = list.get(4)?.as_label() == Some(done.as_str());
        if !returns || !leaves {
            return None;
        }
        5
    };
    if !tests || test.guard.is_some() {
        return None;
    }
    let mut wait = test.clone();
    wait.words = ["mbarrier", WAIT].map(String::from).to_vec();
    wait.words.extend(test.words.iter().skip(2).cloned());
    Some((wait, length))
}

/// The word of a barrier that `[a]` names.
fn word(m: &mut Machine<'_>, i: &Instruction, at: &str) -> Result<Expr, Diagnostic> {
    let pointer = address_in(m, at, i, Space::Shared, Type::U64)?;
    Ok(pointer.cast(Type::pointer(Type::U64, Space::Generic)))
}

/// Calls what stands in for an instruction on a barrier, with further operands of 32 bits.
fn act(
    m: &mut Machine<'_>,
    i: &Instruction,
    name: &str,
    at: &str,
    operands: &[&String],
) -> Result<Option<Expr>, Diagnostic> {
    let word = word(m, i, at)?;
    let operands: Result<Vec<Expr>, _> =
        operands.iter().map(|o| m.operand(o, Scalar::U32)).collect();
    let mut args = vec![m.predicate(), word];
    args.extend(operands?);
    m.call(name, args)
}

fn give(m: &mut Machine<'_>, to: &str, value: Option<Expr>) -> Result<(), Diagnostic> {
    match value {
        Some(value) => {
            m.write(to, value);
            Ok(())
        }
        None => Err(m.unsupported()),
    }
}

/// `mbarrier.arrive{.expect_tx}{.sem}{.scope}.shared.b64 {token,} [a] {, count or bytes}`.
fn arrive(m: &mut Machine<'_>, i: &Instruction, drop: u32) -> Result<(), Diagnostic> {
    let (to, rest) = match i.operands.split_first() {
        Some((first, _)) if first.starts_with('[') => (None, i.operands.as_slice()),
        Some((first, rest)) => (Some(first), rest),
        None => return Err(m.unsupported()),
    };
    let (at, more) = match rest {
        [at] => (at, "1".to_string()),
        [at, more] => (at, more.clone()),
        _ => return Err(m.unsupported()),
    };
    let bytes = i.has("expect_tx");
    if bytes && rest.len() == 1 {
        return Err(m.unsupported());
    }
    let drops = match (bytes, drop) {
        // As many as arrive.
        (false, 1) => more.clone(),
        (_, n) => n.to_string(),
    };
    let name = if bytes { "ptxMbarrierArriveExpecting" } else { "ptxMbarrierArrive" };
    let token = act(m, i, name, at, &[&more, &drops])?;
    match to {
        Some(to) => give(m, to, token),
        None => Ok(()),
    }
}

/// What a test asks: a token of 64 bits, or the parity of a phase.
fn question(m: &mut Machine<'_>, i: &Instruction) -> Result<(Expr, Expr, bool), Diagnostic> {
    let ([_, at, what] | [_, at, what, _]) = i.operands.as_slice() else {
        return Err(m.unsupported());
    };
    let word = word(m, i, at)?;
    let parity = i.has("parity");
    let what = m.operand(what, if parity { Scalar::U32 } else { Scalar::U64 })?;
    Ok((word, what, parity))
}

fn test(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (word, what, parity) = question(m, i)?;
    let name = if parity { "ptxMbarrierTestParity" } else { "ptxMbarrierTest" };
    let on = m.predicate();
    let done = m.call(name, vec![on, word, what])?;
    give(m, &i.operands[0], done)
}

fn wait(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let (word, what, parity) = question(m, i)?;
    let name = if parity { "ptxMbarrierWaitParity" } else { "ptxMbarrierWait" };
    m.call(name, vec![super::bool_value(true), word, what])?;
    m.write(&i.operands[0], super::bool_value(true));
    Ok(())
}

/// `cp.async.mbarrier.arrive{.noinc}.shared.b64 [a]`.
fn copies_arrive(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let [at] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let more = if i.has("noinc") { "0" } else { "1" }.to_string();
    act(m, i, "ptxMbarrierArriveOfCopies", at, &[&more])?;
    Ok(())
}

/// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [a]`, and from shared to
/// global memory in groups.
fn bulk(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    if i.has("tensor") || i.has("prefetch") || i.has("multicast::cluster") {
        return Err(m.unsupported());
    }
    // Copies of groups have landed when they are issued.
    if i.has("commit_group") || i.has("wait_group") {
        return Ok(());
    }
    let counted = i.has("mbarrier::complete_tx::bytes");
    let spaces = match counted {
        true => (Space::Shared, Space::Global),
        false => (Space::Global, Space::Shared),
    };
    let (to, from, bytes, at) = match i.operands.as_slice() {
        [to, from, bytes, at] | [to, from, bytes, at, _] if counted => (to, from, bytes, Some(at)),
        [to, from, bytes] | [to, from, bytes, _] if !counted => (to, from, bytes, None),
        _ => return Err(m.unsupported()),
    };
    let void = || Type::pointer(Type::Void, Space::Generic);
    let to = address_in(m, to, i, spaces.0, Type::Scalar(Scalar::U8))?.cast(void());
    let from = address_in(m, from, i, spaces.1, Type::Scalar(Scalar::U8))?.cast(void());
    let bytes = m.operand(bytes, Scalar::U32)?;
    let word = at.map(|at| word(m, i, at)).transpose()?;
    let mut args = vec![m.predicate(), to, from, bytes];
    let name = if word.is_some() { "ptxCopyBulkCounted" } else { "ptxCopyBulk" };
    args.extend(word);
    m.call(name, args)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::text::instructions;
    use super::*;

    fn names(template: &str) -> Vec<String> {
        with_waits(instructions(template)).iter().map(|i| i.words.join(".")).collect()
    }

    #[test]
    fn loops_that_wait_are_one_instruction() {
        let long = "{ .reg .pred P1; LAB: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; \
                    @P1 bra DONE; bra LAB; DONE: }";
        assert_eq!(names(long), [".reg", "mbarrier.wait.parity.shared::cta.b64"]);
        let short = "L: mbarrier.test_wait.shared.b64 p, [%0], %1; @!p bra L;";
        assert_eq!(names(short), ["mbarrier.wait.shared.b64"]);
        // Another label, another predicate: no such loop.
        let other = "L: mbarrier.test_wait.shared.b64 p, [%0], %1; @!q bra L;";
        assert_eq!(names(other).len(), 3);
    }
}
