//! What an answer claims, held against what the providers know.

use crate::{
    book::{Answered, PaymentCase, TransferCase},
    node::Answer,
    providers::{BankTransfer, DROP_IN, Held, Ledger, Page, Standing},
    world::World,
};

/// A caller's answer about a transfer. Only what was answered before the request began binds it: two answers to the same
/// key can overtake one another.
pub(crate) fn transfer(world: &World, caller: &str, known: Answered, answer: &Answer) {
    let mut book = world.book();
    let ledger = world.providers();
    let Some(case) = book.transfers.get_mut(caller) else { return };
    let mut faults = Vec::new();
    let taken: Vec<_> = ledger.transfers.values().filter(|it| it.caller == caller).collect();
    match answer.status {
        200 | 201 => made(case, known, &taken, answer, &mut faults),
        422 => {
            case.answered = Answered::Rejected;
            if !ledger.refused.iter().any(|refused| refused == caller) {
                faults.push(("only the provider's validation rejects", answer.text("/message").to_owned()));
            }
            if let Some(taken) = taken.first() {
                faults.push(("what was rejected was not taken", taken.id.clone()));
            }
        }
        // Nobody may have been let in, and nothing was looked at.
        401 | 429 => {}
        500 => faults.push(("nothing breaks", answer.body.to_string())),
        status => {
            if known != Answered::NotYet && !(status == 503 && answer.code() != "provider_not_configured") {
                let what = format!("{status} {}", answer.code());
                faults.push(("a key that was answered stays answered", what));
            }
            if says_nothing_happened(answer) {
                case.nothings.insert(answer.request_id.clone());
                if let Some(taken) = taken.iter().find(|it| it.request == answer.request_id) {
                    let what = format!("{status} {}, and {} was taken", answer.code(), taken.id);
                    faults.push(("what is said to have changed nothing changed nothing", what));
                }
            }
        }
    }
    drop((book, ledger));
    for (rule, what) in faults {
        world.violate(rule, format_args!("{caller}: {what}"));
    }
}

/// Whether an answer that is no success claims that nothing was recorded or sent by its request.
fn says_nothing_happened(answer: &Answer) -> bool {
    !(answer.code() == "outcome_unknown" || answer.text("/message").contains("read back"))
}

