//! The `warpsmith` command.

fn main() {
    std::process::exit(warpsmith::cli::run(std::env::args_os()).code());
}
