//! What somebody meant who wrote a name that there is not. The library and the binary each compile this
//! file: it is no part of the public face.

/// The one of `names` that is nearest to `name`, where it is near at all.
#[must_use]
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 2).max(1);
    let near = names.map(|other| (distance(name, other), other));
    near.filter(|&(far, _)| far <= limit).min().map(|(_, other)| other)
}

/// Edits (insert, delete, replace) from one name to the other. O(|a| · |b|).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["lines", "split", "count"];
        assert_eq!(nearest("spilt", names.into_iter()), Some("split"));
        assert_eq!(nearest("conut", names.into_iter()), Some("count"));
        assert_eq!(nearest("x", names.into_iter()), None);
    }
}
