//! Serial loops whose reads pass row by row through registers.

mod common;

use common::{Input, Points, check_scheduled as check, has_flat as has, refused_text};
use warpsmith_opt::schedule;
use warpsmith_opt::schedule::template;

const CONV: &str = "
void conv(int h, int w, const float image[h + 4][w + 4], const float filter[5][5],
          float out[h][w]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++)
                    sum += filter[dy][dx] * image[y + dy][x + dx];
            out[y][x] = sum;
        }
}
";
const PLANES: Points<'_> = &[
    &[("h", 0), ("w", 3)],
    &[("h", 1), ("w", 1)],
    &[("h", 16), ("w", 32)],
    &[("h", 37), ("w", 19)],
    &[("h", 8), ("w", 65)],
];
const TILED: &str =
    "bind y, x -> y, x block 8x4\nconstant filter\nregister_tile y by 4\nregister_tile x by 4\n";

#[test]
fn templates_offer_copies_in_vectors_of_an_image_whose_filter_is_in_constant_memory() {
    let input = Input::new(CONV);
    let kernel = input.kernel();
    let root = kernel.marked_roots()[0];
    let offered = template::alternatives(&kernel, root, &input.sources);
    let of_width = |width: &str| {
        let wide = format!("vectorise image by {width}");
        let mut legal = 0;
        for steps in &offered {
            let schedule = template::schedule_of(std::slice::from_ref(steps));
            let text = schedule.to_string();
            if text.contains(&wide)
                && text.contains("constant filter")
                && text.contains("stream dy")
            {
                legal += usize::from(schedule::replay(&kernel, &schedule, &input.sources).is_ok());
            }
        }
        legal
    };
    // Rows of `w + 4` elements may begin at multiples of four.
    assert!(of_width("4") > 20 && of_width("2") > 20, "{} {}", of_width("4"), of_width("2"));
}

#[test]
fn rows_of_a_staged_image_are_read_once_in_vectors() {
    let schedule =
        format!("{TILED}vectorise x by 4\nstage image async\nunroll dx\nstream dy along y");
    let text = check(CONV, &schedule, PLANES);
    has(
        &text,
        &[
            "const int y_thread = (int)threadIdx.y * 4;",
            "__pipeline_memcpy_async(&image_shared[row][column],",
            "__pipeline_commit(); __pipeline_wait_prior(0); // everything is there before anyone reads it __syncthreads();",
            "for (int row = 0; row < TY + 4; ++row) {",
            "float image_row[TX + 4];",
            "for (int column = 0; column < TX + 4; column += 4) {",
            "const float4 four = *reinterpret_cast<const float4 *>(&image_shared[y_thread + row][x_thread + column]);",
            "image_row[column + 3] = four.w;",
            "for (int ty = 0; ty < TY; ++ty) { const int dy = row - ty; if (dy >= 0 && dy < 5) {",
            "sum[ty][tx] += filter_constant[dy][dx] * image_row[tx + dx];",
        ],
    );
}

#[test]
fn a_window_that_is_no_multiple_of_a_vector_ends_in_shorter_ones() {
    let source =
        CONV.replace("[5][5]", "[5][7]").replace("dx < 5", "dx < 7").replace("w + 4", "w + 6");
    let schedule =
        format!("{TILED}vectorise x by 4\nstage image pad 2\nunroll dx\nstream dy along y");
    let text = check(&source, &schedule, PLANES);
    has(
        &text,
        &[
            "for (int column = 0; column < 8; column += 4) {",
            "const float2 pair = *reinterpret_cast<const float2 *>(&image_shared[y_thread + row][x_thread + 8]);",
            "image_row[9] = pair.y;",
        ],
    );
    // Rows of an odd length are read one by one.
    let odd = schedule.replace("pad 2", "pad 1");
    let text = check(&source, &odd, PLANES);
    assert!(!text.contains("float2") && !text.contains("float4"), "{text}");
}

#[test]
fn what_is_not_staged_or_not_in_a_row_is_read_where_it_stands() {
    for schedule in [
        // From global memory.
        format!("{TILED}stream dy along y"),
        // The thread's columns are a block apart.
        format!("{TILED}stage image\nstream dy along y"),
        // One column.
        "bind y, x -> y, x block 8x4\nregister_tile y by 3\nstage image\nstream dy along y".into(),
        format!("{TILED}vectorise x by 4\nstage image transposed\nstream dy along y"),
        format!("{TILED}vectorise x by 2\nstage image\nstream dy along y\nbounds peel"),
        // Along the row.
        format!("{TILED}stage image\nstream dx along x"),
        format!("{TILED}stage image\nstream dx along x\nunroll dy\nspecialise w=19"),
    ] {
        let text = check(CONV, &schedule, PLANES);
        has(&text, &["for (int row = 0; row <"]);
    }
}

#[test]
fn strides_dilations_and_reversed_filters_have_rows_of_their_own() {
    let cases = [
        // Two rows from output to output.
        ("image[2 * y + dy][x + dx]", "image[2 * h + 3][w + 4]", "row < 2 * TY + 3"),
        // Two rows from tap to tap: every other row meets an iteration.
        ("image[y + 2 * dy][x + dx]", "image[h + 8][w + 4]", "dy_row % 2 == 0"),
        ("image[2 * y + 3 * dy][x + 2 * dx]", "image[2 * h + 13][w + 8]", "dy_row % 3 == 0"),
        // Later taps read earlier rows: the rows come from the last.
        ("image[y - dy + 4][x + dx]", "image[h + 4][w + 4]", "row - (TY - 1 - ty)"),
        ("image[2 * y - 2 * dy + 8][x - dx + 4]", "image[2 * h + 8][w + 4]", "row - (TY - 1 - ty)"),
    ];
    for (read, declared, wanted) in cases {
        let source =
            CONV.replace("image[y + dy][x + dx]", read).replace("image[h + 4][w + 4]", declared);
        for stage in ["vectorise x by 4\nstage image\n", "stage image\n", ""] {
            let text = check(&source, &format!("{TILED}{stage}stream dy along y"), PLANES);
            has(&text, &[wanted]);
        }
    }
}

