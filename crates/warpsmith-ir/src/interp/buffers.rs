//! What is known of some of the buffers: looked up at every access, so it is no map.

/// A value for some of the buffers, by their numbers.
#[derive(Clone, Debug)]
pub struct ByBuffer<V>(Vec<Option<V>>);

/// Some of the buffers.
pub type BufferSet = ByBuffer<()>;

impl<V> Default for ByBuffer<V> {
    fn default() -> ByBuffer<V> {
        ByBuffer(vec![])
    }
}

impl<V> ByBuffer<V> {
    /// Whether the buffer has a value.
    pub fn contains(&self, buffer: usize) -> bool {
        self.get(buffer).is_some()
    }

    /// Whether no buffer has one.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The value of a buffer.
    pub fn get(&self, buffer: usize) -> Option<&V> {
        self.0.get(buffer)?.as_ref()
    }

    /// The value of a buffer, to be changed.
    pub fn get_mut(&mut self, buffer: usize) -> Option<&mut V> {
        self.0.get_mut(buffer)?.as_mut()
    }

    /// Gives a buffer a value.
    pub fn insert(&mut self, buffer: usize, value: V) {
        if self.0.len() <= buffer {
            self.0.resize_with(buffer + 1, || None);
        }
        self.0[buffer] = Some(value);
    }

    /// Takes the value of a buffer away.
    pub fn remove(&mut self, buffer: usize) -> Option<V> {
        self.0.get_mut(buffer)?.take()
    }
}

impl FromIterator<usize> for BufferSet {
    fn from_iter<I: IntoIterator<Item = usize>>(buffers: I) -> BufferSet {
        let mut set = BufferSet::default();
        buffers.into_iter().for_each(|buffer| set.insert(buffer, ()));
        set
    }
}
