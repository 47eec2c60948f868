//! Which registers hold the same value in all threads that execute an instruction together.
//!
//! A group of threads runs with one program counter; a *uniform* register is kept once for the
//! group. A register is varying if a varying operand or a per-thread source enters it, or if it is
//! assigned in a part of the program that some threads of its home region skip or leave early.

use warpsmith_ir::Space;

use super::lir::*;
use super::lower::Lower;

/// For each virtual register: uniform.
pub(super) fn find(l: &mut Lower<'_>) -> Vec<bool> {
    let mut varying = vec![false; l.registers.len()];
    let private = l.out.local_bytes > 0;
    let code = &l.code;
    loop {
        let divergent = divergent_regions(&l.out.regions, &varying);
        let mut changed = false;
        for ins in code {
            let mut op = ins.op.clone();
            let mut mixed = source_varies(&op, &l.out.accesses, &l.out.objects, private);
            let mut defs = [u32::MAX; 4];
            let mut n = 0;
            op.operands(&mut l.out.accesses, &mut |o, role| {
                let Opd::R(r) = *o else { return };
                match role {
                    Role::Use => mixed |= varying[r as usize],
                    Role::Def if n < 4 => {
                        defs[n] = r;
                        n += 1;
                    }
                    Role::Def => {}
                }
            });
            for &r in &defs[..n] {
                let home = l.registers[r as usize].region;
                if !varying[r as usize]
                    && (mixed || skipped(&l.out.regions, &divergent, ins.region, home))
                {
                    varying[r as usize] = true;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    mark_polling(l);
    varying.iter().map(|v| !v).collect()
}

/// The instruction gives each thread its own value whatever its operands are.
fn source_varies(op: &Op, accesses: &[Access], objects: &[Object], private: bool) -> bool {
    match op {
        Op::Special { what, .. } => {
            !matches!(what, Special::BlockIdx(_) | Special::Clock | Special::ClusterOffset)
        }
        Op::Load { access } => {
            let a = &accesses[*access as usize];
            let known = match a.base {
                Opd::K(p) => {
                    let home = objects.get(super::split_pointer(p).0 as usize).map(|o| o.home);
                    !matches!(home, Some(Home::Local { .. }))
                }
                _ => matches!(a.space, Space::Global | Space::Shared | Space::Constant),
            };
            // Through an unknown pointer a thread may read its own local memory.
            a.space == Space::Local || !known && (private || matches!(a.base, Opd::K(_)))
        }
        Op::Atomic { .. } | Op::Warp { .. } | Op::Barrier { .. } | Op::HeapAllocate { .. } => true,
        _ => false,
    }
}

/// Regions that threads may enter, or leave, one without the other.
fn divergent_regions(regions: &[Region], varying: &[bool]) -> Vec<bool> {
    let mut divergent: Vec<bool> = regions
        .iter()
        .map(|r| r.conditions.iter().any(|c| matches!(c, Opd::R(v) if varying[*v as usize])))
        .collect();
    loop {
        let mut changed = false;
        for (i, r) in regions.iter().enumerate() {
            if divergent[i] {
                continue;
            }
            let early = r
                .escapes
                .iter()
                .any(|&from| from != i as u32 && skipped(regions, &divergent, from, i as u32));
            if early {
                divergent[i] = true;
                changed = true;
            }
        }
        if !changed {
            return divergent;
        }
    }
}

/// A divergent region lies between `home` (excluded) and `at` (included).
fn skipped(regions: &[Region], divergent: &[bool], at: RegionId, home: RegionId) -> bool {
    let mut found = false;
    let mut r = at;
    while r != home {
        found |= divergent[r as usize];
        if r == 0 {
            // `home` is inside of `at`: nothing lies between.
            return false;
        }
        r = regions[r as usize].parent;
    }
    found
}

/// Volatile loads whose value decides a branch wait for another thread.
fn mark_polling(l: &mut Lower<'_>) {
    let mut decides = vec![false; l.registers.len()];
    loop {
        let mut changed = false;
        for ins in l.code.iter().rev() {
            let mut op = ins.op.clone();
            let is_branch = matches!(op, Op::BranchFalse { .. } | Op::BranchTrue { .. });
            if !is_branch && !op.is_pure() {
                continue;
            }
            let mut uses = vec![];
            let mut wanted = is_branch;
            op.operands(&mut l.out.accesses, &mut |o, role| {
                let Opd::R(r) = *o else { return };
                match role {
                    Role::Use => uses.push(r),
                    Role::Def => wanted |= decides[r as usize],
                }
            });
            if wanted {
                for r in uses {
                    changed |= !std::mem::replace(&mut decides[r as usize], true);
                }
            }
        }
        if !changed {
            break;
        }
    }
    for ins in &l.code {
        if let Op::Load { access } = ins.op {
            let a = &mut l.out.accesses[access as usize];
            let waits = a.values.iter().any(|v| matches!(v, Opd::R(r) if decides[*r as usize]));
            a.polling = a.volatile && waits;
        }
    }
}