#[test]
fn rows_of_signals_and_volumes() {
    let signal = "
void fir(int n, const double signal[n + 11], const double taps[11], double out[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 1; k <= 11; k++)
            sum += taps[k - 1] * signal[i + k];
        out[i] = 0.5 * sum;
    }
}
";
    let signal = signal.replace("n + 11", "n + 12");
    let sizes: Points<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 64)], &[("n", 131)]];
    let text = check(
        &signal,
        "bind i -> x block 32\nregister_tile i by 4\nstage signal async\nstream k along i",
        sizes,
    );
    has(
        &text,
        &[
            "const double signal_row = signal_shared[i_thread + row];",
            "const int k = row - ti + 1; if (k >= 1 && k <= 11) {",
            "sum[ti] += taps[k - 1] * signal_row;",
        ],
    );
    let volume = "
void volume(int c, int h, int w, const float image[c][h + 2][w + 2], const float f[3][3],
            float out[h][w]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float most = -1e30f;
            float sum = 0.0f;
            for (int k = 0; k < c; k++)
                for (int dy = 0; dy < 3; dy++)
                    for (int dx = 0; dx < 3; dx++) {
                        float v = f[dy][dx] * image[k][y + dy][x + dx];
                        most = v > most ? v : most;
                        if (v > 0.0f)
                            sum += v;
                    }
            out[y][x] = most + sum;
        }
}
";
    let sizes: Points<'_> = &[
        &[("c", 0), ("h", 3), ("w", 4)],
        &[("c", 1), ("h", 9), ("w", 33)],
        &[("c", 5), ("h", 17), ("w", 32)],
    ];
    for stage in [
        "stage image at k tile 2\n",
        "stage image at k tile 2\nvectorise x by 4\npipeline k stages 2\n",
        "",
    ] {
        check(
            volume,
            &format!(
                "bind y, x -> y, x block 8x4\nregister_tile y by 2\nregister_tile x by 4\n{stage}stream dy along y"
            ),
            sizes,
        );
    }
}

#[test]
fn streams_are_refused_where_rows_are_not_shared_or_not_known() {
    let with = |steps: &str| format!("bind y, x -> y, x block 8x4\n{steps}");
    let tiled = "register_tile y by 4\n";
    let cases: &[(&str, String, &str)] = &[
        (
            CONV,
            with("stream dy along y"),
            "a thread has one iteration of `y`: take `register_tile` first",
        ),
        (
            CONV,
            with("register_tile y by 4\nstream dx along y"),
            "nothing in it is read at a constant multiple of its counter and that of `y`",
        ),
        (
            CONV,
            with("register_tile y by 4\nstream y along y"),
            "it is no serial loop inside of `y`",
        ),
        (
            CONV,
            with(&format!("{tiled}register_tile x by 2\nstream dy along y\nstream dx along x")),
            "a loop inside of it is streamed already",
        ),
        (
            CONV,
            with(&format!("{tiled}stream dy along y\nsplit dy by 2")),
            "it is streamed through registers as a whole",
        ),
        (
            CONV,
            with(&format!("{tiled}stream dy along y\nvectorise y by 2")),
            "all of a thread's iterations of it are neighbours already",
        ),
        (
            CONV,
            with(&format!("{tiled}stream dy along y\nregister_tile y by 8")),
            "a thread's iterations of `y` must all be neighbours",
        ),
        (
            CONV,
            with(&format!("{tiled}stage image at dy tile 2\nstream dy along y")),
            "an array is staged in strips of it",
        ),
        (
            CONV,
            with(&format!("{tiled}stage image at dy tile 2 async")),
            "strips run ahead with `pipeline`",
        ),
    ];
    for (source, schedule, why) in cases {
        let text = refused_text(source, schedule);
        assert!(text.contains(why), "{schedule}\n{text}");
    }
}

#[test]
fn streams_are_refused_where_loops_have_no_known_rows() {
    let with = |steps: &str| format!("bind y, x -> y, x block 8x4\n{steps}");
    let tiled = "register_tile y by 4\n";
    let edits = [
        ("dy < 5", "dy < w", "nothing in it is read at a constant multiple"),
        ("dy < 5; dy++", "dy < 5; dy += 2", "does not count a variable of its own up by one"),
        ("dy < 5", "dy < 65", "or it has more than 64 iterations"),
    ];
    for (old, new, why) in edits {
        let text =
            refused_text(&CONV.replace(old, new), &with(&format!("{tiled}stream dy along y")));
        assert!(text.contains(why), "{text}");
    }
    // A variable that all of a thread's rows share would be set once for each of them.
    let counted = CONV
        .replace("float sum = 0.0f;", "float sum = 0.0f; int used = 0;")
        .replace("for (int dx", "{ used += filter[dy][0] > 0.0f; for (int dx")
        .replace("image[y + dy][x + dx];", "image[y + dy][x + dx]; }")
        .replace("out[y][x] = sum;", "out[y][x] = sum * used;");
    let text = refused_text(&counted, &with(&format!("{tiled}stream dy along y")));
    assert!(text.contains("it sets `used`, which is the same for all iterations of `y`"), "{text}");
}
