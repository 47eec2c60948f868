use std::time::Instant;

use super::*;

fn ints(name: &str, values: impl IntoIterator<Item = i64>) -> Parameter {
    Parameter::new(name, values.into_iter().map(Value::Int))
}

fn space(parameters: Vec<Parameter>, constraints: &[&str]) -> Space {
    let constraints: Vec<String> = constraints.iter().map(|c| c.to_string()).collect();
    Space::new(parameters, &constraints).unwrap()
}

/// All valid points by brute force.
fn by_hand(space: &Space) -> Vec<Point> {
    let mut points: Vec<Point> = vec![vec![]];
    for p in space.parameters() {
        let extended = points.iter().flat_map(|point| {
            (0..p.values.len() as u16).map(move |i| point.iter().copied().chain([i]).collect())
        });
        points = extended.collect();
    }
    let valid = |point: &Point| {
        let slots: Vec<Val> = space
            .parameters()
            .iter()
            .zip(point)
            .map(|(p, &i)| p.values[usize::from(i)].view())
            .collect();
        space.constraints().iter().all(|c| c.expr.eval(&slots).is_ok_and(|v| v.truth()))
    };
    points.retain(valid);
    points
}

fn sample_space() -> Space {
    space(
        vec![
            ints("x", [1, 2, 4, 8]),
            ints("y", 0..6),
            ints("free", 0..3),
            Parameter::new("mode", ["row", "col"].map(Value::from)),
            ints("z", 0..5),
        ],
        &["y != 0 and x % y == 0", "mode == 'row' or z < 2"],
    )
}

#[test]
fn enumeration_agrees_with_brute_force() {
    let space = sample_space();
    let expected = by_hand(&space);
    assert_eq!(space.components.len(), 3);
    assert_eq!(space.count(), expected.len() as u64);
    assert!(expected.iter().all(|p| space.id(p).is_some()));
    let ids: Vec<ConfigId> = space.ids().collect();
    assert!(ids.iter().all(|id| space.id(&space.point(*id)) == Some(*id)));
    assert!(ids.iter().all(|id| space.find(&space.configuration(*id)) == Some(*id)));
}

#[test]
fn a_division_by_zero_that_nothing_excludes_is_an_error() {
    let parameters = || vec![ints("x", [4]), ints("y", 0..3)];
    let error = Space::new(parameters(), &["x % y == 0".to_string()]).unwrap_err();
    let d = error.diagnostic(&|_| None);
    assert_eq!((d.code, d.notes[0].as_str()), ("W401", "for x=4 y=0"));
    // Excluded after the fact: Python would stop here too, because `and` goes from left to right.
    assert!(Space::new(parameters(), &["x % y == 0 and y != 0".to_string()]).is_ok());
    assert_eq!(space(parameters(), &["y == 0 or x % y == 0"]).count(), 3);
}

#[test]
fn independent_parameters_are_not_multiplied_out() {
    let parameters = (0..12).map(|i| ints(&format!("p{i}"), 0..32)).collect();
    let space = space(parameters, &["p0 < p1", "p3 == 7"]);
    assert_eq!(space.count(), 496 * 32u64.pow(9));
    let mut rng = Rng::new(1);
    for _ in 0..100 {
        let id = space.sample(&mut rng).unwrap();
        let point = space.point(id);
        assert!(point[0] < point[1] && point[3] == 7);
        assert_eq!(space.id(&point), Some(id));
    }
}

#[test]
fn a_large_space_is_enumerated_quickly() {
    // 22 million raw tuples with the constraints of a time-tiled stencil, as tuners' benchmarks have them.
    let start = Instant::now();
    let space = space(
        vec![
            ints("bx", [1, 2, 4, 8, 16].into_iter().chain((1..=32).map(|i| 32 * i))),
            ints("by", (0..6).map(|i| 1 << i)),
            ints("tx", 1..=10),
            ints("ty", 1..=10),
            ints("tt", 1..=10),
            ints("lu", 1..=10),
            ints("sh", 0..2),
            ints("bps", 0..5),
        ],
        &[
            "32 <= bx*by <= 1024",
            "tt % lu == 0",
            "(bx*tx + tt*2) * (by*ty + tt*2) * (2+sh) * 4 <= 49152",
            "bps == 0 or ((bx*tx + tt*2) * (by*ty + tt*2) * (2+sh) * 4 * bps <= 102400 and bx*by*bps <= 2048)",
        ],
    );
    assert_eq!(space.raw_count(), 22_200_000.0);
    assert!(space.count() > 100_000, "{}", space.count());
    assert!(start.elapsed().as_secs_f64() < 20.0, "{:?}", start.elapsed());
}

