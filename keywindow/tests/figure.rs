//! The picture in the README is what the example draws.

#[path = "../examples/figure.rs"]
mod figure;

#[test]
fn the_picture_is_drawn_from_the_windows() {
    let drawn = figure::svg().unwrap();
    assert_eq!(drawn, include_str!("../figure.svg"));
    // 13 native and 8 key windows.
    assert!(drawn.contains("native windows: 13<") && drawn.contains("key windows: 8<"));
}
