//! The `achCalendar` setting: the bank network's rules from their days on, and days on which nothing settles.

use jiff::civil::{Date, Time};
use serde_json::{Value, json};
use tollgate_domain::{
    Minor,
    ach::{Calendar, RailRules},
};

use crate::{reader::Node, validation_error::ValidationErrors};

const MAX_RULES: usize = 100;
const MAX_DAYS: usize = 1_000;

/// A calendar as configured, beside the one the engine works with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AchCalendar {
    rules: Vec<RailRules>,
    closed_days: Vec<Date>,
    calendar: Calendar,
}

impl AchCalendar {
    /// The calendar to reckon with.
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }
}

pub(crate) fn read(node: &Node<'_>, errors: &mut ValidationErrors) -> AchCalendar {
    let Some(mut object) = node.object(errors) else { return AchCalendar::default() };
    let (rules, days) = (object.optional("rules"), object.optional("closedDays"));
    object.finish(errors);
    let rules: Vec<_> =
        rules.into_iter().flat_map(|node| node.items(MAX_RULES, errors).collect::<Vec<_>>()).collect();
    let rules: Vec<_> = rules.iter().filter_map(|node| read_rules(node, errors)).collect();
    let days: Vec<_> =
        days.into_iter().flat_map(|node| node.items(MAX_DAYS, errors).collect::<Vec<_>>()).collect();
    let closed_days: Vec<_> = days.iter().filter_map(|node| read_day(node, errors)).collect();
    AchCalendar { calendar: Calendar::new(rules.clone(), closed_days.clone()), rules, closed_days }
}

fn read_rules(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<RailRules> {
    let mut object = node.object(errors)?;
    let from = object.required("from", errors);
    let limit = object.required("sameDayLimitMinor", errors);
    let same_day = object.required("sameDayCutoff", errors);
    let standard = object.required("standardCutoff", errors);
    object.finish(errors);
    let from = from.and_then(|node| read_day(&node, errors));
    let limit = limit.and_then(|node| {
        let read = node.digits().and_then(|digits| Minor::parse_configured(&digits));
        if read.is_none() {
            node.fault(errors, "must be an integer of minor units");
        }
        read
    });
    let same_day_cutoff = same_day.and_then(|node| read_time(&node, errors));
    let standard_cutoff = standard.and_then(|node| read_time(&node, errors));
    Some(RailRules {
        from: from?,
        same_day_limit: limit?,
        same_day_cutoff: same_day_cutoff?,
        standard_cutoff: standard_cutoff?,
    })
}

fn read_day(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Date> {
    let read = node.text(10, errors)?.parse().ok();
    if read.is_none() {
        node.fault(errors, "must be a date such as `2026-12-24`");
    }
    read
}

fn read_time(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Time> {
    let read = Time::strptime("%H:%M", node.text(5, errors)?).ok();
    if read.is_none() {
        node.fault(errors, "must be a time of day in Eastern Time such as `16:45`");
    }
    read
}

pub(crate) fn write(calendar: &AchCalendar) -> Value {
    let time = |time: Time| time.strftime("%H:%M").to_string();
    let rules = calendar.rules.iter().map(|rules| {
        json!({
            "from": rules.from.to_string(),
            "sameDayLimitMinor": rules.same_day_limit.to_string(),
            "sameDayCutoff": time(rules.same_day_cutoff),
            "standardCutoff": time(rules.standard_cutoff),
        })
    });
    let days = calendar.closed_days.iter().map(ToString::to_string);
    json!({ "rules": rules.collect::<Vec<_>>(), "closedDays": days.collect::<Vec<_>>() })
}
