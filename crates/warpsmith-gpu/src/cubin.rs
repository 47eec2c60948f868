//! What a cubin says of its kernels: an ELF file with a section `.text.NAME` for each, attributes in `.nv.info` and
//! `.nv.info.NAME`, and shared memory as `.nv.shared.NAME`.
//!
//! The attributes are not documented; their numbers are those that `cuobjdump -elf` prints.

use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Object, ObjectSection, ObjectSymbol};

/// What one kernel needs. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name in the binary.
    pub symbol: String,
    /// Registers a thread.
    pub registers: u32,
    /// Static shared memory a block, without what the system reserves.
    pub shared: u32,
    /// The stack of a thread: arrays that are not in registers, and spills.
    pub local: u32,
}

/// Registers of a function: symbol number and count, 32 bits each (`EIATTR_REGCOUNT`).
const REGISTERS: u8 = 0x2f;
/// Its stack, likewise (`EIATTR_FRAME_SIZE`).
const FRAME: u8 = 0x11;
/// The form of attributes that have a length and a value behind them (`EIFMT_SVAL`).
const WITH_VALUE: u8 = 4;

/// Shared memory of a block that belongs to the system on compute capability 9.0 and above (CUDA C++ Programming Guide,
/// *Shared Memory*: "1 KB of shared memory is reserved for system use per thread block"), which sections count too.
const RESERVED_SHARED: u64 = 1024;

/// The kernels of a cubin by name; `None` where it is none.
pub fn kernels(binary: &[u8]) -> Option<Vec<Kernel>> {
    let file = ElfFile64::<object::Endianness>::parse(binary).ok()?;
    let symbols: Vec<String> =
        file.symbols().map(|s| s.name().unwrap_or_default().to_string()).collect();
    let mut found = vec![];
    for section in file.sections() {
        let Some(symbol) = section.name().ok().and_then(|n| n.strip_prefix(".text.")) else {
            continue;
        };
        // Device functions that are called have a section too, but no attributes of their own.
        if file.section_by_name(&format!(".nv.info.{symbol}")).is_none() {
            continue;
        }
        let attribute = |which| attribute(&file, &symbols, symbol, which).unwrap_or(0);
        let shared = file.section_by_name(&format!(".nv.shared.{symbol}")).map_or(0, |s| s.size());
        found.push(Kernel {
            symbol: symbol.to_string(),
            registers: attribute(REGISTERS),
            shared: u32::try_from(shared.saturating_sub(reserved(&file))).unwrap_or(u32::MAX),
            local: attribute(FRAME),
        });
    }
    found.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    Some(found)
}

/// A file that has a section of this name keeps memory for the system in each kernel's.
fn reserved(file: &ElfFile64<'_>) -> u64 {
    let system =
        file.sections().any(|s| s.name().is_ok_and(|n| n.starts_with(".nv.shared.reserved")));
    if system { RESERVED_SHARED } else { 0 }
}

fn attribute(file: &ElfFile64<'_>, symbols: &[String], kernel: &str, which: u8) -> Option<u32> {
    let section = file.section_by_name(".nv.info")?;
    let mut rest = section.data().ok()?;
    while let [form, attribute, low, high, behind @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        if *form != WITH_VALUE {
            rest = behind;
            continue;
        }
        let value = behind.get(..length)?;
        rest = &behind[length..];
        if *attribute == which && length >= 8 {
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| value[at + k]));
            // Symbol 0 of the table is the empty one, which the iterator leaves out.
            let name = (word(0) as usize).checked_sub(1).and_then(|k| symbols.get(k));
            if name.is_some_and(|n| n == kernel) {
                return Some(word(4));
            }
        }
    }
    None
}

/// How long an ELF image is by its own headers; `None` where it is none.
pub fn length(binary: &[u8]) -> Option<u64> {
    let header = object::elf::FileHeader64::<object::Endianness>::parse(binary).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.section_headers(endian, binary).ok()?;
    let table = |start: u64, entry: u16, count: u64| start.saturating_add(u64::from(entry) * count);
    let sections_end =
        table(header.e_shoff(endian), header.e_shentsize(endian), sections.len() as u64);
    let segments = u64::from(header.e_phnum(endian));
    let segments_end = table(header.e_phoff(endian), header.e_phentsize(endian), segments);
    let ends = sections.iter().filter_map(|s| {
        let (start, size) = s.file_range(endian)?;
        start.checked_add(size)
    });
    Some(ends.max().unwrap_or(0).max(sections_end).max(segments_end))
}
