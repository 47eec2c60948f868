//! Random scripts: what comes out is what the CPU references give, with every check on; `fuse` itself refuses anything else.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_testgen::looped_script;

use super::*;

/// Functions with the types of inputs and output: m (3x3), M (5x5), v, s, 3 and 4 (tensors).
const FUNCTIONS: [(&str, &str, char); 14] = [
    ("madd33", "mm", 'm'),
    ("mmul33", "mm", 'm'),
    ("mvmul33", "mv", 'v'),
    ("smmul33", "ms", 'm'),
    ("smimul33", "s", 'm'),
    ("svmul3", "vs", 'v'),
    ("venorm3", "v", 's'),
    ("vvmulabs3", "vv", 's'),
    ("madd55", "MM", 'M'),
    ("mmul55", "MM", 'M'),
    ("smmul55", "Ms", 'M'),
    ("ttmul411", "4v", '3'),
    ("ttmul311", "3v", 'm'),
    ("ttmul3212", "3m", '3'),
];
const TYPES: [(char, &str); 6] = [
    ('m', "matrix3x3"),
    ('M', "matrix5x5"),
    ('v', "vector3"),
    ('s', "scalar"),
    ('3', "tensor3x3x3"),
    ('4', "tensor3x3x3x3"),
];

/// A script of so many calls over an input of each type; every value that nothing reads is an output.
fn random_script(rng: &mut Xoshiro256PlusPlus, calls: usize) -> String {
    let mut pick = |n: usize| (rng.next_u64() >> 33) as usize % n;
    // Values by name, type and whether they were read.
    let mut values: Vec<(String, char, bool)> =
        TYPES.iter().map(|(t, _)| (format!("in_{t}"), *t, false)).collect();
    let mut body = String::new();
    for k in 0..calls {
        // Functions on small elements more often: they hang together.
        let (name, inputs, output) = FUNCTIONS[if pick(3) == 0 { pick(14) } else { pick(8) }];
        let mut arguments = vec![];
        for ty in inputs.chars() {
            let fitting: Vec<usize> = (0..values.len()).filter(|i| values[*i].1 == ty).collect();
            // The latest value half of the time: chains, diamonds, repeated arguments.
            let at = if pick(2) == 0 {
                fitting[fitting.len() - 1]
            } else {
                fitting[pick(fitting.len())]
            };
            values[at].2 = true;
            arguments.push(values[at].0.clone());
        }
        body.push_str(&format!("x{k} = {name}({});\n", arguments.join(", ")));
        values.push((format!("x{k}"), output, false));
    }
    let mut text = String::new();
    for (name, ty, _) in &values {
        let ty = TYPES.iter().find(|(t, _)| t == ty).unwrap().1;
        text.push_str(&format!("{ty} {name};\n"));
    }
    let inputs: Vec<&str> = values[..6].iter().filter(|v| v.2).map(|v| v.0.as_str()).collect();
    let outputs: Vec<&str> = values[6..].iter().filter(|v| !v.2).map(|v| v.0.as_str()).collect();
    // One value that is read may be an output, too.
    let more = values[6..].iter().find(|v| v.2).map(|v| v.0.as_str()).filter(|_| pick(2) == 0);
    let outputs: Vec<&str> = outputs.into_iter().chain(more).collect();
    format!("{text}input {};\n{body}return {};\n", inputs.join(", "), outputs.join(", "))
}

#[test]
fn random_scripts_give_what_the_cpu_gives() {
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number("WARPSMITH_RANDOM_SEED", 15));
    for case in 0..number("WARPSMITH_RANDOM_SCRIPTS", 24) as usize {
        let calls = 1 + case % 12;
        let text = random_script(&mut rng, calls);
        let (_dir, mut args) = script(&text);
        // All ways to generate, in turn: one thread an element, several, the library's moves, the baseline, no fusion.
        match case % 5 {
            1 => args.implementations = vec!["*=2".into()],
            2 => args.keep_loads = true,
            3 => (args.baseline, args.implementations) = (true, vec!["*=2".into()]),
            4 => args.max_fusion = 1,
            _ => {}
        }
        let fused = run(&args).unwrap_or_else(|(_, error)| panic!("{text}\n{error}"));
        assert_right(&fused);
        assert_eq!(plans(&fused).iter().map(|p| p.calls.len()).sum::<usize>(), calls, "{text}");
        leave(&format!("random_{case}"), &fused);
    }
}

#[test]
fn twenty_random_programs_pass_check() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20);
    for case in 0..20 {
        let text = random_script(&mut rng, 1 + case % 7);
        let (dir, mut args) = script(&text);
        if case % 2 == 1 {
            args.implementations = vec!["*=2".into()];
        }
        let fused = fused(&args);
        for (file, text) in &fused.covers[0].files {
            std::fs::write(dir.path().join(file), text).unwrap();
        }
        check_program(dir.path(), "case", "70");
    }
}

/// Of what loops mean on the CPU another test is sure: the same as when they are written out.
#[test]
fn random_loops_give_what_the_cpu_gives() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut on_host, mut across) = (0, 0);
    for case in 0..24 {
        let bytes: Vec<u8> = (0..120).map(|_| rng.next_u64() as u8).collect();
        let text = looped_script(&bytes).with_loops;
        let (_dir, args) = script(&text);
        let ways = [
            args.clone(),
            FuseArgs { max_fusion: 1, ..args.clone() },
            FuseArgs { implementations: vec!["*=2".into()], ..args },
        ];
        for (k, args) in ways.iter().enumerate() {
            let fused = run(args).unwrap_or_else(|(_, error)| panic!("{text}\n{error}"));
            assert_right(&fused);
            let kernels = plans(&fused);
            on_host += usize::from(fused.covers[0].files[0].1.contains("for (int i"));
            // A call in a loop of the script is in a kernel more than once.
            across += usize::from(kernels.iter().any(|p| {
                let calls = || p.calls.iter().map(|c| c.function);
                calls().enumerate().any(|(n, f)| calls().take(n).any(|g| g == f))
            }));
            leave(&format!("random_loops_{case}_{k}"), &fused);
        }
    }
    assert!(on_host > 5 && across > 10, "{on_host} and {across}");
}
