//! How keys and partial results become bytes.

use alloc::string::String;
use alloc::vec::Vec;

use super::RestoreError;
use crate::aggregates::{Compensated, Moments, Total, Wide};

/// A type whose values become bytes and come back.
///
/// `decode` must take what `encode` wrote, to the byte, and give an equal value; a value must always
/// have the same bytes. It must refuse what it cannot read by [`Input::corrupt`], and not allocate by a
/// length that it has read before the bytes are there: [`Input::count`] and [`Input::take`] see to that.
///
/// ```
/// use keywindow::{Codec, Input, RestoreError};
///
/// struct Point { x: f64, y: f64 }
///
/// impl Codec for Point {
///     fn encode(&self, out: &mut Vec<u8>) {
///         (self.x, self.y).encode(out);
///     }
///     fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
///         let (x, y) = Codec::decode(input)?;
///         Ok(Self { x, y })
///     }
/// }
/// ```
pub trait Codec: Sized {
    /// Appends the bytes of the value: at least one.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// [`RestoreError::Corrupt`] for bytes that `encode` does not write.
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError>;
}

/// Bytes that are read from the front.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// [`RestoreError::Corrupt`] where there are fewer.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], RestoreError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.get(..count) else { return Err(self.corrupt()) };
        self.at += count;
        Ok(taken)
    }

    /// The number of things that follow, none of which has less than a byte.
    ///
    /// # Errors
    ///
    /// [`RestoreError::Corrupt`] where there are fewer bytes than that.
    pub fn count(&mut self) -> Result<u64, RestoreError> {
        let count = u64::decode(self)?;
        if count > (self.bytes.len() - self.at) as u64 { Err(self.corrupt()) } else { Ok(count) }
    }

    /// The error for what was read last.
    #[must_use]
    pub const fn corrupt(&self) -> RestoreError {
        RestoreError::Corrupt { at: self.at }
    }

    pub(super) const fn finish(&self) -> Result<(), RestoreError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.corrupt()) }
    }
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Codec for $t {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
                let bytes = input.take(size_of::<$t>())?;
                bytes.try_into().map(<$t>::from_le_bytes).map_err(|_| input.corrupt())
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

impl Codec for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
        match u8::decode(input)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(input.corrupt()),
        }
    }
}

impl Codec for char {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::from(*self).encode(out);
    }
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
        Self::from_u32(u32::decode(input)?).ok_or_else(|| input.corrupt())
    }
}

impl Codec for String {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
        let len = input.count()?;
        let bytes = input.take(usize::try_from(len).map_err(|_| input.corrupt())?)?;
        core::str::from_utf8(bytes).map(Self::from).map_err(|_| input.corrupt())
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|item| item.encode(out));
    }
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
        // Not allocated at once: items may be larger than their bytes.
        let mut items = Self::new();
        for _ in 0..input.count()? {
            items.push(T::decode(input)?);
        }
        Ok(items)
    }
}

impl<T: Codec> Codec for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
        Ok(if bool::decode(input)? { Some(T::decode(input)?) } else { None })
    }
}

macro_rules! tuples {
    ($($name:ident $i:tt),*) => {
        impl<$($name: Codec),*> Codec for ($($name,)*) {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$i.encode(out);)*
            }
            #[inline]
            fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
                Ok(($($name::decode(input)?,)*))
            }
        }
    };
}

tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// A type as another that has a codec.
macro_rules! through {
    ($t:ty as $other:ty, $to:expr, $from:expr) => {
        impl Codec for $t {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                let to: fn($t) -> $other = $to;
                to(*self).encode(out);
            }
            #[inline]
            fn decode(input: &mut Input<'_>) -> Result<Self, RestoreError> {
                let from: fn($other) -> $t = $from;
                <$other>::decode(input).map(from)
            }
        }
    };
}

through!(Wide as i128, i128::from, Wide::from);
through!(Total as f64, |total| total.0, Total);
through!(Compensated as (f64, f64), Compensated::into_parts, Compensated::from_parts);
through!(Moments as (u64, f64, f64), |m| (m.count, m.mean, m.squares), |(count, mean, squares)| {
    Moments { count, mean, squares }
});
