//! Writes what packages hold beside the program: manual pages and completion scripts.
//!
//!     cargo run -p warpsmith --example manual -- FOLDER

use std::path::Path;

use clap_complete::Shell;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "manual".into());
    let folder = Path::new(&folder);
    let (pages, scripts) = (folder.join("man1"), folder.join("completions"));
    std::fs::create_dir_all(&pages)?;
    std::fs::create_dir_all(&scripts)?;
    let command = warpsmith::cli::command();
    clap_mangen::generate_to(command.clone(), &pages)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut command.clone(), "warpsmith", &scripts)?;
    }
    Ok(())
}
