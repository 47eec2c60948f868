//! Prints the random C program of a seed, or with a second word the random kernel (`kernel`, `c` for its C, `threads`):
//! `cargo run -p warpsmith-testgen --example print -- 42 kernel`.

fn main() {
    let seed: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes: Vec<u8> = (0..2000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect();
    match std::env::args().nth(2).as_deref() {
        Some("c") => {
            print!("{}{}", warpsmith_testgen::c_prelude(), kernel(&bytes).c);
        }
        Some("threads") => print!("{}", warpsmith_testgen::cuda_threads(&bytes)),
        Some(_) => print!("{}", kernel(&bytes).cuda),
        None => print!("{}", warpsmith_testgen::c_program(&bytes[..600])),
    }
}

fn kernel(bytes: &[u8]) -> warpsmith_testgen::CudaKernel {
    warpsmith_testgen::cuda_kernel(bytes, "reference")
}
