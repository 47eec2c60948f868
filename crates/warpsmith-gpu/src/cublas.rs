//! cuBLAS, loaded at run time: how fast the vendor's library computes a product.

use std::ffi::c_int;

use cudarc::cublas::{result, sys};

use crate::driver::Buffer;
use crate::error::GpuError;
use crate::places::Places;
use crate::protocol::{Product, Real};

/// The library with its workspace on the device whose context is current.
pub struct Cublas {
    handle: sys::cublasHandle_t,
}

impl Cublas {
    /// Finds and loads the library: the loader's places first, then those of [`Places`].
    ///
    /// # Errors
    /// It is not there, or does not start.
    pub fn load(places: &Places) -> Result<Cublas, GpuError> {
        if !(present() || places.open_together(["libcublasLt.so", "libcublas.so"]) && present()) {
            return Err(GpuError::Absent {
                what: "cuBLAS (libcublas.so)",
                hint: "install the CUDA toolkit or the Python package nvidia-cublas".into(),
            });
        }
        Ok(Cublas { handle: result::create_handle().map_err(refused)? })
    }

    /// Starts `c = a * b` on the default stream, in the precision of the elements (no TF32).
    ///
    /// The library's matrices are stored by columns and ours by rows, so it is asked for the transposed product of the
    /// transposed matrices.
    ///
    /// # Errors
    /// A matrix is smaller than the product needs, or the library's own.
    pub fn multiply(&self, p: &Product, [a, b, c]: [&Buffer; 3]) -> Result<(), GpuError> {
        let fits = p.bytes().into_iter().zip([a, b, c]).all(|(bytes, of)| of.len() >= bytes);
        let extent = |n: u32| c_int::try_from(n).ok().filter(|n| *n > 0);
        let extents = (extent(p.rows), extent(p.columns), extent(p.terms));
        let (true, (Some(rows), Some(columns), Some(terms))) = (fits, extents) else {
            return Err(GpuError::BadRequest("matrices that do not fit the product".into()));
        };
        let op = |transposed: bool| match transposed {
            true => sys::cublasOperation_t::CUBLAS_OP_T,
            false => sys::cublasOperation_t::CUBLAS_OP_N,
        };
        let (left, right) = (op(p.left_transposed), op(p.right_transposed));
        let lda = if p.left_transposed { rows } else { terms };
        let ldb = if p.right_transposed { terms } else { columns };
        let [a, b, c] = [a, b, c].map(Buffer::address);
        // SAFETY: the matrices are in memory of the device and as large as the extents say.
        let done = unsafe {
            match p.element {
                Real::F32 => result::sgemm(
                    self.handle,
                    right,
                    left,
                    columns,
                    rows,
                    terms,
                    &1.0,
                    b as *const f32,
                    ldb,
                    a as *const f32,
                    lda,
                    &0.0,
                    c as *mut f32,
                    columns,
                ),
                Real::F64 => result::dgemm(
                    self.handle,
                    right,
                    left,
                    columns,
                    rows,
                    terms,
                    &1.0,
                    b as *const f64,
                    ldb,
                    a as *const f64,
                    lda,
                    &0.0,
                    c as *mut f64,
                    columns,
                ),
            }
        };
        done.map_err(refused)
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: made in `load`.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

fn present() -> bool {
    // SAFETY: opens a library and looks at nothing in it.
    unsafe { sys::is_culib_present() }
}

fn refused(error: result::CublasError) -> GpuError {
    GpuError::Refused(format!("cuBLAS: {error}"))
}
