//! Several aggregates in one pass.

use crate::{Aggregate, Invertible};

macro_rules! tuple {
    ($($name:ident $i:tt),*) => {
        /// All of them, of the same records, in one pass.
        impl<R: ?Sized, $($name: Aggregate<In = R>),*> Aggregate for ($($name,)*) {
            type In = R;
            type Acc = ($($name::Acc,)*);
            type Out = ($($name::Out,)*);

            const COMMUTATIVE: bool = true $(&& $name::COMMUTATIVE)*;

            fn create(&self) -> Self::Acc {
                ($(self.$i.create(),)*)
            }
            #[inline]
            fn add(&self, acc: &mut Self::Acc, record: &R) {
                $(self.$i.add(&mut acc.$i, record);)*
            }
            #[inline]
            fn merge(&self, older: &Self::Acc, newer: &Self::Acc) -> Self::Acc {
                ($(self.$i.merge(&older.$i, &newer.$i),)*)
            }
            fn get(&self, acc: &Self::Acc) -> Self::Out {
                ($(self.$i.get(&acc.$i),)*)
            }
            fn same(&self, a: &Self::Out, b: &Self::Out) -> bool {
                true $(&& self.$i.same(&a.$i, &b.$i))*
            }
        }

        impl<R: ?Sized, $($name: Invertible<In = R>),*> Invertible for ($($name,)*) {
            #[inline]
            fn unmerge(&self, whole: &mut Self::Acc, oldest: &Self::Acc) {
                $(self.$i.unmerge(&mut whole.$i, &oldest.$i);)*
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
