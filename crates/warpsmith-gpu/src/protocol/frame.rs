//! Frames: `WSF1`, the length of the header and the number of blobs (32 bits each), the lengths of the blobs (64 bits
//! each), the header as JSON, the blobs. Numbers are little-endian.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

const MAGIC: &[u8; 4] = b"WSF1";
/// Longest header in bytes.
const MAX_HEADER: u32 = 64 << 20;
const MAX_BLOBS: u32 = 1 << 16;
/// Longest blob in bytes: an array of a problem.
const MAX_BLOB: u64 = 1 << 36;

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What arrived is no frame; what is wrong with it.
    #[error("the other side does not speak the worker's protocol: {0}")]
    Malformed(String),
}

/// A header with its blobs.
pub type Frame<T> = (T, Vec<Vec<u8>>);

/// Writes a frame and flushes.
///
/// # Errors
/// The stream's, among them the other side having gone.
pub fn write<T: Serialize, B: AsRef<[u8]>>(
    to: &mut impl Write,
    header: &T,
    blobs: &[B],
) -> Result<(), FrameError> {
    let header = serde_json::to_vec(header).map_err(|e| FrameError::Malformed(e.to_string()))?;
    let mut start = MAGIC.to_vec();
    start.extend(length(header.len(), MAX_HEADER.into(), "header")?.to_le_bytes());
    start.extend(length(blobs.len(), MAX_BLOBS.into(), "list of blobs")?.to_le_bytes());
    for blob in blobs {
        start.extend((blob.as_ref().len() as u64).to_le_bytes());
    }
    to.write_all(&start)?;
    to.write_all(&header)?;
    for blob in blobs {
        to.write_all(blob.as_ref())?;
    }
    to.flush()?;
    Ok(())
}

fn length(n: usize, most: u64, what: &str) -> Result<u32, FrameError> {
    let fits = u32::try_from(n).ok().filter(|n| u64::from(*n) <= most);
    fits.ok_or_else(|| FrameError::Malformed(format!("a {what} of {n} is too long")))
}

/// Reads a frame; `None` where the stream ends before one.
///
/// # Errors
/// A stream that ends within a frame or that holds something else.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<Frame<T>>, FrameError> {
    let mut start = [0u8; 12];
    if !fill_or_end(from, &mut start)? {
        return Ok(None);
    }
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| start[at + k]));
    if &start[..4] != MAGIC {
        let seen = String::from_utf8_lossy(&start).into_owned();
        return Err(FrameError::Malformed(format!("it says {seen:?}")));
    }
    let (header, blobs) = (word(4), word(8));
    if header > MAX_HEADER || blobs > MAX_BLOBS {
        return Err(FrameError::Malformed("a length is out of range".into()));
    }
    let mut lengths = vec![];
    for _ in 0..blobs {
        let mut bytes = [0u8; 8];
        from.read_exact(&mut bytes)?;
        lengths.push(u64::from_le_bytes(bytes));
    }
    let header = take(from, header.into())?;
    let value = serde_json::from_slice(&header)
        .map_err(|e| FrameError::Malformed(format!("its header: {e}")))?;
    let blobs = lengths.into_iter().map(|n| take(from, n)).collect::<Result<_, _>>()?;
    Ok(Some((value, blobs)))
}

/// Exactly so many bytes. Memory grows with what has arrived, so that a wrong length asks for none.
fn take(from: &mut impl Read, count: u64) -> Result<Vec<u8>, FrameError> {
    if count > MAX_BLOB {
        return Err(FrameError::Malformed(format!("a length of {count} is out of range")));
    }
    let mut bytes = vec![];
    let got = from.take(count).read_to_end(&mut bytes)?;
    if got as u64 != count {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(bytes)
}

/// Fills the buffer; false where the stream was at its end.
fn fill_or_end(from: &mut impl Read, buffer: &mut [u8]) -> Result<bool, FrameError> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) if got == 0 => return Ok(false),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(header: Vec<String>, blobs: Vec<Vec<u8>>) {
            let mut bytes = vec![];
            write(&mut bytes, &header, &blobs).unwrap();
            write(&mut bytes, &header, &blobs).unwrap();
            let mut at = &bytes[..];
            for _ in 0..2 {
                let got: (Vec<String>, _) = read(&mut at).unwrap().unwrap();
                prop_assert_eq!(&got, &(header.clone(), blobs.clone()));
            }
            prop_assert!(read::<Vec<String>>(&mut at).unwrap().is_none());
        }

        #[test]
        fn a_frame_cut_short_is_an_error(cut in 1usize..40) {
            let mut bytes = vec![];
            write(&mut bytes, &"header", &[b"0123456789abcdef"]).unwrap();
            bytes.truncate(bytes.len() - cut.min(bytes.len() - 1));
            prop_assert!(read::<String>(&mut &bytes[..]).is_err());
        }

        #[test]
        fn noise_is_refused_and_asks_for_no_memory(mut noise: Vec<u8>, framed: bool) {
            if framed {
                noise.splice(0..0, MAGIC.iter().copied());
            }
            prop_assume!(!noise.is_empty());
            prop_assert!(read::<String>(&mut &noise[..]).is_err());
        }
    }

    #[test]
    fn text_in_place_of_a_frame_is_shown() {
        let text = &b"srun: error: no such partition"[..];
        let error = read::<String>(&mut &text[..]).unwrap_err().to_string();
        assert!(error.contains("srun: error"), "{error}");
    }
}
