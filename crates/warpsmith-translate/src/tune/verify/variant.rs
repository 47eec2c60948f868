//! The ways in which one size is run: as it comes, with few blocks, as one of those that are too large to be run, with arrays that begin at
//! odd addresses.

use super::witness::Witness;

/// How the emitted text is run at a size.
#[derive(Clone, Copy, Debug)]
pub enum Variant<'a> {
    /// As it is, with arrays as an allocation gives them.
    Plain,
    /// With lower limits on the number of blocks: this many along an axis.
    FewBlocks(&'a Witness, u32),
    /// With lower limits on sizes, beyond which the launcher goes another way: this much.
    FewSizes(&'a Witness, u32),
    /// With each array one element behind an aligned address: vectors cannot be taken.
    Unaligned,
}

impl<'a> Variant<'a> {
    /// The text that is run.
    pub fn text(self, plain: &'a Witness) -> &'a Witness {
        match self {
            Variant::FewBlocks(lowered, _) | Variant::FewSizes(lowered, _) => lowered,
            Variant::Plain | Variant::Unaligned => plain,
        }
    }

    pub fn is_unaligned(self) -> bool {
        matches!(self, Variant::Unaligned)
    }

    /// A run's name in reports.
    pub fn name(self, point: &str) -> String {
        match self {
            Variant::Plain => point.to_string(),
            Variant::FewBlocks(_, 1) => format!("{point}, with one block"),
            Variant::FewBlocks(_, most) => format!("{point}, with at most {most} blocks"),
            Variant::FewSizes(_, most) => {
                format!("{point}, with limits on sizes lowered to {most}")
            }
            Variant::Unaligned => format!("{point}, with arrays at odd addresses"),
        }
    }
}
