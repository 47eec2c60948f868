//! NumPy's `.npy` files (NEP 1): ten or twelve bytes, a dictionary as Python writes it, and the elements.

use std::path::Path;

use warpsmith_ir::Scalar;

/// What a file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// An array of scalars in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Type of the elements.
    pub ty: Scalar,
    /// Extents, the outermost first; empty for a single number.
    pub shape: Vec<u64>,
    /// Little-endian.
    pub bytes: Vec<u8>,
}

/// The dictionary at the beginning of a file.
#[derive(Debug, PartialEq)]
struct Header<'t> {
    /// Byte order, kind and bytes of an element: `<f4`; of records, a list.
    descr: &'t str,
    fortran_order: bool,
    shape: Vec<u64>,
}

/// Reads a `.npy` file of numbers.
///
/// # Errors
/// A sentence: the file cannot be read, is no `.npy` file, is in Fortran order, or holds something else than numbers.
pub fn read_npy(path: &Path) -> Result<Array, String> {
    let name = path.display();
    let content = std::fs::read(path).map_err(|e| {
        format!("cannot read `{name}`: {e} (`@FILE.npy` takes an array that NumPy has saved)")
    })?;
    let (head, data) = parts(&content).ok_or_else(|| format!("`{name}` is not a .npy file"))?;
    let header = header(head).ok_or_else(|| format!("`{name}` is not a .npy file: {head}"))?;
    if header.fortran_order && header.shape.len() > 1 {
        return Err(format!("`{name}` is in Fortran order; save it with numpy.ascontiguousarray"));
    }
    let (ty, swapped) = scalar_of(header.descr).ok_or_else(|| {
        let of = header.descr;
        format!("`{name}` holds elements of type {of}, which is no number type of CUDA")
    })?;
    let width = ty.bytes() as usize;
    let elements = header.shape.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
    let wanted = elements.and_then(|n| usize::try_from(n).ok()?.checked_mul(width));
    let data = wanted.and_then(|n| data.get(..n)).ok_or_else(|| {
        format!(
            "`{name}` is damaged: it has {} bytes of elements, too few for its shape",
            data.len()
        )
    })?;
    let mut bytes = data.to_vec();
    if swapped {
        bytes.chunks_mut(width).for_each(<[u8]>::reverse);
    }
    if ty == Scalar::Bool {
        bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    Ok(Array { ty, shape: header.shape, bytes })
}

/// The dictionary and what follows it.
fn parts(content: &[u8]) -> Option<(&str, &[u8])> {
    let rest = content.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    // The first version had no room for the names of many fields.
    let bytes = if version[0] == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(bytes)?;
    let length = length.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
    let (head, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(head).ok()?, data))
}

/// The three entries, in whatever order.
fn header(text: &str) -> Option<Header<'_>> {
    let after = |key: &str| {
        let quoted = ["'", "\""].map(|q| format!("{q}{key}{q}"));
        let at = quoted.iter().find_map(|k| Some(text.find(k.as_str())? + k.len()))?;
        Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = after("descr")?;
    let descr = match descr.chars().next()? {
        q @ ('\'' | '"') => descr[1..].split(q).next()?,
        // The types of fields: shown as they stand.
        _ => &descr[..=descr.rfind(']')?],
    };
    let order = after("fortran_order")?;
    let shape = after("shape")?.strip_prefix('(')?.split(')').next()?;
    // Python 2 wrote an L behind long numbers.
    let extents = shape.split(',').map(|n| n.trim().trim_end_matches('L'));
    let shape = extents.filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect::<Option<_>>()?;
    Some(Header { descr, fortran_order: order.starts_with("True"), shape })
}

/// The type of elements, and whether their bytes stand the other way round.
fn scalar_of(descr: &str) -> Option<(Scalar, bool)> {
    let swapped = descr.starts_with('>');
    let ty = match descr.trim_start_matches(['<', '>', '|', '=']) {
        "b1" | "?" => Scalar::Bool,
        "i1" => Scalar::I8,
        "u1" => Scalar::U8,
        "i2" => Scalar::I16,
        "u2" => Scalar::U16,
        "i4" => Scalar::I32,
        "u4" => Scalar::U32,
        "i8" => Scalar::I64,
        "u8" => Scalar::U64,
        "f2" => Scalar::F16,
        "f4" => Scalar::F32,
        "f8" => Scalar::F64,
        _ => return None,
    };
    Some((ty, swapped))
}

