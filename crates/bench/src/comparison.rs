//! What a comparison found out, as tables for people and as one JSON object for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::sample::{Series, json_of, table, thousandths};

/// Everything a run found out.
#[derive(Default)]
pub(crate) struct Comparison {
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
    pub(crate) facts: Vec<Fact>,
    /// What makes the run a failure, one sentence each.
    pub(crate) failures: Vec<String>,
}

/// Things that were measured in turns, and how they compare.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) series: Vec<Series>,
    pub(crate) ratios: Vec<Ratio>,
}

/// One thing's rate as a part of others', the median over the rounds.
pub(crate) struct Ratio {
    pub(crate) name: String,
    pub(crate) per_mille: u64,
    /// What we want it to be at least.
    pub(crate) goal_per_mille: Option<u64>,
}

/// A single number.
pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) value: u64,
    pub(crate) unit: &'static str,
}

impl Ratio {
    /// The rate of one to that of doing all of the others one after the other.
    pub(crate) fn new(one: &Series, others: &[&Series]) -> Self {
        let names: Vec<&str> = others.iter().map(|series| series.name.as_str()).collect();
        let names = if names.len() == 1 { names.concat() } else { format!("({})", names.join(" + ")) };
        let name = format!("{} ÷ {names}", one.name);
        Self { name, per_mille: one.ratio(others), goal_per_mille: None }
    }

    pub(crate) fn with_goal(self, per_mille: u64) -> Self {
        Self { goal_per_mille: Some(per_mille), ..self }
    }
}

impl Fact {
    pub(crate) fn new(name: impl Into<String>, value: u64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit }
    }
}

impl Comparison {
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for group in &self.groups {
            let all: Vec<&Series> = group.series.iter().collect();
            let _ = write!(text, "\n{}\n{}", group.name, table(&all));
            for ratio in &group.ratios {
                let goal = ratio.goal_per_mille.map(|goal| format!("  (goal {})", thousandths(goal)));
                let value = thousandths(ratio.per_mille);
                let _ = writeln!(text, "  {value:>7}  {}{}", ratio.name, goal.unwrap_or_default());
            }
        }
        text.push('\n');
        let width = self.facts.iter().map(|fact| fact.name.chars().count()).max().unwrap_or_default();
        for Fact { name, value, unit } in &self.facts {
            let _ = writeln!(text, "{name:<width$}  {value:>10} {unit}");
        }
        for failure in &self.failures {
            let _ = writeln!(text, "\nFAILED: {failure}");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let ratio = |ratio: &Ratio| json!({"name": ratio.name, "perMille": ratio.per_mille, "goalPerMille": ratio.goal_per_mille});
        let group = |group: &Group| {
            let all: Vec<&Series> = group.series.iter().collect();
            let ratios: Vec<Value> = group.ratios.iter().map(ratio).collect();
            json!({"name": group.name, "series": json_of(&all), "ratios": ratios})
        };
        let fact = |fact: &Fact| json!({"name": fact.name, "value": fact.value, "unit": fact.unit});
        json!({
            "title": self.title,
            "groups": self.groups.iter().map(group).collect::<Vec<_>>(),
            "facts": self.facts.iter().map(fact).collect::<Vec<_>>(),
            "failures": self.failures,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_tell_the_same() {
        let (product, raw, http) = (Series::new("product"), Series::new("raw"), Series::new("http"));
        let ratios = vec![
            Ratio::new(&product, &[&raw]).with_goal(700),
            Ratio { per_mille: 1234, ..Ratio::new(&product, &[&raw, &http]) },
        ];
        let group = Group { name: "SQLite".into(), series: vec![product, raw, http], ratios };
        let comparison = Comparison {
            title: "Title".into(),
            groups: vec![group],
            facts: vec![Fact::new("memory", 25, "KiB")],
            failures: vec!["it rained".into()],
        };
        let text = comparison.table();
        for part in
            ["product ÷ raw  (goal 0.700)", "1.234  product ÷ (raw + http)\n", "25 KiB", "FAILED: it rained"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = comparison.json();
        assert_eq!(json.pointer("/groups/0/ratios/1/perMille"), Some(&json!(1234)));
        assert_eq!(json.pointer("/groups/0/ratios/0/goalPerMille"), Some(&json!(700)));
        assert_eq!(json.pointer("/facts/0/value"), Some(&json!(25)));
    }
}
