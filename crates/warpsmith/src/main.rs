//! The `warpsmith` command.

use warpsmith::allocator::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() {
    std::process::exit(warpsmith::cli::run(std::env::args_os()).code());
}
