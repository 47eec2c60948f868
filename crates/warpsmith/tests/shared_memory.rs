//! Bank conflicts that a layout of shared memory spares, counted by the emulator and seen by the access views; and tiles of
//! more than 48 KB.

use std::path::Path;
use std::process::{Command, Output};

use warpsmith::emu::counters::MemoryKind;
use warpsmith::tune::TuneRequest;
use warpsmith::tune::counters::counted;
use warpsmith::tune::{Tuned, tune};
use warpsmith_ir::SourceMap;

const PRODUCT: &str = "\
// warpsmith: size n=64 m=64 k=64
void product(int n, int m, int k, const float A[n][k], const float B[m][k], float C[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[j][l];
            C[i][j] = sum;
        }
}
";

fn request(folder: &Path, schedule: &str) -> TuneRequest {
    let (source, steps) = (folder.join("product.c"), folder.join("product.sched"));
    std::fs::write(&source, PRODUCT).expect("a writable folder");
    std::fs::write(&steps, schedule).expect("a writable folder");
    TuneRequest::new(source).schedule(steps)
}

fn keep(tuned: &Tuned, version: &str) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let folder = Path::new(&dir).join("shared_memory").join(version);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (name, text) in &tuned.files {
        std::fs::write(folder.join(name), text).expect("a writable folder");
    }
}

/// Wavefronts that bank conflicts cost in one launch, by the emulator and by the access views.
fn conflicts(schedule: &str, version: &str) -> [f64; 2] {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let request = request(folder.path(), schedule);
    let mut sources = SourceMap::new();
    let tuned =
        tune(&request, &mut sources).unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    keep(&tuned, version);
    let launches = counted(&request, &tuned, &tuned.sizes[0], &mut sources);
    let launches = launches.unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    let [launch] = &launches[..] else { panic!("{} launches", launches.len()) };
    let shared = launch.counters.accesses.iter().filter(|a| a.memory == MemoryKind::Shared);
    let views = launch.views.iter().flatten().filter(|v| v.shared);
    [shared.map(|a| a.bank_conflicts()).sum(), views.map(|v| v.conflicts).sum()]
}

#[test]
fn swizzled_tiles_have_no_bank_conflicts() {
    let tiles = |layout: &str| {
        format!(
            "bind i, j -> y, x block 32x8\nregister_tile i by 4\nstage A at l tile 32\nstage B at l tile 32{layout}\nunroll l"
        )
    };
    // Each thread of a warp reads another row of B.
    let [counted, seen] = conflicts(&tiles(""), "plain");
    assert!(counted > 10_000.0, "{counted}");
    assert_eq!(counted, seen);
    assert_eq!(conflicts(&tiles(" swizzled"), "swizzled"), [0.0, 0.0]);
    assert_eq!(conflicts(&tiles(" pad 1"), "padded"), [0.0, 0.0]);
    // Transposed, the copy writes columns; padding does not help vectors, which a swizzle moves whole.
    let wide = |layout: &str| {
        format!(
            "bind i, j -> y, x block 8x32\nregister_tile j by 4\nstage B at l tile 32 transposed{layout}\nvectorise j by 4\nunroll l"
        )
    };
    let [plain, seen] = conflicts(&wide(""), "transposed");
    assert_eq!(plain, seen);
    let [swizzled, seen] = conflicts(&wide(" swizzled"), "transposed-swizzled");
    assert_eq!(swizzled, seen);
    assert!(swizzled * 4.0 <= plain, "{swizzled} of {plain}");
}

const LARGE: &str = "bind i, j -> y, x block 16x16\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 128 transposed\nstage B at l tile 128 transposed\nunroll l by 8\n";

fn run(folder: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(["tune", "product.c", "--schedule", "product.sched", "--out", "out"])
        .args(options)
        .output()
        .expect("the program starts")
}

#[test]
fn an_architecture_limits_what_a_block_may_have() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let request = request(folder.path(), LARGE);
    let mut sources = SourceMap::new();
    let tuned =
        tune(&request, &mut sources).unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    keep(&tuned, "large");
    assert!(tuned.files[0].1.contains("extern __shared__"), "{}", tuned.files[0].1);
    // 64 KB are all that sm_75 has, and 66 KB too many.
    let more = LARGE.replace("tile 128 transposed\nunroll", "tile 128 pad 4 transposed\nunroll");
    std::fs::write(folder.path().join("product.sched"), &more).expect("a writable folder");
    assert_eq!(run(folder.path(), &[]).status.code(), Some(0));
    let output = run(folder.path(), &["--arch", "sm_75"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let first = stderr.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "error[W261]: cannot stage `B`: the copies of a block would take 67584 bytes of shared memory, of which there are 65536"
    );
}