#[test]
fn samples_are_uniform() {
    let space = space(vec![ints("x", 0..4), ints("y", 0..4), ints("z", 0..3)], &["x < y"]);
    let mut rng = Rng::new(3);
    let mut hits = vec![0u32; space.count() as usize];
    for _ in 0..18_000 {
        hits[space.sample(&mut rng).unwrap().0 as usize] += 1;
    }
    // 1000 each; five deviations are 160.
    assert!(hits.iter().all(|h| (840..1160).contains(h)), "{hits:?}");
}

#[test]
fn neighbours_are_what_their_names_say() {
    let space = space(vec![ints("x", 0..5), ints("y", 0..5)], &["x != 2", "x + y < 7"]);
    let at = |x: u16, y: u16| space.id(&[x, y]).unwrap();
    let points = |kind| {
        let mut points: Vec<Point> =
            space.neighbours(at(1, 1), kind).into_iter().map(|id| space.point(id)).collect();
        points.sort();
        points
    };
    let pairs = |list: &[[u16; 2]]| list.iter().map(|p| p.to_vec()).collect::<Vec<Point>>();
    assert_eq!(
        points(Neighbourhood::Hamming),
        pairs(&[[0, 1], [1, 0], [1, 2], [1, 3], [1, 4], [3, 1], [4, 1]])
    );
    assert_eq!(points(Neighbourhood::Adjacent), pairs(&[[0, 1], [1, 0], [1, 2], [3, 1]]));
    assert_eq!(
        points(Neighbourhood::StrictlyAdjacent),
        pairs(&[[0, 0], [0, 1], [0, 2], [1, 0], [1, 2]])
    );
    let mut rng = Rng::new(2);
    for _ in 0..50 {
        let near = space.random_neighbour(at(1, 1), &mut rng).unwrap();
        assert!(space.neighbours(at(1, 1), Neighbourhood::Hamming).contains(&near));
    }
    let repaired = space.repaired(&[2, 1], &mut rng).unwrap();
    assert!([at(1, 1), at(3, 1)].contains(&repaired));
}

#[test]
fn a_space_of_points_has_just_these() {
    let points = vec![vec![1, 0], vec![0, 2], vec![1, 0]];
    let space = Space::of_points(vec![ints("x", 0..2), ints("y", 0..3)], &points).unwrap();
    assert_eq!(space.count(), 2);
    assert!(space.id(&[0, 0]).is_none());
    assert_eq!(space.point(ConfigId(0)), vec![0, 2]);
}

#[test]
fn an_empty_space_is_a_space() {
    let empty = space(vec![ints("x", 0..3), ints("y", 0..3)], &["x > 5"]);
    assert_eq!((empty.count(), empty.sample(&mut Rng::new(0))), (0, None));
    assert_eq!(space(vec![ints("x", 0..3)], &["1 > 2"]).count(), 0);
}

#[test]
fn mistakes_in_parameters_are_named() {
    let message = |parameters: Vec<Parameter>, constraint: &str| {
        let constraints = vec![constraint.to_string()];
        Space::new(parameters, &constraints).unwrap_err().diagnostic(&|_| None).message
    };
    assert_eq!(message(vec![ints("x", [])], "True"), "parameter `x` has no values");
    assert_eq!(message(vec![ints("x", [1, 2, 1])], "True"), "parameter `x` lists 1 twice");
    assert_eq!(
        message(vec![ints("x", [1]), ints("x", [1])], "True"),
        "two parameters are called `x`"
    );
    assert_eq!(message(vec![ints("x", [1])], "y > 1"), "constraint 1: `y` is no parameter");
}

#[test]
fn rules_make_lists_of_values() {
    let powers = Parameter::by_rule("x", 1, 5, |x| x.checked_mul(2));
    assert_eq!(powers.values, [1, 2, 4, 8, 16].map(Value::Int));
    assert_eq!(Parameter::divisors("x", 12).values, [1, 2, 3, 4, 6, 12].map(Value::Int));
}

proptest::proptest! {
    #[test]
    fn every_configuration_that_satisfies_the_constraints_is_found(
        a in 1i64..5, b in 1i64..5, limit in 0i64..20, divisor in 1i64..4,
    ) {
        let space = space(
            vec![ints("x", 0..a), ints("y", 0..b), ints("z", 0..4), ints("w", 0..2)],
            &[&format!("x * y + z <= {limit}"), &format!("(x + z) % {divisor} == 0 or w == 1")],
        );
        let expected = by_hand(&space);
        proptest::prop_assert_eq!(space.count(), expected.len() as u64);
        for point in expected {
            let id = space.id(&point);
            proptest::prop_assert_eq!(id.map(|id| space.point(id)), Some(point));
        }
    }
}
