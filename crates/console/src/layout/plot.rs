//! Plots as inline pictures: bars over time, in whole numbers.

use std::fmt::Write as _;

/// One bar.
pub(crate) struct Bar {
    /// What is said of it when it is pointed at.
    pub(crate) title: String,
    pub(crate) value: i128,
}

/// Drawn on a ground of this size, which the page stretches.
const WIDTH: i128 = 1_200;
const HEIGHT: i128 = 200;

/// The bars as a picture; the highest reaches `most`, or its own height if there is none.
pub(crate) fn bars(bars: &[Bar], most: Option<i128>) -> String {
    let most = most.unwrap_or_else(|| bars.iter().map(|bar| bar.value).max().unwrap_or(0)).max(1);
    let count = i128::try_from(bars.len()).unwrap_or(1).max(1);
    let slot = WIDTH.checked_div(count).unwrap_or(WIDTH);
    let gap = (slot / 5).max(1);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-hidden=\"true\">\
         <line x1=\"0\" y1=\"{HEIGHT}\" x2=\"{WIDTH}\" y2=\"{HEIGHT}\"/>"
    );
    for (place, bar) in (0_i128..).zip(bars) {
        let x = place.saturating_mul(slot);
        let height = bar.value.max(0).saturating_mul(HEIGHT).checked_div(most).unwrap_or(0).min(HEIGHT);
        // What is not nothing is seen.
        let height = if bar.value > 0 { height.max(2) } else { 0 };
        let (y, inner) = (HEIGHT.saturating_sub(height), slot.saturating_sub(gap));
        let title = escaped(&bar.title);
        // Writing to a text cannot fail.
        let _ = write!(
            svg,
            "<g><title>{title}</title><rect class=\"ground\" x=\"{x}\" y=\"0\" width=\"{slot}\" height=\"{HEIGHT}\"/>\
             <rect class=\"value\" x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{height}\"/></g>"
        );
    }
    svg.push_str("</svg>");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_fills_the_ground() {
        let bar = |value| Bar { title: "a <b>".to_owned(), value };
        let svg = bars(&[bar(0), bar(5), bar(10), bar(i128::from(i64::MAX))], Some(10));
        assert!(svg.contains("height=\"100\"/></g>") && svg.contains("a &lt;b&gt;"), "{svg}");
        assert_eq!(svg.matches("class=\"value\"").count(), 4);
        assert!(bars(&[], None).ends_with("</svg>"));
    }
}
