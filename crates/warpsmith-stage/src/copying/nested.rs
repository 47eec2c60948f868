//! Copies under their conditions: those under one condition share an `if`, and what asks for a row and more stands in the row's.
//!
//! All lanes of a warp decide alike on a row of the block, so that most warps step over it with all that stands in it. Columns
//! are decided by each lane: their copies stay beside each other.

/// Statements under one condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What has to hold, joined by `&&`, each without parentheses around all of it; empty: nothing.
    pub conjuncts: Vec<String>,
    /// The condition asks for rows of the block, and not for columns.
    pub of_rows: bool,
    pub statements: Vec<String>,
}

/// A statement for each group that stands in no other, in their order.
fn written(groups: &[Group], indent: &str) -> Vec<String> {
    let outer: Vec<Option<usize>> = groups.iter().map(|g| outer(groups, g)).collect();
    let roots = (0..groups.len()).filter(|i| outer[*i].is_none());
    roots.map(|i| statement(groups, &outer, i, indent)).collect()
}

/// The same within an `if` of their own, where they have one.
pub fn under(guard: &[String], groups: &[Group], indent: &str) -> Vec<String> {
    let within = format!("{indent}    ");
    if guard.is_empty() {
        return written(groups, indent);
    }
    let all = written(groups, &within);
    if all.is_empty() {
        return all;
    }
    let guard: Vec<String> = guard.iter().map(|c| bound(c)).collect();
    let lines: String = all.iter().map(|s| format!("\n{within}{s}")).collect();
    vec![format!("if ({}) {{{lines}\n{indent}}}", guard.join(" && "))]
}

/// The group that another one stands in: of those that ask for rows which it asks for, too, the one with most conditions.
fn outer(groups: &[Group], group: &Group) -> Option<usize> {
    let holds = |g: &Group| {
        let fewer = g.conjuncts.len() < group.conjuncts.len();
        fewer && g.of_rows && g.conjuncts.iter().all(|c| group.conjuncts.contains(c))
    };
    let all = groups.iter().enumerate().filter(|(_, g)| holds(g));
    all.rev().max_by_key(|(_, g)| g.conjuncts.len()).map(|(i, _)| i)
}

fn statement(groups: &[Group], outer: &[Option<usize>], i: usize, indent: &str) -> String {
    let group = &groups[i];
    let known = outer[i].map_or(&[][..], |o| &groups[o].conjuncts);
    let asked: Vec<&str> =
        group.conjuncts.iter().filter(|c| !known.contains(c)).map(String::as_str).collect();
    if asked.is_empty() {
        return group.statements.join(&format!("\n{indent}"));
    }
    let within = format!("{indent}    ");
    let inner = (0..groups.len()).filter(|g| outer[*g] == Some(i));
    let mut body = group.statements.clone();
    body.extend(inner.map(|g| statement(groups, outer, g, &within)));
    let condition = match asked.as_slice() {
        [one] => one.to_string(),
        all => all.iter().map(|c| bound(c)).collect::<Vec<_>>().join(" && "),
    };
    match body.as_slice() {
        [one] => format!("if ({condition}) {one}"),
        several => {
            let lines: String = several.iter().map(|s| format!("\n{within}{s}")).collect();
            format!("if ({condition}) {{{lines}\n{indent}}}")
        }
    }
}

/// A condition as a part of a conjunction.
fn bound(condition: &str) -> String {
    match condition.contains(" || ") {
        true => format!("({condition})"),
        false => condition.to_string(),
    }
}

/// A text without parentheses around all of it: how conditions are compared.
pub fn bare(text: &str) -> &str {
    let Some(inside) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0i32;
    let lowest = inside.chars().map(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth
    });
    match lowest.min() {
        Some(low) if low < 0 => text,
        _ => inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(condition: &str, of_rows: bool, statement: &str) -> Group {
        let conjuncts = condition.split(" && ").map(|c| bare(c).to_string()).collect();
        Group { conjuncts, of_rows, statements: vec![statement.to_string()] }
    }

    #[test]
    fn corners_stand_in_their_rows() {
        let groups = [
            group("(x == 31 || i == n)", false, "east;"),
            group("y == 3 || j == m", true, "south;"),
            group("(x == 31 || i == n) && (y == 3 || j == m)", false, "south_east;"),
            group("y == 0 && x == 0", false, "north_west;"),
            group("y == 0", true, "north;"),
        ];
        assert_eq!(
            written(&groups, "  "),
            [
                "if (x == 31 || i == n) east;",
                "if (y == 3 || j == m) {\n      south;\n      if (x == 31 || i == n) south_east;\n  }",
                "if (y == 0) {\n      north;\n      if (x == 0) north_west;\n  }",
            ]
        );
    }

    #[test]
    fn what_asks_for_columns_holds_nothing_else() {
        let groups = [
            group("x == 0 || i == 1", false, "a;"),
            group("(x == 0 || i == 1) && y == 0", false, "b;"),
        ];
        let expected = ["if (x == 0 || i == 1) a;", "if ((x == 0 || i == 1) && y == 0) b;"];
        assert_eq!(written(&groups, ""), expected);
    }

    #[test]
    fn parentheses_are_dropped_where_they_are_one_pair() {
        assert_eq!(bare("(a || b)"), "a || b");
        assert_eq!(bare("(a) || (b)"), "(a) || (b)");
        assert_eq!(bare("(int)(a) + 1 == f(b)"), "(int)(a) + 1 == f(b)");
    }
}
