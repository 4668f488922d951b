//! Differences between two configuration documents, for a terminal and for programs.

use serde_json::{Value, json};
use tollgate_configuration::{Change, Difference};

use super::output::{Paint, Style, printable};

/// `{"path","change","before","after"}`.
pub(crate) fn to_json(change: &Change) -> Value {
    let (kind, before, after) = match &change.what {
        Difference::Added(value) => ("added", Value::Null, value.clone()),
        Difference::Removed(value) => ("removed", value.clone(), Value::Null),
        Difference::Changed(before, after) => ("changed", before.clone(), after.clone()),
        Difference::Reordered(names) => ("reordered", Value::Null, json!(names)),
        Difference::OtherSecret => ("secret_replaced", Value::Null, Value::Null),
    };
    json!({ "path": change.path, "change": kind, "before": before, "after": after })
}

/// One line.
pub(crate) fn line(change: &Change, style: Style) -> String {
    let path = &change.path;
    let (paint, line) = match &change.what {
        Difference::Added(value) => (Paint::Good, format!("+ {path} = {value}")),
        Difference::Removed(value) => (Paint::Bad, format!("- {path} = {value}")),
        Difference::Changed(before, after) => (Paint::Notice, format!("~ {path}: {before} -> {after}")),
        Difference::Reordered(names) => (Paint::Notice, format!("~ {path}: new order {}", names.join(", "))),
        Difference::OtherSecret => {
            (Paint::Notice, format!("~ {path}: different secret with the same ending"))
        }
    };
    style.paint(paint, &printable(&line))
}

#[cfg(test)]
mod tests {
    use tollgate_configuration::diff;

    use super::*;

    #[test]
    fn differences_are_told_in_a_line_and_as_json() {
        let style = crate::cli::output::Output::new(false).style;
        let (before, after) = (json!({"a": 1, "b": 2, "d": 4}), json!({"a": 3, "c": 5, "d": 4}));
        let changes = diff(&before, &after, ["d"]);
        let lines: Vec<_> = changes.iter().map(|change| line(change, style)).collect();
        assert_eq!(
            lines,
            ["- b = 2", "~ a: 1 -> 3", "+ c = 5", "~ d: different secret with the same ending"]
        );
        let told = changes.iter().map(to_json).next().unwrap();
        assert_eq!(told, json!({"path": "b", "change": "removed", "before": 2, "after": null}));
    }
}
