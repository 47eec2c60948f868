//! Values that are copied: what is known of them is from which element they come.

use super::formula::{Renamed, Truth};
use super::poly::Poly;

/// An array of global memory, or one that a block shares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// A parameter or variable of the kernel by its number.
    Variable(u32),
    /// A variable of the module.
    Global(u32),
    /// What a pointer in a parameter leads to, `grid.data`: one that is a structure, or leads to one.
    Member(String),
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// An element of global memory that the kernel does not change.
    Load(Array, Poly),
    /// An element of global memory that the kernel changes.
    Changing(Array, Poly),
    /// An element of a shared array of the rewritten kernel.
    Shared(Array, Poly),
    Whole(Poly),
    Constant(u64),
    /// A value of one thread that is not looked into.
    Own(u32),
    Apply(String, Vec<Tree>),
    Choose(Truth, Box<Tree>, Box<Tree>),
}

/// The operation that makes a vector or structure of its parts.
pub const MAKE: &str = "make ";
/// The operation that gives a part of a parameter which is no whole number.
pub const PARAMETER: &str = "parameter ";

impl Tree {
    /// A part of a vector or structure.
    pub fn part(self, n: usize) -> Tree {
        match self {
            Tree::Apply(op, parts) if op.starts_with(MAKE) && n < parts.len() => parts[n].clone(),
            Tree::Choose(c, a, b) => Tree::choose(&c, a.part(n), b.part(n)),
            other => Tree::Apply(format!("part {n}"), vec![other]),
        }
    }

    pub fn choose(condition: &Truth, yes: Tree, no: Tree) -> Tree {
        match condition {
            Truth::Always => yes,
            Truth::Never => no,
            _ if yes == no => yes,
            _ => Tree::Choose(condition.clone(), Box::new(yes), Box::new(no)),
        }
    }

    pub fn size(&self) -> usize {
        match self {
            Tree::Apply(_, parts) => 1 + parts.iter().map(Tree::size).sum::<usize>(),
            Tree::Choose(_, a, b) => 1 + a.size() + b.size(),
            _ => 1,
        }
    }

    /// Calls `see` with every part.
    pub fn each(&self, see: &mut dyn FnMut(&Tree)) {
        see(self);
        match self {
            Tree::Apply(_, parts) => parts.iter().for_each(|p| p.each(see)),
            Tree::Choose(_, a, b) => {
                a.each(see);
                b.each(see);
            }
            _ => {}
        }
    }

    pub fn renamed(&self, by: Renamed<'_>) -> Tree {
        match self {
            Tree::Load(a, at) => Tree::Load(a.clone(), at.renamed(by)),
            Tree::Changing(a, at) => Tree::Changing(a.clone(), at.renamed(by)),
            Tree::Shared(a, at) => Tree::Shared(a.clone(), at.renamed(by)),
            Tree::Whole(poly) => Tree::Whole(poly.renamed(by)),
            Tree::Constant(_) | Tree::Own(_) => self.clone(),
            Tree::Apply(op, parts) => {
                Tree::Apply(op.clone(), parts.iter().map(|p| p.renamed(by)).collect())
            }
            Tree::Choose(c, a, b) => Tree::choose(&c.renamed(by), a.renamed(by), b.renamed(by)),
        }
    }

    /// The tree with values of one thread in the place of others.
    pub fn with_own(&self, by: &mut dyn FnMut(u32) -> Option<Tree>) -> Tree {
        match self {
            Tree::Own(id) => by(*id).unwrap_or_else(|| self.clone()),
            Tree::Apply(op, parts) => {
                Tree::Apply(op.clone(), parts.iter().map(|p| p.with_own(by)).collect())
            }
            Tree::Choose(c, a, b) => Tree::choose(c, a.with_own(by), b.with_own(by)),
            _ => self.clone(),
        }
    }

    /// Calls `see` with every name.
    pub fn names(&self, see: &mut dyn FnMut(&str)) {
        self.each(&mut |t| match t {
            Tree::Load(_, at) | Tree::Changing(_, at) | Tree::Shared(_, at) | Tree::Whole(at) => {
                at.names(see);
            }
            Tree::Choose(c, ..) => c.names(see),
            _ => {}
        });
    }

    /// Calls `see` with every element of global memory that it is made from, and when it is.
    pub fn loads(&self, when: &Truth, see: &mut dyn FnMut(&Array, &Poly, &Truth)) {
        match self {
            Tree::Load(a, at) | Tree::Changing(a, at) => see(a, at, when),
            Tree::Apply(_, parts) => parts.iter().for_each(|p| p.loads(when, see)),
            Tree::Choose(c, a, b) => {
                a.loads(&when.and(c), see);
                b.loads(&when.and(&c.negated()), see);
            }
            _ => {}
        }
    }

    /// What is enough for two values to be the same.
    pub fn equal(&self, other: &Tree, moments: Moments) -> Truth {
        let both = |c: &Truth, yes: Truth, no: Truth| c.negated().or(&yes).and(&c.or(&no));
        match (self, other) {
            (Tree::Choose(c, a, b), _) => both(c, a.equal(other, moments), b.equal(other, moments)),
            (_, Tree::Choose(c, a, b)) => both(c, self.equal(a, moments), self.equal(b, moments)),
            (Tree::Load(a, i), Tree::Load(b, j)) if a == b => i.equal(j),
            (Tree::Changing(a, i), Tree::Changing(b, j)) if a == b && moments == Moments::One => {
                i.equal(j)
            }
            (Tree::Whole(a), Tree::Whole(b)) => a.equal(b),
            (Tree::Constant(a), Tree::Constant(b)) => Truth::known(a == b),
            (Tree::Own(a), Tree::Own(b)) => Truth::known(a == b && moments != Moments::Apart),
            (Tree::Apply(f, a), Tree::Apply(g, b)) if f == g && a.len() == b.len() => {
                Truth::all(a.iter().zip(b).map(|(a, b)| a.equal(b, moments)))
            }
            _ => Truth::Never,
        }
    }
}

/// When two values are computed, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moments {
    /// At one moment, by one thread.
    One,
    /// By one thread, on its way.
    OneThread,
    Apart,
}
