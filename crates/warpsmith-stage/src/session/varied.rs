//! Launches in which one constant of the file has another value: what is written for the file has to be right in them, too.

use super::{Session, Suited, choice};
use crate::launch::Launch;
use crate::session::Refusal;
use crate::source::constants::Constant;
use crate::source::shape::Extent;
use crate::stage::dims;
use warpsmith_ir::SourceMap;

/// A constant with launches in which it has other values.
#[derive(Clone, Debug)]
pub struct Varied {
    /// The constant.
    pub constant: Constant,
    /// Launches that suit the unmodified kernel.
    pub launches: Vec<Suited>,
}

/// What the user gives for all launches, with launches in which it is another.
#[derive(Clone, Debug)]
pub struct Given {
    /// What is given: `m == 1`.
    pub what: String,
    /// Launches that suit the unmodified kernel.
    pub launches: Vec<Suited>,
}

/// Other values of a constant that are looked at, at most.
const VALUES: usize = 4;

/// At least so much more is the far one.
const FAR: i64 = 4;

/// One less and one more, one that is far enough for a number that lies between to be wrong, and no threads of a small block to do
/// for it, and the least that means anything: a condition that all others meet may fail for one. Where those go with nothing, half and
/// twice as many.
fn others(value: i64) -> Vec<i64> {
    let half = if value % 2 == 0 { value / 2 } else { value };
    let mut all = vec![];
    for v in [value - 1, value + 1, value + value.max(FAR) + 1, 1, 2 * value, half] {
        if v >= 0 && v != value && !all.contains(&v) {
            all.push(v);
        }
    }
    all
}

