//! NumPy's `.npy` files, through the `npyz` crate.

use std::path::Path;

use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder};
use warpsmith_ir::Scalar;

/// An array of scalars in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub ty: Scalar,
    pub shape: Vec<u64>,
    /// Little-endian.
    pub bytes: Vec<u8>,
}

/// Reads a `.npy` file of numbers.
///
/// # Errors
/// A sentence: the file cannot be read, is no `.npy` file, is in Fortran order, or holds something else than numbers.
pub fn read_npy(path: &Path) -> Result<Array, String> {
    let name = path.display();
    let content = std::fs::read(path).map_err(|e| format!("cannot read `{name}`: {e}"))?;
    let file =
        NpyFile::new(&content[..]).map_err(|e| format!("`{name}` is not a .npy file: {e}"))?;
    if file.order() != Order::C && file.shape().len() > 1 {
        return Err(format!("`{name}` is in Fortran order; save it with numpy.ascontiguousarray"));
    }
    let shape = file.shape().to_vec();
    let ty = scalar_of(&file.dtype()).ok_or_else(|| {
        format!(
            "`{name}` holds elements of type {}, which is no number type of CUDA",
            file.dtype().descr()
        )
    })?;
    let bytes = read_data(file, ty).map_err(|e| format!("`{name}` is damaged: {e}"))?;
    Ok(Array { ty, shape, bytes })
}

fn read_data(file: NpyFile<&[u8]>, ty: Scalar) -> std::io::Result<Vec<u8>> {
    macro_rules! read_as {
        ($t:ty) => {{
            let mut bytes = vec![];
            for item in file.data::<$t>().map_err(|e| std::io::Error::other(e.to_string()))? {
                bytes.extend_from_slice(&item?.to_le_bytes());
            }
            Ok(bytes)
        }};
    }
    match ty {
        Scalar::Bool => {
            let data = file.data::<bool>().map_err(|e| std::io::Error::other(e.to_string()))?;
            data.map(|b| b.map(u8::from)).collect()
        }
        Scalar::I8 => read_as!(i8),
        Scalar::U8 => read_as!(u8),
        Scalar::I16 => read_as!(i16),
        Scalar::U16 => read_as!(u16),
        Scalar::I32 => read_as!(i32),
        Scalar::U32 => read_as!(u32),
        Scalar::I64 => read_as!(i64),
        Scalar::U64 => read_as!(u64),
        Scalar::F16 | Scalar::BF16 => read_as!(half::f16),
        Scalar::F32 => read_as!(f32),
        Scalar::F64 => read_as!(f64),
    }
}

fn scalar_of(dtype: &DType) -> Option<Scalar> {
    let DType::Plain(t) = dtype else { return None };
    Some(match (t.type_char(), t.size_field()) {
        (TypeChar::Bool, _) => Scalar::Bool,
        (TypeChar::Int, 1) => Scalar::I8,
        (TypeChar::Int, 2) => Scalar::I16,
        (TypeChar::Int, 4) => Scalar::I32,
        (TypeChar::Int, 8) => Scalar::I64,
        (TypeChar::Uint, 1) => Scalar::U8,
        (TypeChar::Uint, 2) => Scalar::U16,
        (TypeChar::Uint, 4) => Scalar::U32,
        (TypeChar::Uint, 8) => Scalar::U64,
        (TypeChar::Float, 2) => Scalar::F16,
        (TypeChar::Float, 4) => Scalar::F32,
        (TypeChar::Float, 8) => Scalar::F64,
        _ => return None,
    })
}

/// The content of a `.npy` file. `bf16` is written as `f32`, which NumPy has.
///
/// # Errors
/// A sentence when the data does not fit the shape.
pub fn write_npy(array: &Array) -> Result<Vec<u8>, String> {
    macro_rules! write_as {
        ($t:ty, $n:literal) => {
            write_items(
                &array.shape,
                array.bytes.chunks_exact($n).map(|c| {
                    let mut b = [0u8; $n];
                    b.copy_from_slice(c);
                    <$t>::from_le_bytes(b)
                }),
            )
        };
    }
    let written = match array.ty {
        Scalar::Bool => write_items(&array.shape, array.bytes.iter().map(|b| *b != 0)),
        Scalar::I8 => write_as!(i8, 1),
        Scalar::U8 => write_as!(u8, 1),
        Scalar::I16 => write_as!(i16, 2),
        Scalar::U16 => write_as!(u16, 2),
        Scalar::I32 => write_as!(i32, 4),
        Scalar::U32 => write_as!(u32, 4),
        Scalar::I64 => write_as!(i64, 8),
        Scalar::U64 => write_as!(u64, 8),
        Scalar::F16 => write_as!(half::f16, 2),
        Scalar::BF16 => write_items(
            &array.shape,
            array.bytes.chunks_exact(2).map(|c| half::bf16::from_le_bytes([c[0], c[1]]).to_f32()),
        ),
        Scalar::F32 => write_as!(f32, 4),
        Scalar::F64 => write_as!(f64, 8),
    };
    written.map_err(|e| e.to_string())
}

fn write_items<T: npyz::AutoSerialize>(
    shape: &[u64],
    items: impl Iterator<Item = T>,
) -> std::io::Result<Vec<u8>> {
    let mut out = vec![];
    let builder = npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut out);
    let mut writer = builder.begin_nd()?;
    writer.extend(items)?;
    writer.finish()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (ty, bytes) in
            [(Scalar::F32, 24), (Scalar::U8, 6), (Scalar::F16, 12), (Scalar::I64, 48)]
        {
            let array = Array { ty, shape: vec![2, 3], bytes: (0..bytes).collect() };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.npy");
            std::fs::write(&path, write_npy(&array).unwrap()).unwrap();
            assert_eq!(read_npy(&path), Ok(array));
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        std::fs::write(&path, b"not numpy").unwrap();
        assert!(read_npy(&path).unwrap_err().contains("is not a .npy file"));
        assert!(read_npy(&folder.path().join("none.npy")).unwrap_err().contains("cannot read"));
    }
}