fn made(
    case: &mut TransferCase,
    known: Answered,
    taken: &[&BankTransfer],
    answer: &Answer,
    faults: &mut Vec<(&'static str, String)>,
) {
    let reference = answer.text("/data/transaction/serviceReference").to_owned();
    let status = answer.text("/data/transaction/status").to_owned();
    if case.reference.as_ref().is_some_and(|known| *known != reference) {
        faults.push(("one key, one reference", reference.clone()));
    }
    if known == Answered::Rejected {
        faults.push(("what was rejected stays rejected", status.clone()));
    }
    case.reference = Some(reference);
    if case.answered == Answered::NotYet {
        case.answered = Answered::Made;
    }
    case.created += u32::from(answer.status == 201);
    case.dated.insert(answer.text("/data/transaction/createdAt").to_owned());
    if case.created > 1 {
        faults.push(("one key, one creation", "answered 201 twice".to_owned()));
    }
    if answer.is_replay != (answer.status == 200) {
        faults.push(("a replay is marked as one", answer.status.to_string()));
    }
    let had = |standing: Standing| taken.iter().any(|it| it.past.contains(&standing));
    let is_true = match status.as_str() {
        "pending" => true,
        "processing" => !taken.is_empty(),
        "succeeded" => had(Standing::Settled),
        "canceled" => had(Standing::Canceled) || (taken.is_empty() && case.cancel_asked),
        "failed" => had(Standing::Rejected) || had(Standing::Returned),
        _ => false,
    };
    if !is_true {
        faults.push(("an answer is true when it is given", format!("{status}, and the bank has {taken:?}")));
    }
    case.said.insert(status);
}

/// A caller's answer to a cancellation.
pub(crate) fn cancellation(world: &World, caller: &str, answer: &Answer) {
    let status = answer.text("/data/transaction/status").to_owned();
    let is_true = {
        let ledger = world.providers();
        let mut taken = ledger.transfers.values().filter(|it| it.caller == caller);
        status != "canceled" || taken.all(|it| it.past.contains(&Standing::Canceled))
    };
    if answer.status == 200 && !is_true {
        world.violate("an answer is true when it is given", format_args!("{caller}: canceled, and was not"));
    }
    if answer.status == 500 {
        world.violate("nothing breaks", format_args!("{caller}: {}", answer.body));
    }
    if let Some(case) = world.book().transfers.get_mut(caller).filter(|_| answer.status == 200) {
        case.said.insert(status);
    }
}

/// A caller's answer to a confirmation; `source` is the card's token if there is one.
pub(crate) fn confirmation(world: &World, caller: &str, source: Option<&str>, answer: Option<&Answer>) {
    let mut book = world.book();
    let ledger = world.providers();
    let Some(case) = book.payments.get_mut(caller) else { return };
    let mut faults = Vec::new();
    let reference = case.reference.clone();
    let is_taken = source.is_some_and(|source| is_taken(&ledger, source));
    let token = source.map(|source| case.sources.entry(source.to_owned()).or_default());
    if let Some(token) = token {
        token.under_way -= 1;
        match answer {
            Some(answer) if answer.status == 200 => {
                token.may_be_charged = true;
                token.failed |= answer.text("/data/transaction/status") == "failed";
            }
            Some(answer) if says_nothing_happened(answer) => {
                if is_taken && !token.may_be_charged && token.under_way == 0 {
                    let what = format!("{} {}, and the card was charged", answer.status, answer.code());
                    faults.push(("what is said to have changed nothing changed nothing", what));
                }
            }
            // It may have been charged by whoever did not answer, or does not know.
            Some(_) | None => token.may_be_charged = true,
        }
    }
    if let Some(answer) = answer {
        confirmed(case, &ledger, &reference, answer, &mut faults);
    }
    drop((book, ledger));
    for (rule, what) in faults {
        world.violate(rule, format_args!("{caller}: {what}"));
    }
}

fn confirmed(
    case: &mut PaymentCase,
    ledger: &Ledger,
    reference: &str,
    answer: &Answer,
    faults: &mut Vec<(&'static str, String)>,
) {
    let pages: Vec<_> = ledger.pages.values().filter(|page| page.reference == reference).collect();
    let sales: Vec<_> = ledger.sales.values().filter(|sale| sale.reference == reference).collect();
    let is_paid = pages.iter().any(|page| page.is_paid()) || sales.iter().any(|sale| sale.is_paid());
    let was_held = |held: Held| held != Held::Never;
    let is_held = pages.iter().any(|page| was_held(page.held)) || sales.iter().any(|it| was_held(it.held));
    match answer.status {
        200 => {
            let status = answer.text("/data/transaction/status").to_owned();
            let is_true = match status.as_str() {
                "succeeded" | "refunded" => is_paid,
                "authorized" => is_held,
                "failed" => {
                    // A later card, or a later try on the same page, may have come through since.
                    sales.iter().any(|sale| !sale.is_taken)
                        || pages.iter().any(|page| page.was_declined && !is_paid_in_browser(page))
                        || answer.text("/data/transaction/failure/code") == "not_charged"
                }
                _ => true,
            };
            if !is_true {
                let failure = answer.text("/data/transaction/failure/code");
                faults.push(("an answer is true when it is given", format!("{status} {failure}")));
            }
            case.said.insert(status);
            case.dated.insert(answer.text("/data/transaction/createdAt").to_owned());
        }
        404 => faults.push(("what was prepared can be found", answer.code().to_owned())),
        422 => faults.push(("only the provider's validation rejects", answer.text("/message").to_owned())),
        500 => faults.push(("nothing breaks", answer.body.to_string())),
        _ => {}
    }
}

/// Whether a page is paid whose provider is only asked with what the browser got: nobody pays on it once that is asked about.
fn is_paid_in_browser(page: &Page) -> bool {
    page.account.wire == DROP_IN && page.is_paid()
}

/// A caller's answer to a switch: nobody can pay at the provider that was left, nor twice.
pub(crate) fn switch(world: &World, caller: &str, from: &str, answer: &Answer) {
    let reference = world.book().payments.get(caller).map(|case| case.reference.clone());
    let names = ["/data/component/paymentIntentId", "/data/component/sessionId"];
    let objects = names.map(|name| answer.text(name));
    let open: Vec<_> = {
        let ledger = world.providers();
        let ours = ledger.pages.values().filter(|page| Some(&page.reference) == reference.as_ref());
        ours.filter(|page| page.is_payable() && !objects.contains(&page.id.as_str()))
            .map(|page| page.id.clone())
            .collect()
    };
    match answer.status {
        200 | 201 => {
            if Some(answer.text("/data/serviceReference")) != reference.as_deref() {
                world.violate("a switched payment keeps its reference", format_args!("{caller}: {answer:?}"));
            }
            if answer.text("/data/provider") == from {
                world.violate("a switched payment leaves its provider", format_args!("{caller}: {from}"));
            }
            if !open.is_empty() {
                world.violate("nobody can pay at two providers", format_args!("{caller}: {open:?}"));
            }
        }
        404 => world.violate("what was prepared can be found", format_args!("{caller}: {}", answer.code())),
        500 => world.violate("nothing breaks", format_args!("{caller}: {}", answer.body)),
        _ => {}
    }
}

/// A caller's answer to a capture or void.
pub(crate) fn hold(world: &World, caller: &str, action: &str, answer: &Answer) {
    let mut book = world.book();
    let ledger = world.providers();
    let Some(case) = book.payments.get_mut(caller) else { return };
    let reference = case.reference.clone();
    let pages = ledger.pages.values().filter(|page| page.reference == reference).map(|page| page.held);
    let sales = ledger.sales.values().filter(|sale| sale.reference == reference).map(|sale| sale.held);
    let held: Vec<_> = pages.chain(sales).filter(|held| *held != Held::Never).collect();
    let mut fault = None;
    match answer.status {
        200 => {
            let status = answer.text("/data/transaction/status").to_owned();
            let is_true = match (action, status.as_str()) {
                ("capture", "succeeded" | "refunded") => held.contains(&Held::Captured),
                ("void", "canceled") => held.contains(&Held::Voided) || held.contains(&Held::Lapsed),
                (_, "authorized") => !answer.text("/data/transaction/pendingAction").is_empty(),
                (_, "processing") => true,
                _ => false,
            };
            if !is_true {
                fault = Some(("an answer is true when it is given", format!("{action}: {status}, {held:?}")));
            }
            case.said.insert(status);
        }
        500 => fault = Some(("nothing breaks", answer.body.to_string())),
        _ => {}
    }
    drop((book, ledger));
    if let Some((rule, what)) = fault {
        world.violate(rule, format_args!("{caller}: {what}"));
    }
}

pub(crate) fn is_taken(ledger: &Ledger, source: &str) -> bool {
    ledger.sales.values().any(|sale| sale.source == source && sale.is_taken)
}

/// A caller's answer to a preparation.
pub(crate) fn preparation(world: &World, caller: &str, answer: &Answer) {
    let ledger = world.providers();
    let opened =
        ledger.pages.values().find(|page| page.request == answer.request_id).map(|page| page.id.clone());
    drop(ledger);
    match answer.status {
        500 => world.violate("nothing breaks", format_args!("{caller}: {}", answer.body)),
        503 if answer.code() == "store_unavailable" && says_nothing_happened(answer) => {
            if let Some(page) = opened {
                let rule = "what is said to have changed nothing changed nothing";
                world.violate(rule, format_args!("{caller}: 503, and {page} was opened"));
            }
        }
        _ => {}
    }
}