/// What NumPy calls a type. `bf16` is written as `f32`, which it has.
fn descr(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 => "<i8",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::F32 | Scalar::BF16 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// The content of a `.npy` file.
///
/// # Errors
/// A sentence when the data does not fit the shape.
pub fn write_npy(array: &Array) -> Result<Vec<u8>, String> {
    let elements: u64 = array.shape.iter().product();
    let held = array.bytes.len() as u64;
    if held != elements.saturating_mul(u64::from(array.ty.bytes())) {
        return Err(format!("{held} bytes are not {elements} elements of {:?}", array.ty));
    }
    let extents: Vec<String> = array.shape.iter().map(u64::to_string).collect();
    let comma = if extents.len() == 1 { "," } else { "" };
    let mut head = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        descr(array.ty),
        extents.join(", ")
    );
    let before = MAGIC.len() + 2 + 2;
    let whole = (before + head.len() + 1).next_multiple_of(ALIGNMENT);
    head += &" ".repeat(whole - before - head.len() - 1);
    head.push('\n');
    let length = u16::try_from(head.len()).map_err(|_| "the shape has too many axes")?;
    let mut out = [MAGIC, &[1, 0], &length.to_le_bytes(), head.as_bytes()].concat();
    match array.ty {
        Scalar::BF16 => {
            let halves = array.bytes.chunks_exact(2);
            let numbers = halves.map(|c| half::bf16::from_le_bytes([c[0], c[1]]).to_f32());
            numbers.for_each(|x| out.extend(x.to_le_bytes()));
        }
        _ => out.extend(&array.bytes),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<Array, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        std::fs::write(&path, content).unwrap();
        read_npy(&path).map_err(|e| e.replace(&path.display().to_string(), "a.npy"))
    }

    fn file(version: u8, head: &str, data: &[u8]) -> Vec<u8> {
        let length = (head.len() as u32).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [MAGIC, &[version, 0], length, head.as_bytes(), data].concat()
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (ty, bytes) in
            [(Scalar::F32, 24), (Scalar::U8, 6), (Scalar::F16, 12), (Scalar::I64, 48)]
        {
            let array = Array { ty, shape: vec![2, 3], bytes: (0..bytes).collect() };
            let content = write_npy(&array).unwrap();
            assert_eq!((content.len() - usize::from(bytes)) % ALIGNMENT, 0);
            assert_eq!(read(&content), Ok(array));
        }
        let short = Array { ty: Scalar::F32, shape: vec![2], bytes: vec![0; 4] };
        assert!(write_npy(&short).is_err());
    }

    /// As `numpy.save` writes it.
    #[test]
    fn files_are_numpys() {
        let array = Array { ty: Scalar::I32, shape: vec![2], bytes: vec![1, 0, 0, 0, 2, 0, 0, 0] };
        let head = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
        let head = format!("{head:117}\n");
        assert_eq!(write_npy(&array).unwrap(), file(1, &head, &array.bytes));
        let scalar = Array { ty: Scalar::BF16, shape: vec![], bytes: vec![0x80, 0x3f] };
        let back = read(&write_npy(&scalar).unwrap()).unwrap();
        assert_eq!(
            (back.ty, back.shape, back.bytes),
            (Scalar::F32, vec![], vec![0, 0, 0x80, 0x3f])
        );
    }

    #[test]
    fn other_writers_files_are_read() {
        let head = "{\"shape\": (2L, 1), \"descr\": \">i2\", \"fortran_order\": False}";
        let array = read(&file(2, head, &[1, 2, 3, 4])).unwrap();
        assert_eq!(
            (array.ty, array.shape, array.bytes),
            (Scalar::I16, vec![2, 1], vec![2, 1, 4, 3])
        );
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_npy(&folder.path().join("none.npy")).unwrap_err().contains("cannot read"));
        assert_eq!(read(b"not numpy").unwrap_err(), "`a.npy` is not a .npy file");
        assert_eq!(read(b"\x93NUMPY\x01\x00\xff\xff").unwrap_err(), "`a.npy` is not a .npy file");
        assert!(read(&file(1, "{'descr': 3}", &[])).unwrap_err().contains("is not a .npy file"));
        let of = |descr: &str, order: &str, shape: &str| {
            let head =
                format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
            read(&file(1, &head, &[0; 16])).unwrap_err()
        };
        assert!(of("'<f4'", "True", "(2, 2)").contains("Fortran order"));
        assert!(of("'<c8'", "False", "(2,)").contains("elements of type <c8"));
        let records = of("[('x', '<f4'), ('y', '<f4')]", "False", "(2,)");
        assert!(records.contains("of type [('x', '<f4'), ('y', '<f4')], which"), "{records}");
        assert!(of("'<f4'", "False", "(5,)").contains("is damaged: it has 16 bytes of elements"));
        assert!(of("'<f4'", "False", "(9999999999, 9999999999, 9)").contains("is damaged"));
    }
}
