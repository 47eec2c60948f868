//! Elements that the CPU computes at full size find what the device does wrong with every schedule alike.

mod workers;

use std::sync::Arc;
use std::time::Duration;

use warpsmith::gpu::client::Greeted;
use warpsmith::gpu::protocol::Policy;
use warpsmith::gpu::stop::Stop;
use warpsmith::ir::SourceMap;
use warpsmith::search::{Engine, Options};
use warpsmith::tune::TuneRequest;
use warpsmith::tune::faults::Prepared;
use warpsmith::tune::recompute::{self, Difference, Recomputed};
use workers::start;

/// What the comparison says of the first configuration of the templates, on the emulator at the file's first size.
fn checked(source: &str, changed: Option<fn(&str) -> String>) -> Result<Recomputed, Difference> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("nest.c");
    std::fs::write(&path, source).expect("a writable folder");
    let request = TuneRequest::new(path).jobs(1);
    let mut sources = SourceMap::new();
    let prepared = Prepared::new(&request, &mut sources);
    let prepared = prepared.unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    let nests = prepared.nests(changed);
    let (nests, first) = nests.unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    let nests = Arc::new(nests);
    let options = Options {
        stations: vec![start(&["--backend", "emulator"])],
        first: Greeted::default(),
        compiler: start(&["--backend", "emulator"]),
        threads: 1,
        cache: None,
        limit: Duration::from_secs(60),
        compile_limit: Duration::from_secs(60),
        policy: Policy::default(),
        gives_up: true,
        stop: Stop::default(),
    };
    let mut engine = Engine::start(nests.clone(), options).expect("an emulator");
    let mut found = recompute::check(&nests, &mut engine, &first).map_err(|(_, d)| d)?;
    assert_eq!(found.len(), 1);
    Ok(found.remove(0))
}

const SCALE: &str = "// warpsmith: size n=40 m=70\nvoid scale(int n, int m, float a, const float x[n][m], float y[n][m])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            y[i][j] = a * x[i][j];\n}\n";

#[test]
fn what_is_right_is_equal() {
    assert_eq!(checked(SCALE, None), Ok(Recomputed::Equal(1024)));
    let product = "// warpsmith: size n=20 k=9\nvoid product(int n, int k, const float A[n][k], const float B[k][n], float C[n][n])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            float s = 0.0f;\n            for (int l = 0; l < k; l++)\n                s += A[i][l] * B[l][j];\n            C[i][j] += s;\n        }\n}\n";
    // Each of the 400 elements once: the draws repeat themselves, and a sum must not be added twice.
    let Ok(Recomputed::Equal(n)) = checked(product, None) else { panic!("not equal") };
    assert!((380..=400).contains(&n), "{n}");
    let down = "// warpsmith: size n=300\nvoid down(int n, int y[n])\n{\n    #pragma omp parallel for\n    for (int i = n - 1; i >= 0; i -= 3)\n        y[i] = 2 * i + 1;\n}\n";
    let Ok(Recomputed::Equal(n)) = checked(down, None) else { panic!("not equal") };
    assert!((90..=100).contains(&n), "{n}");
}

/// The direct translation has the fault, too: the comparison on the device sees nothing.
#[test]
fn a_fault_that_all_schedules_share_is_found() {
    let fault = |text: &str| {
        let wrong = text.replace("a * x", "a + x");
        assert_ne!(wrong, text, "nothing was planted");
        wrong
    };
    let Err(difference) = checked(SCALE, Some(fault)) else { panic!("the fault was not found") };
    assert_eq!(difference.array, "y");
    assert_ne!(difference.device, difference.cpu);
}

/// One element in twenty, and only beyond the first row: a sample of 1,024 finds it.
#[test]
fn a_fault_in_some_elements_is_found() {
    let fault = |text: &str| text.replace("a * x", "(i > 0 && j % 20 == 7 ? 2.0f : 1.0f) * a * x");
    assert!(checked(SCALE, Some(fault)).is_err());
}

#[test]
fn what_has_no_single_writer_is_said() {
    let sum = "// warpsmith: size n=300\nfloat sum(int n, const float x[n])\n{\n    float s = 0.0f;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += x[i];\n    return s;\n}\n";
    let two = "// warpsmith: size n=300\nvoid two(int n, const float x[n], float y[n], float z[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        y[i] = 2.0f * x[i];\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        z[i] = y[i] + x[i];\n}\n";
    for (source, why) in [(sum, "all iterations"), (two, "more than one nest")] {
        let Ok(Recomputed::Not(said)) = checked(source, None) else { panic!("{why}") };
        assert!(said.contains(why), "{said}");
    }
}

/// The bound of a recurrence grows in each step, beside numbers that do not: an infinite one says nothing of the device,
/// where a product and a sum may be rounded once.
#[test]
fn bounds_that_overflow_compare_nothing() {
    let source = "// warpsmith: size n=300\nvoid decay(int n, const float x[n], float y[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        float s = x[i];\n        for (int k = 0; k < 600; k++)\n            s = 5.1f * s - 4.2f * s;\n        y[i] = s + 1.0f;\n    }\n}\n";
    let rounded_once = |text: &str| {
        let once = text.replace("5.1f * s - 4.2f * s", "fmaf(5.1f, s, -4.2f * s)");
        assert_ne!(once, text, "nothing was planted");
        once
    };
    let Ok(Recomputed::Not(said)) = checked(source, Some(rounded_once)) else { panic!("compared") };
    assert!(said.contains("beyond every bound"), "{said}");
}