impl Session {
    /// The constants that the kernel depends on beside those that make the block, each with launches like some others. Those whose
    /// other values do not compile are left out: nobody can change them.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn varied(&mut self, like: &[Suited]) -> Result<Vec<Varied>, Refusal> {
        let mut all = vec![];
        for constant in self.free_constants() {
            let (mut launches, mut compiled, mut values) = (vec![], false, 0);
            for value in others(constant.value) {
                let found = self.with_value(like, &constant, value)?;
                compiled |= found.is_some();
                let found = found.unwrap_or_default();
                values += usize::from(!found.is_empty());
                launches.extend(found);
                if values == VALUES {
                    break;
                }
            }
            if compiled {
                all.push(Varied { constant, launches });
            }
        }
        Ok(all)
    }

    /// What the user gives: values of parameters and the grid, each with launches like some others in which it is another.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn given_otherwise(&mut self, like: &[Suited]) -> Result<Vec<Given>, Refusal> {
        let (unsuited, raced) = (self.unsuited.len(), self.raced.clone());
        let mut all = vec![];
        for (name, value) in self.input.integers.clone() {
            let mut launches = vec![];
            for suited in like.iter().filter(|s| s.launch.integers.contains_key(&name)) {
                // Steps of loops are small, and three more is a step that neither comes first nor is far.
                for other in others(value).into_iter().chain([value + 3]) {
                    let mut launch = Launch { of_file: None, ..suited.launch.clone() };
                    launch.integers.insert(name.clone(), other);
                    launches.extend(self.suit(launch)?.filter(|s| !s.idle));
                }
            }
            all.push(Given { what: format!("{name} == {value}"), launches });
        }
        if let Some(grid) = self.input.grid {
            let mut launches = vec![];
            for suited in like {
                for launch in self.other_grids(&suited.launch)? {
                    launches.extend(self.suit(launch)?.filter(|s| !s.idle));
                }
            }
            all.push(Given { what: format!("the grid is {}", dims(grid)), launches });
        }
        // It is not the file that is wrong in these.
        self.unsuited.truncate(unsuited);
        self.raced = raced;
        Ok(all)
    }

    /// The same launch with more blocks along each axis that the kernel asks for: for the same sizes, and for sizes that they cover, whole or
    /// cut off.
    fn other_grids(&mut self, like: &Launch) -> Result<Vec<Launch>, Refusal> {
        let like = Launch { of_file: None, only: vec![], ..like.clone() };
        let steps = self.steps(&like)?;
        let mut all = vec![];
        for axis in (0..3).filter(|a| self.usage.axes[*a]) {
            let mut more = like.clone();
            more.grid[axis] += 1;
            all.push(more.clone());
            for left_out in [0, 1, steps[axis] / 2] {
                let size = (steps[axis] * i64::from(more.grid[axis]) - left_out).max(1);
                for (name, value) in &mut more.integers {
                    let role = self.usage.roles.get(name).filter(|r| r.axes[axis]);
                    if let Some(role) = role.filter(|_| !self.input.integers.contains_key(name)) {
                        *value = size / role.times.max(1);
                    }
                }
                all.push(more.clone());
            }
        }
        Ok(all)
    }

    /// The constants that the kernel depends on beside those that make the block.
    pub fn free_constants(&self) -> Vec<Constant> {
        self.constants.iter().filter(|c| !self.is_extent(c)).cloned().collect()
    }

    /// Constants that make the block and that other values compile with: no launch says what is right with these unless its block
    /// has another extent.
    pub fn block_constants(&mut self, like: &Launch) -> Vec<Constant> {
        let mut all: Vec<Constant> =
            self.constants.iter().filter(|c| self.is_extent(c)).cloned().collect();
        all.retain(|c| {
            let launch = |v| self.changed(like, &(c.key.clone(), v), c);
            let others: Vec<Launch> = others(c.value).into_iter().filter_map(launch).collect();
            others.iter().any(|l| self.shaped(l).is_ok())
        });
        all
    }

    /// Whether a constant makes the block: launches have other values of it already.
    fn is_extent(&self, constant: &Constant) -> bool {
        self.of_file.iter().any(|e| e.constant() == Some(&constant.name))
    }

    /// Launches with another value of a constant in which the kernel is right and stores something; `None`: it does not compile.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn with_value(
        &mut self,
        like: &[Suited],
        constant: &Constant,
        value: i64,
    ) -> Result<Option<Vec<Suited>>, Refusal> {
        let (unsuited, raced) = (self.unsuited.len(), self.raced.clone());
        let changed = (constant.key.clone(), value);
        let mut all = vec![];
        for like in like {
            let Some(launch) = self.changed(&like.launch, &changed, constant) else { continue };
            let Some(block) = self.block_with(&launch) else { return Ok(None) };
            let launch = Launch { block, ..launch };
            if self.shaped(&launch).is_err() {
                return Ok(None);
            }
            all.extend(self.suit(launch)?.filter(|s| !s.idle));
        }
        // It is not the file that is wrong in these.
        self.unsuited.truncate(unsuited);
        self.raced = raced;
        Ok(Some(all))
    }

    /// A launch with another value of a constant; of the file's own launches what the file makes of it then, if that is known.
    fn changed(
        &self,
        like: &Launch,
        changed: &(String, i64),
        constant: &Constant,
    ) -> Option<Launch> {
        let with = |mut all: Vec<(String, i64)>, name: &String| {
            all.retain(|(key, _)| key != name);
            all.push((name.clone(), changed.1));
            all
        };
        if let (Some(number), true) = (like.of_file, constant.key == constant.name) {
            let constants = with(like.varied.clone(), &constant.name);
            return self.file_launches(&constants).into_iter().nth(number)?.ok();
        }
        let constants = with(like.constants.clone(), &changed.0);
        let varied = with(like.varied.clone(), &constant.name);
        let mut block = like.block;
        for axis in self.axes_of_argument(constant)? {
            block[axis] = u32::try_from(changed.1).ok().filter(|n| *n > 0)?;
        }
        let threads: u32 = block.iter().product();
        (threads <= 1024).then(|| Launch { block, constants, varied, ..like.clone() })
    }

    /// The axes of the block that an argument of the template is the extent of: what the template is made with is what the host
    /// launches with. Several arguments of one value are extents in their order; `None`: nobody knows of which axes.
    fn axes_of_argument(&self, constant: &Constant) -> Option<Vec<usize>> {
        let is_argument = |c: &&Constant| c.key != c.name && c.value == constant.value;
        let arguments: Vec<&Constant> = self.constants.iter().filter(is_argument).collect();
        let Some(own) = arguments.iter().position(|c| c.name == constant.name) else {
            return Some(vec![]);
        };
        let same = |axis: &usize| self.of_file[*axis] == Extent::Number(constant.value as u32);
        let axes: Vec<usize> = (0..3).filter(same).filter(|_| constant.value > 1).collect();
        match arguments.len() {
            1 => Some(axes),
            n if n == axes.len() => Some(vec![axes[own]]),
            _ if axes.is_empty() => Some(axes),
            _ => None,
        }
    }

    /// The block of a launch where host code makes it of constants that have other values. `None`: it does not compile.
    fn block_with(&self, launch: &Launch) -> Option<[u32; 3]> {
        let text = self.plan.reference(launch.block);
        let mut sources = SourceMap::new();
        let unit = self.compiler.parse(&text, &launch.constants, &mut sources).ok()?;
        let (plan, usage) = (&self.plan, &self.usage);
        let file = (&unit, &sources, &self.blocks);
        let now = choice::extents(&self.input, plan, file, &self.kernel, usage);
        let mut block = launch.block;
        for (axis, (now, before)) in now.iter().zip(&self.of_file).enumerate() {
            if let (Extent::Number(now), Extent::Number(before)) = (now, before)
                && now != before
            {
                block[axis] = *now;
            }
        }
        (block.iter().product::<u32>() <= 1024).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::others;

    #[test]
    fn values_nearby_come_first() {
        assert_eq!(others(4), [3, 5, 9, 1, 8, 2]);
        assert_eq!(others(1), [0, 2, 6]);
        assert_eq!(others(0), [1, 5]);
    }
}
