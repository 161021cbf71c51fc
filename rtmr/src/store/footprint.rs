//! What a value holds in memory, so that a budget can be kept.

/// A type that knows how much memory its values hold beside themselves.
pub trait Footprint {
    /// Whether no value of the type ever holds any: lists of it are counted without being read.
    const FLAT: bool = false;

    /// Bytes on the heap, those of the allocator's bookkeeping included; see [`allocation`].
    fn heap(&self) -> usize;
}

/// What an allocator takes for a request of `bytes`: a header of eight, in steps of sixteen,
/// 32 at least, as common ones do; nothing for nothing.
#[must_use]
pub const fn allocation(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let whole = bytes.saturating_add(8 + 15) & !15;
    if whole < 32 { 32 } else { whole }
}

macro_rules! flat {
    ($($name:ty),*) => {$(
        impl Footprint for $name {
            const FLAT: bool = true;

            fn heap(&self) -> usize {
                0
            }
        }
    )*};
}

flat!((), bool, char, u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

impl<T: Footprint, const N: usize> Footprint for [T; N] {
    const FLAT: bool = T::FLAT;

    fn heap(&self) -> usize {
        if T::FLAT { 0 } else { self.iter().map(T::heap).sum() }
    }
}

impl Footprint for String {
    fn heap(&self) -> usize {
        allocation(self.capacity())
    }
}

impl<T: Footprint> Footprint for Option<T> {
    const FLAT: bool = T::FLAT;

    fn heap(&self) -> usize {
        self.as_ref().map_or(0, T::heap)
    }
}

/// O(1) for a flat type, O(length) otherwise.
impl<T: Footprint> Footprint for Vec<T> {
    fn heap(&self) -> usize {
        let held = if T::FLAT { 0 } else { self.iter().map(T::heap).sum() };
        allocation(self.capacity() * size_of::<T>()) + held
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        #[allow(non_snake_case, reason = "a variable named as its type")]
        impl<$($name: Footprint),+> Footprint for ($($name,)+) {
            const FLAT: bool = $($name::FLAT)&&+;

            fn heap(&self) -> usize {
                let ($($name,)+) = self;
                0 $(+ $name.heap())+
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
