//! Arguments for a program that ends without them: invented ones, and those that its own Makefile gives it.

use std::collections::BTreeMap;
use std::path::Path;

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema;
use warpsmith_ir::visit::{Access, Visitor, walk_place};
use warpsmith_ir::{ExprKind, Place, PlaceKind, VarId};

/// What numbers among the arguments are taken to be, one after the other: small powers of two suit most programs as sizes.
const INVENTED: [&str; 3] = ["16", "2", "64"];
const LARGER: &str = "64";
/// Numbers for programs that want one to be much larger than the others.
const FEW: &str = "4";
pub const MANY: &str = "1024";
/// A number for programs that divide theirs by many times the threads of a block.
const HUGE: &str = "4096";
/// Numbers that are tried where some kernels are not reached: a larger size, one that can be an index into a short table, and one
/// that is not divided to nothing by what a block has to do.
pub const WHERE_FEW_ARE_REACHED: [&str; 3] = [LARGER, "2", MANY];
/// Numbers that findings have to stand, too: of one more choice at least.
pub const OTHERS: [&str; 4] = ["16", "48", "64", "2048"];
/// For one number that is larger than the others: such that fill no block, and one that fills several.
pub const LARGER_ONES: [&str; 3] = ["61", "48", "64"];
/// Arguments that are invented, at most.
const MOST: usize = 12;

/// Looks for a use of `argc`, or of `argv` but for `argv[0]`.
pub struct Reads {
    pub count: VarId,
    pub words: VarId,
    pub found: bool,
}

impl Reads {
    /// `argv[0]` is the program's own name.
    fn is_own_name(&self, place: &Place) -> bool {
        let PlaceKind::Elem { pointer, index, .. } = &*place.kind else { return false };
        let of_words =
            matches!(&*pointer.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(self.words));
        of_words && matches!(index.as_slice(), [i] if i.as_const().is_some_and(|v| v.as_i64() == 0))
    }
}

impl Visitor for Reads {
    fn place(&mut self, place: &Place, access: Access) {
        if self.is_own_name(place) {
            return;
        }
        self.found |=
            matches!(*place.kind, PlaceKind::Var(v) if v == self.count || v == self.words);
        walk_place(self, place, access);
    }
}

/// Lists of arguments to try, in this order.
pub fn candidates(path: &Path, unit: &TranslationUnit) -> Vec<Vec<String>> {
    let words = sema::argument_words(unit);
    let invented = INVENTED.iter().flat_map(|value| {
        let words = &words;
        (1..=MOST).map(move |count| list(count, value, words))
    });
    let uneven = (2..=MOST / 2).flat_map(|count| (0..count).map(move |at| (count, at)));
    let one_large = uneven.map(|(count, at)| with_one_large(list(count, FEW, &words), at));
    let options = of_options(&sema::option_words(unit));
    let plain = invented.chain(options).chain(of_makefile(path));
    let huge = (1..=2).map(|count| list(count, HUGE, &words));
    plain.chain(one_large).chain(huge).collect()
}

/// Programs that want one number to be larger than the others, a number of elements than their groups.
fn with_one_large(mut arguments: Vec<String>, at: usize) -> Vec<String> {
    if arguments[at] == FEW {
        arguments[at] = MANY.into();
    }
    arguments
}

/// Arguments for a program whose own sizes are too large: it may take up to so many, or just so many.
pub fn small_numbers(unit: &TranslationUnit) -> Vec<Vec<String>> {
    let words = sema::argument_words(unit);
    let smaller = [6, 5, 4, 3].map(|count| (count, INVENTED[0]));
    let choices = [(6, LARGER), (2, LARGER), (1, LARGER)].into_iter().chain(smaller);
    choices.map(|(count, value)| list(count, value, &words)).collect()
}

/// The options that a program says it takes, all of them and one at a time, each with a number.
fn of_options(options: &[String]) -> Vec<Vec<String>> {
    let with_number = |o: &String| [o.clone(), INVENTED[0].to_string()];
    let all = options.iter().take(MOST / 2).flat_map(with_number).collect();
    let each = options.iter().take(MOST).map(|o| with_number(o).to_vec());
    match options {
        [] => vec![],
        _ => std::iter::once(all).chain(each).collect(),
    }
}

/// So many arguments: the words that the program looks for in their places, else the value.
fn list(count: usize, value: &str, words: &BTreeMap<usize, String>) -> Vec<String> {
    (1..=count).map(|at| words.get(&at).map_or(value, String::as_str).to_string()).collect()
}

/// Whether the numbers are those that are tried first.
pub fn is_first_choice(arguments: &[String]) -> bool {
    arguments.iter().any(|a| [INVENTED[0], FEW, MANY].contains(&a.as_str()))
}

