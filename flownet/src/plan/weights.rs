//! Whole numbers in proportion, by largest remainder.

use alloc::vec::Vec;

/// Gives `slots` out in proportion to `parts`: each share rounded down, and one more for the largest
/// remainders, the first of equal ones. Exact, whatever the parts; they should add up to less than
/// 2^127, and are halved until they do. All zeros if the parts are. O(d log d).
///
/// ```
/// assert_eq!(flownet::largest_remainder(&[1, 1, 1], 10), [4, 3, 3]);
/// ```
#[must_use]
pub fn largest_remainder(parts: &[u128], slots: u32) -> Vec<u32> {
    let mut shift = 0;
    let total = loop {
        let mut sum = Some(0_u128);
        for &part in parts {
            sum = sum.and_then(|sum| sum.checked_add(part >> shift));
        }
        match sum {
            Some(sum) if sum < 1 << 127 => break sum,
            _ => shift += 1,
        }
    };
    if total == 0 {
        return alloc::vec![0; parts.len()];
    }
    let mut weights = Vec::with_capacity(parts.len());
    let mut rests: Vec<(u128, usize)> = Vec::with_capacity(parts.len());
    let mut left = slots;
    for (index, &part) in parts.iter().enumerate() {
        let (weight, rest) = quotient(part >> shift, slots, total);
        left -= weight;
        weights.push(weight);
        rests.push((rest, index));
    }
    rests.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, index) in rests.iter().take(left as usize) {
        weights[index] += 1;
    }
    weights
}

/// `part · slots` divided by `total`, and the rest, bit by bit: the product may have 160 bits.
fn quotient(part: u128, slots: u32, total: u128) -> (u32, u128) {
    // At most `slots`, as no part is more than all.
    let (mut whole, mut rest) = (0_u32, 0_u128);
    for bit in (0..32).rev() {
        whole <<= 1;
        rest <<= 1;
        if rest >= total {
            rest -= total;
            whole += 1;
        }
        if slots >> bit & 1 == 1 {
            rest += part;
            if rest >= total {
                rest -= total;
                whole += 1;
            }
        }
    }
    (whole, rest)
}
