//! Emitted test programs, built for the processor, with the emulator as their device.
//!
//! The text is the emitted one; only the kernel's file, which no host compiler reads, gives way to its header, and
//! `cuda_runtime.h` beside this file to CUDA's. A launch goes to [`Device`], which runs the kernel's text, mine or a
//! changed one: one build serves all faults of a case.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use warpsmith::tune::faults::{ArgBytes, Device};

/// A test program that takes longer is in an infinite loop.
const PATIENCE: Duration = Duration::from_secs(60);
/// CUDA's number for a failed launch.
const LAUNCH_FAILURE: i32 = 719;

/// A built test program.
pub struct HostBuild {
    program: PathBuf,
}

/// What a run said.
pub struct Said {
    /// Exit status; `None` where it did not end.
    pub status: Option<i32>,
    pub text: String,
    /// Why the device reported an error.
    pub error: Option<String>,
    pub races: Vec<String>,
}

impl HostBuild {
    /// Builds the test program of the function `name` in a folder of its own.
    pub fn new(folder: &Path, name: &str, header: &str, test: &str) -> HostBuild {
        std::fs::create_dir_all(folder).expect("a writable folder");
        let write = |file: &str, text: &str| {
            std::fs::write(folder.join(file), text).expect("a writable folder");
        };
        write("cuda_runtime.h", include_str!("cuda_runtime.h"));
        write("cuda_runtime_api.h", "#include \"cuda_runtime.h\"\n");
        write(&format!("{name}.h"), header);
        let included =
            test.replace(&format!("#include \"{name}.cu\""), &format!("#include \"{name}.h\""));
        assert_ne!(included, test, "the test program includes the kernel's file");
        let source = format!("#include <cuda_runtime.h>\n{included}\n{}", stubs(header));
        write("test.cpp", &source);
        let program = folder.join("test");
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_string());
        let options = ["-std=c++17", "-O1", "-pthread", "-I.", "-o", "test", "test.cpp"];
        let output = Command::new(compiler).args(options).current_dir(folder).output();
        let output = output.expect("a C++ compiler");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{name}: the host compiler refuses the test program:\n{said}"
        );
        HostBuild { program }
    }

    /// Runs it on a device. `id` tells runs side by side apart.
    pub fn run(&self, device: &Device<'_>, id: usize) -> Said {
        let socket = self.program.with_file_name(format!("{id}.sock"));
        let listener = UnixListener::bind(&socket).expect("a socket");
        listener.set_nonblocking(true).expect("a socket");
        let child = Command::new(&self.program)
            .env("EMULATED_DEVICE", &socket)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the test program starts");
        let mut said = Said { status: None, text: String::new(), error: None, races: vec![] };
        serve(&listener, child, device, &mut said);
        let _ = std::fs::remove_file(&socket);
        said
    }
}

fn serve(listener: &UnixListener, mut child: Child, device: &Device<'_>, said: &mut Said) {
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((mut stream, _)) => {
                stream.set_nonblocking(false).expect("a socket");
                let _ = answer(&mut stream, device, said);
            }
            Err(_) => {
                if let Some(status) = child.try_wait().expect("a child") {
                    said.status = status.code();
                    break;
                }
                if start.elapsed() > PATIENCE {
                    let _ = child.kill();
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    let output = child.wait_with_output().expect("a child");
    said.text = [output.stdout, output.stderr].iter().map(|b| String::from_utf8_lossy(b)).collect();
}

/// One launch: arguments in, contents of arrays out.
fn answer(stream: &mut UnixStream, device: &Device<'_>, said: &mut Said) -> std::io::Result<()> {
    let mut count = [0u8; 4];
    stream.read_exact(&mut count)?;
    let mut args = vec![];
    for _ in 0..u32::from_le_bytes(count) {
        let (mut kind, mut length) = ([0u8; 1], [0u8; 8]);
        stream.read_exact(&mut kind)?;
        stream.read_exact(&mut length)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        stream.read_exact(&mut bytes)?;
        args.push(if kind == [1] { ArgBytes::Array(bytes) } else { ArgBytes::Value(bytes) });
    }
    if device.returns() {
        args.pop();
    }
    let launched = device.launch(&args);
    said.races.extend(launched.races);
    if let Some(error) = launched.error {
        said.error.get_or_insert(error);
        return stream.write_all(&LAUNCH_FAILURE.to_le_bytes());
    }
    stream.write_all(&0i32.to_le_bytes())?;
    launched.arrays.iter().try_for_each(|bytes| stream.write_all(bytes))
}

/// Definitions of what the header declares.
fn stubs(header: &str) -> String {
    let code: String =
        header.lines().filter(|l| !l.starts_with("//") && !l.starts_with('#')).collect();
    let mut text = String::new();
    for declaration in code.split(';') {
        let Some((head, rest)) = declaration.split_once('(') else { continue };
        // The function for arrays of the host is not called.
        if head.ends_with("_host") {
            continue;
        }
        let params = rest.trim().trim_end_matches(')');
        let names = params.split(',').map(|p| p.rsplit([' ', '*']).next().unwrap_or_default());
        let names: Vec<&str> = names.collect();
        let value = match head.trim().ends_with("_launch") {
            true => format!("emulated::launch({})", names.join(", ")),
            false => "1".to_string(),
        };
        text += &format!("{head}({params}) {{ return {value}; }}\n");
    }
    text
}