/// The same arguments with another number in the place of those that were invented.
pub fn with_value(arguments: &[String], value: &str) -> Vec<String> {
    let other = |a: &String| match is_number(a) {
        true => value.to_string(),
        false => a.clone(),
    };
    arguments.iter().map(other).collect()
}

/// Places of invented numbers among the arguments.
pub fn numbers(arguments: &[String]) -> Vec<usize> {
    (0..arguments.len()).filter(|at| is_number(&arguments[*at])).collect()
}

/// Whether these numbers are all the same.
pub fn are_equal(arguments: &[String]) -> bool {
    numbers(arguments).windows(2).all(|pair| arguments[pair[0]] == arguments[pair[1]])
}

/// Whether this is a number that another could take the place of.
fn is_number(argument: &str) -> bool {
    [&INVENTED[..], &OTHERS, &LARGER_ONES, &[FEW, MANY]].concat().contains(&argument)
}

/// So many numbers, with the words that the program looks for in their places.
pub fn so_many(count: usize, unit: &TranslationUnit) -> Vec<String> {
    list(count, INVENTED[0], &sema::argument_words(unit))
}

/// What the Makefile beside the file runs the program with.
fn of_makefile(path: &Path) -> Option<Vec<String>> {
    let folder = path.parent()?;
    let text = ["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .find_map(|name| std::fs::read_to_string(folder.join(name)).ok())?;
    text.lines().find_map(arguments_of)
}

/// The arguments in a line of a recipe that begins with a program of this folder.
fn arguments_of(line: &str) -> Option<Vec<String>> {
    let command = line.strip_prefix('\t')?.trim_start_matches(['@', '-']).trim();
    let command = command.split(['|', '>', ';', '&', '#']).next()?;
    let words = shlex::split(command)?;
    let at = words.iter().position(|w| w.starts_with("./"))?;
    let arguments = words.get(at + 1..)?.to_vec();
    let plain = arguments.iter().all(|a| !a.contains('$'));
    (plain && !arguments.is_empty()).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
    use warpsmith_front::prelude;
    use warpsmith_ir::SourceMap;

    use super::super::load;
    use super::*;

    #[test]
    fn a_program_that_prints_its_own_name_reads_no_arguments() {
        let reads = |main: &str| {
            let text = format!("#include <cstdio>\n__global__ void k() {{}}\n{main}\n");
            let mut sources = SourceMap::new();
            let libraries = prelude::unit(&mut sources);
            let options = ParseOptions::new(Language::Cuda);
            let parsed = parse::parse("a.cu", text.as_bytes(), &options, &DiskLoader, &mut sources);
            let unit = parsed.expect("the text is right").unit;
            let program = load(&unit, &sema::Libraries::new(&libraries));
            program.ok().flatten().expect("a program").reads_arguments()
        };
        assert!(!reads("int main(void) { k<<<1, 1>>>(); }"));
        assert!(!reads("int main(int argc, char **argv) { k<<<1, 1>>>(); }"));
        assert!(!reads(
            "int main(int c, char *v[]) { if (v[0][0] == 0) return 1; printf(\"%s\", v[0]); k<<<1, 1>>>(); }"
        ));
        assert!(reads("#include <cstdlib>\nint main(int c, char **v) { k<<<atoi(v[1]), 1>>>(); }"));
        assert!(reads("int main(int c, char **v) { if (c > 1) return 1; k<<<1, 1>>>(); }"));
        assert!(reads(
            "void run(char **v) { k<<<v[1][0], 1>>>(); }\nint main(int c, char **v) { run(v); }"
        ));
    }

    #[test]
    fn a_recipe_says_what_a_program_is_run_with() {
        let args = |line: &str| arguments_of(line).map(|a| a.join(" "));
        assert_eq!(args("\t./$(program) 128 -n 4").as_deref(), Some("128 -n 4"));
        assert_eq!(args("\t@./main 7 | tee log").as_deref(), Some("7"));
        assert_eq!(args("\tLD_LIBRARY_PATH=. ./a.out -f x.txt").as_deref(), Some("-f x.txt"));
        assert_eq!(args("\t./main"), None);
        assert_eq!(args("\t./main $(ARGS)"), None);
        assert_eq!(args("\tnvcc -o main main.cu"), None);
        assert_eq!(args("run: ./main 3"), None);
    }

    #[test]
    fn words_that_are_looked_for_stand_in_their_places() {
        let words = BTreeMap::from([(1, "-n".to_string()), (3, "-m".to_string())]);
        assert_eq!(list(4, "16", &words), ["-n", "16", "-m", "16"]);
        assert_eq!(with_value(&list(4, "16", &words), "48"), ["-n", "48", "-m", "48"]);
    }
}
