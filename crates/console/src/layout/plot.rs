//! Plots as inline pictures: bars over time, in whole numbers.

use std::fmt::Write as _;

/// One bar.
pub(crate) struct Bar {
    /// What is said of it when it is pointed at.
    pub(crate) title: String,
    pub(crate) value: i128,
    /// The same of the time before, marked by a line.
    pub(crate) before: i128,
}

/// Drawn on a ground of this size, which the page stretches.
const WIDTH: i128 = 1_200;
const HEIGHT: i128 = 200;

/// What the axis ends at: the first of 1, 2, 5, 10, 20, 50, … that no bar exceeds.
pub(crate) fn axis_end(bars: &[Bar]) -> i128 {
    let most = bars.iter().map(|bar| bar.value.max(bar.before)).max().unwrap_or(0);
    let mut unit: i128 = 1;
    while let Some(next) = unit.checked_mul(10).filter(|next| *next <= most) {
        unit = next;
    }
    let ends = [1, 2, 5, 10].map(|times| unit.saturating_mul(times));
    ends.into_iter().find(|end| *end >= most).unwrap_or(most)
}

/// The bars as a picture, with lines at the quarters of an axis from zero to `most`.
pub(crate) fn bars(bars: &[Bar], most: i128) -> String {
    let most = most.max(1);
    let count = i128::try_from(bars.len()).unwrap_or(1).max(1);
    let slot = WIDTH.checked_div(count).unwrap_or(WIDTH);
    let gap = (slot / 5).max(1);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-hidden=\"true\">\
"
    );
    for quarter in 0..=4 {
        let y = HEIGHT / 4 * quarter;
        let _ = write!(svg, "<line x1=\"0\" y1=\"{y}\" x2=\"{WIDTH}\" y2=\"{y}\"/>");
    }
    let reaches = |value: i128| {
        let height = value.max(0).saturating_mul(HEIGHT).checked_div(most).unwrap_or(0).min(HEIGHT);
        // What is not nothing is seen.
        if value > 0 { height.max(2) } else { 0 }
    };
    for (place, bar) in (0_i128..).zip(bars) {
        let x = place.saturating_mul(slot);
        let height = reaches(bar.value);
        let before = HEIGHT.saturating_sub(reaches(bar.before));
        let (y, inner) = (HEIGHT.saturating_sub(height), slot.saturating_sub(gap));
        let title = escaped(&bar.title);
        // Writing to a text cannot fail.
        let _ = write!(
            svg,
            "<g><title>{title}</title><rect class=\"ground\" x=\"{x}\" y=\"0\" width=\"{slot}\" height=\"{HEIGHT}\"/>\
             <rect class=\"value\" x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{height}\"/>"
        );
        if bar.before > 0 {
            let _ = write!(
                svg,
                "<rect class=\"before\" x=\"{x}\" y=\"{before}\" width=\"{inner}\" height=\"3\"/>"
            );
        }
        svg.push_str("</g>");
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
        let bar = |value| Bar { title: "a <b>".to_owned(), value, before: value / 2 };
        let svg = bars(&[bar(0), bar(5), bar(10), bar(i128::from(i64::MAX))], 10);
        assert!(svg.contains("height=\"100\"/>") && svg.contains("a &lt;b&gt;"), "{svg}");
        assert_eq!(svg.matches("class=\"value\"").count(), 4);
        assert_eq!(svg.matches("class=\"before\"").count(), 3);
        assert!(bars(&[], 0).ends_with("</svg>"));
    }

    #[test]
    fn an_axis_ends_at_a_round_number_that_nothing_exceeds() {
        for (most, end) in [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (999, 1_000), (1_001, 2_000)] {
            let bars = [Bar { title: String::new(), value: 0, before: most }];
            assert_eq!(axis_end(&bars), end, "{most}");
        }
        let most = [Bar { title: String::new(), value: i128::MAX, before: 0 }];
        assert_eq!(axis_end(&most), i128::MAX);
    }
}
