//! Shared memory that other blocks of the cluster reach: one object for each block and array, those of an array in a row.

use warpsmith_ir::{BinaryOp, ExprKind, FuncId, MathFn, Module, Scalar, Type};

use super::lir::{Home, Opd, Special};
use super::lower::{Lower, Result};
use super::places::OFFSET_BITS;
use super::{reachable, walk};

/// Whether a kernel asks for shared memory of another block.
pub fn reaches(module: &Module, kernel: FuncId) -> bool {
    reachable(module, kernel).into_iter().any(|id| {
        let mut found = false;
        walk::block(&module.function(id).body, &mut |n| {
            if let walk::Node::Expr(e) = n {
                let asks = |f: &MathFn| matches!(f, MathFn::MapShared | MathFn::SharedRank);
                found |= matches!(&*e.kind, ExprKind::Call(f, _) if asks(f));
            }
        });
        found
    })
}

impl Lower<'_> {
    fn cluster_blocks(&self) -> u32 {
        self.out.cluster.iter().product()
    }

    /// An array in shared memory.
    pub fn shared_object(&mut self, name: &str, ty: &Type, home: Home) -> u64 {
        let (Home::Shared { base, size }, true) = (home, self.out.reaches_clusters) else {
            return self.object(name, ty, home);
        };
        let of = |rank| Home::Cluster { rank, base, size };
        let first = self.object(name, ty, of(0));
        (1..self.cluster_blocks()).for_each(|rank| {
            self.object(name, ty, of(rank));
        });
        first
    }

    /// The block's own part of an array, by the pointer to that of the first block.
    pub fn own_shared(&mut self, first: u64) -> Result<Opd> {
        let own = self.special(Special::ClusterOffset, Scalar::U64)?;
        self.bin(BinaryOp::Add, Scalar::U64, Opd::K(first), own)
    }

    /// The pointer in the block of that rank, or the rank of the pointer's block; null, or 0, for what is no shared memory.
    pub fn in_cluster(&mut self, pointer: Opd, rank: Option<Opd>) -> Result<Opd> {
        use BinaryOp::{Add, BitAnd, Lt, Rem, Shl, Shr, Sub};
        let u64_ = Scalar::U64;
        let of_cluster = |o: &super::lir::Object| matches!(o.home, Home::Cluster { .. });
        let first = self.out.objects.iter().position(of_cluster).unwrap_or(0) as u64;
        let count = self.out.objects.iter().filter(|o| of_cluster(o)).count() as u64;
        let blocks = Opd::K(self.cluster_blocks().into());
        let bits = Opd::K(OFFSET_BITS.into());
        let handle = self.bin(Shr, u64_, pointer, bits)?;
        let number = self.bin(Sub, u64_, handle, Opd::K(first))?;
        let known = self.bin(Lt, u64_, number, Opd::K(count))?;
        let own = self.bin(Rem, u64_, number, blocks)?;
        let Some(rank) = rank else {
            return self.select(u64_, known, own, Opd::K(0));
        };
        let there = self.bin(Lt, u64_, rank, blocks)?;
        let valid = self.bin(BitAnd, Scalar::Bool, known, there)?;
        let by = self.bin(Sub, u64_, rank, own)?;
        let by = self.bin(Shl, u64_, by, bits)?;
        let mapped = self.bin(Add, u64_, pointer, by)?;
        self.select(u64_, valid, mapped, Opd::K(0))
    }
}
