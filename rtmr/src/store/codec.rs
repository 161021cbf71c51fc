//! Values as bytes: little-endian, the same on every platform.

/// A type that can be written to bytes and read back.
///
/// What `encode` writes, `decode` reads to an equal value and takes no byte more. `decode` gets
/// bytes that passed a checksum, yet must refuse what it did not write: no panic, and no more
/// memory than the bytes can stand for.
pub trait Codec: Sized {
    /// The least bytes a value takes: bounds how many can be in a given length.
    const LEAST: usize;

    /// Appends the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Takes a value off the front; `None` if the bytes are not one.
    fn decode(from: &mut &[u8]) -> Option<Self>;
}

/// Takes `n` bytes off the front.
pub(crate) fn take<'a>(from: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(head)
}

/// Appends a number in as few bytes as it needs, seven bits each, low ones first.
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes such a number; `None` if it is cut off, over 64 bits, or longer than need be.
pub(crate) fn varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(from, 1)?[0];
        let bits = u64::from(byte & 0x7F);
        if (shift == 63 && bits > 1) || (byte == 0 && shift > 0) {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Codec for $number {
            const LEAST: usize = size_of::<$number>();

            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn decode(from: &mut &[u8]) -> Option<Self> {
                let bytes = take(from, size_of::<$number>())?;
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

impl Codec for () {
    const LEAST: usize = 0;

    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl Codec for bool {
    const LEAST: usize = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        match take(from, 1)?[0] {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// Bytes of a fixed number, as they are.
impl<const N: usize> Codec for [u8; N] {
    const LEAST: usize = N;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        take(from, N)?.try_into().ok()
    }
}

impl Codec for String {
    const LEAST: usize = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(self.len() as u64, out);
        out.extend_from_slice(self.as_bytes());
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(varint(from)?).ok()?;
        String::from_utf8(take(from, len)?.to_vec()).ok()
    }
}

impl<T: Codec> Codec for Option<T> {
    const LEAST: usize = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        if bool::decode(from)? { T::decode(from).map(Some) } else { Some(None) }
    }
}

/// A length, then the values. Values that may take no byte are followed by one each, so that a
/// short input cannot stand for a long list.
impl<T: Codec> Codec for Vec<T> {
    const LEAST: usize = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(self.len() as u64, out);
        for value in self {
            value.encode(out);
            if T::LEAST == 0 {
                out.push(0);
            }
        }
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(varint(from)?).ok()?;
        if len > from.len() / T::LEAST.max(1) {
            return None;
        }
        let mut list = Vec::with_capacity(len);
        for _ in 0..len {
            list.push(T::decode(from)?);
            if T::LEAST == 0 && take(from, 1)? != [0] {
                return None;
            }
        }
        Some(list)
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        #[allow(non_snake_case, reason = "a variable named as its type")]
        impl<$($name: Codec),+> Codec for ($($name,)+) {
            const LEAST: usize = 0 $(+ $name::LEAST)+;

            fn encode(&self, out: &mut Vec<u8>) {
                let ($($name,)+) = self;
                $($name.encode(out);)+
            }

            fn decode(from: &mut &[u8]) -> Option<Self> {
                Some(($($name::decode(from)?,)+))
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
