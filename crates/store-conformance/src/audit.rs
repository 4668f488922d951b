//! The audit: silent while all is well, and not when it is not.

use tollgate_domain::{
    Currency,
    id::EnvironmentId,
    ledger::{Cause, TransferStep},
    transaction::Status,
};
use tollgate_engine::ports::{Audit, AuditCheckpoint, AuditScope};

use super::{
    Nodes, at,
    samples::in_status,
    transfer_samples::{fees, sending},
};

pub async fn an_empty_database_is_clean(nodes: &Nodes) {
    assert_eq!(nodes.audit().await, Audit::default());
    nodes.environment().await;
    assert_eq!(nodes.audit().await, Audit::default());
}

pub async fn everything_is_counted(nodes: &Nodes) {
    books(nodes).await;
    let audit = nodes.audit().await;
    assert_eq!((audit.wallets, audit.postings, audit.transfers), (3, 4 + 5 + 2 + 1 + 1, 5), "{audit:?}");
    assert!(audit.findings.is_empty(), "{:?}", audit.findings);
}

/// What was verified is not verified again, and what came since is, with the transfers it is about.
pub async fn an_audit_goes_on_from_the_last(nodes: &Nodes) {
    let environment = books(nodes).await;
    let recent = async |now| nodes.two.audit(AuditScope::Recent, at(now)).await.unwrap();
    let first = recent(1).await;
    assert_eq!((first.postings, first.earlier), (13, None), "without a checkpoint everything is verified");
    let mut verified = AuditCheckpoint { at: at(1), full_at: at(1), postings: 13, card_postings: 0 };
    let nothing = Audit { wallets: 3, earlier: Some(verified.clone()), ..Audit::default() };
    assert_eq!(recent(2).await, nothing);
    let new = nodes.new_transfer_of(environment, fees(200, 5, 2));
    nodes.reserve(&new).await;
    nodes.change_transfer(&new, &nodes.transfer_step(0, TransferStep::Settle, &new.order.fee)).await;
    nodes.fund_in(environment, Currency::parse("GBP").unwrap(), 9, "g").await;
    verified.at = at(2);
    let some =
        Audit { wallets: 4, postings: 3, transfers: 1, earlier: Some(verified.clone()), ..Audit::default() };
    assert_eq!(recent(3).await, some);
    nodes.posted_twice(environment).await;
    verified = AuditCheckpoint { at: at(3), postings: 16, ..verified };
    let twice = recent(4).await;
    assert_eq!((twice.card_postings, twice.earlier), (2, Some(verified.clone())));
    let problems: Vec<_> = twice.findings.iter().map(|finding| finding.problem.as_str()).collect();
    assert_eq!(problems, ["The card payment is posted more than once."]);
    // What is wrong is found again, and everything is verified where that is asked for.
    assert_eq!(recent(5).await.earlier, Some(verified));
    let all = nodes.audit().await;
    assert_eq!((all.postings, all.transfers, all.card_postings, all.findings.len()), (16, 6, 2, 1));
}

/// Ids are drawn long before what they name is committed.
pub async fn a_posting_with_an_early_id_is_not_skipped(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (early, late) =
        (nodes.new_movement(Cause::Fund, 5, "early"), nodes.new_movement(Cause::Fund, 7, "late"));
    assert!(early.posting < late.posting);
    nodes.one.move_funds(environment, &late).await.unwrap();
    nodes.audit_is_clean().await;
    nodes.one.move_funds(environment, &early).await.unwrap();
    let audit = nodes.two.audit(AuditScope::Recent, at(0)).await.unwrap();
    assert_eq!((audit.postings, audit.findings.len()), (1, 0), "{audit:?}");
}

/// Sums on the way may be larger than any balance.
pub async fn large_sums_are_added_up(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let most = i64::MAX.unsigned_abs();
    let mut movements = Vec::new();
    for round in 0..3 {
        for cause in [Cause::Fund, Cause::Withdraw] {
            movements.push(nodes.new_movement(cause, most, &format!("{round}")));
        }
    }
    // The postings' ids are not in the order of the movements, so that sums in the order of ids go far beyond.
    let mut ids: Vec<_> = movements.iter().map(|movement| movement.posting).collect();
    ids.sort();
    let (early, late) = ids.split_at(3);
    for (place, movement) in movements.iter_mut().enumerate() {
        movement.posting = if place % 2 == 0 { early[place / 2] } else { late[place / 2] };
        nodes.one.move_funds(environment, movement).await.unwrap();
    }
    nodes.audit_is_clean().await;
}

/// Books with one of everything in them, for damages to be done to: transfers that are pending, processing, paid, refused
/// and returned, beside another wallet of the same environment and another environment.
pub async fn books(nodes: &Nodes) -> EnvironmentId {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    nodes.fund_in(environment, Currency::parse("EUR").unwrap(), 7, "e").await;
    let other = nodes.environment().await.id;
    nodes.fund(other, 10_000, "f").await;
    nodes.one.move_funds(other, &nodes.new_movement(Cause::Withdraw, 3, "w")).await.unwrap();

    let news: Vec<_> =
        (0..5_u64).map(|place| nodes.new_transfer_of(environment, fees(100 + place, 5, 2))).collect();
    for new in &news {
        nodes.reserve(new).await;
    }
    let mut sent = nodes.transfer_change(0, sending());
    sent.state = Some(in_status(Status::Processing));
    nodes.change_transfer(&news[1], &sent).await;
    nodes.change_transfer(&news[2], &nodes.transfer_step(0, TransferStep::Settle, &news[2].order.fee)).await;
    nodes.change_transfer(&news[3], &nodes.transfer_step(0, TransferStep::Release, &news[3].order.fee)).await;
    nodes.change_transfer(&news[4], &nodes.transfer_step(0, TransferStep::Settle, &news[4].order.fee)).await;
    nodes.change_transfer(&news[4], &nodes.transfer_step(1, TransferStep::Reverse, &news[4].order.fee)).await;
    environment
}

/// Something done to [`books`] behind the store's back, in words that both databases understand, and what the audit says
/// to it.
#[derive(Debug)]
pub struct Damage {
    pub sql: &'static str,
    /// Parts of problems that must be found.
    pub found: &'static [&'static str],
}

pub const DAMAGES: [Damage; 20] = [
    Damage {
        sql: "UPDATE ledger_postings SET reference = reference || ' (not sent, x)' WHERE cause = 'release'",
        found: &["The posting says release, but there is no such transfer."],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE account = 'available' AND currency = 'EUR'",
        found: &["The balance of available is 8, but its entries sum to 7."],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = balance_minor - 1 WHERE account = 'funding' AND currency = 'EUR'",
        found: &["The balance of funding is -8, but its entries sum to -7."],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = -1 WHERE account = 'available' AND currency = 'EUR'",
        found: &["The balance of available is -1, which is below zero."],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = balance_minor + 9 WHERE account = 'reserved'",
        found: &[
            "The balance of reserved is 224, but its entries sum to 215.",
            "The balance of reserved is 224, but that of the open transfers is 215.",
        ],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = 0 WHERE account = 'settled_out'",
        found: &["The balance of settled_out is 0, but that of the succeeded transfers is 102."],
    },
    Damage {
        sql: "UPDATE ledger_accounts SET balance_minor = 0 WHERE account = 'platform_fees'",
        found: &["The balance of platform_fees is 0, but that of the succeeded transfers is 5."],
    },
    Damage {
        sql: "DELETE FROM ledger_accounts WHERE account = 'organization_fees'",
        found: &[
            "There are entries for organization_fees that sum to 2, but no such account.",
            "The balance of organization_fees is 0, but that of the succeeded transfers is 2.",
        ],
    },
    Damage {
        sql: "UPDATE ledger_postings SET available_minor = NULL WHERE available_minor < 0 AND available_minor > -10",
        found: &["The posting's entries sum to 3 instead of zero.", "but its entries sum to 10000."],
    },
    Damage {
        sql: "UPDATE ledger_postings SET platform_fees_minor = platform_fees_minor + 1 WHERE platform_fees_minor < 0",
        found: &["The posting's entries sum to 1 instead of zero."],
    },
    Damage {
        sql: "UPDATE ledger_postings SET funding_minor = NULL, available_minor = NULL WHERE currency = 'EUR'",
        found: &["The posting has no entries.", "The balance of available is 7, but its entries sum to 0."],
    },
    Damage {
        sql: "UPDATE ledger_postings SET amount_minor = 4 WHERE cause = 'withdraw'",
        found: &["The posting is for 4, but its entries move 3."],
    },
    Damage {
        sql: "UPDATE ledger_postings SET amount_minor = amount_minor + 1 WHERE cause = 'release'",
        found: &["A posting of the transfer is for another amount than its total debit."],
    },
    Damage {
        sql: "DELETE FROM ledger_postings WHERE cause = 'release'",
        found: &[
            "The transfer is failed, but its postings are: reserve.",
            "The balance of reserved is 215, but its entries sum to",
        ],
    },
    Damage {
        // The first transfer's reserve.
        sql: "DELETE FROM ledger_postings
                  WHERE id = (SELECT id FROM ledger_postings WHERE cause = 'reserve' ORDER BY id LIMIT 1)",
        found: &[
            "The transfer is pending, but its postings are: none.",
            "The balance of reserved is 215, but its entries sum to 108.",
        ],
    },
    Damage {
        sql: "UPDATE transactions SET status = 'succeeded' WHERE status = 'processing'",
        found: &[
            "The transfer is succeeded, but its postings are: reserve.",
            "The balance of reserved is 215, but that of the open transfers is 107.",
            "The balance of settled_out is 102, but that of the succeeded transfers is 203.",
        ],
    },
    Damage {
        sql: "UPDATE transactions SET status = 'refunded' WHERE status = 'succeeded'",
        found: &[
            "The transfer is refunded, but its postings are: reserve, settle.",
            "The balance of settled_out is 102, but that of the succeeded transfers is 0.",
        ],
    },
    Damage {
        sql: "UPDATE ledger_postings SET reference = 'ach_nobody' WHERE cause = 'reverse'",
        found: &[
            "The posting says reverse, but there is no such transfer.",
            "The transfer is failed, but its postings are: reserve, settle.",
        ],
    },
    Damage {
        sql: "DELETE FROM transfers WHERE transaction_id IN (SELECT id FROM transactions WHERE status = 'pending')",
        found: &[
            "There is a transaction, but no transfer.",
            "The posting says reserve, but there is no such transfer.",
        ],
    },
    Damage {
        sql: "DELETE FROM transactions WHERE status = 'succeeded'",
        found: &[
            "There is a transfer, but no transaction.",
            "The posting says settle, but there is no such transfer.",
            "The balance of settled_out is 102, but that of the succeeded transfers is 0.",
        ],
    },
];

const TABLES: [&str; 4] = ["ledger_postings", "ledger_accounts", "transfers", "transactions"];

/// Does every damage, each to whole books, and asks the audit. `behind` runs SQL behind the store's back, always on the
/// same connection, with all that a database checks by itself switched off; `random_id` is its word for a new id.
pub async fn every_damage_is_found(nodes: &Nodes, random_id: &str, behind: impl AsyncFn(&str)) {
    books(nodes).await;
    for table in TABLES {
        behind(&format!("CREATE TEMPORARY TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    for damage in DAMAGES {
        behind(damage.sql).await;
        let findings = nodes.audit().await.findings;
        for problem in damage.found {
            let told = findings.iter().any(|finding| finding.problem.contains(problem));
            assert!(told, "{}\nwas not found to be: {problem}\n{findings:#?}", damage.sql);
        }
        assert!(findings.iter().all(|finding| !finding.subject.is_empty()), "{findings:#?}");
        // Rows that are written again are new, on SQLite; the books are to be as if nothing had happened.
        behind("DELETE FROM audit_checkpoint").await;
        for table in TABLES {
            behind(&format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}")).await;
        }
        nodes.audit_is_clean().await;
    }
    // However much is wrong, a thousand things are told, and all is counted.
    let before = nodes.audit().await.postings;
    behind(&format!(
        "INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
         SELECT {random_id}, 'USD', {random_id}, 'settle', 'ach_nobody', 1, '', 0 FROM n"
    ))
    .await;
    let audit = nodes.audit().await;
    assert_eq!((audit.postings, audit.findings.len()), (before + 700, 1_000));
    let strays = audit.findings.iter().filter(|finding| finding.problem.contains("no such transfer")).count();
    assert_eq!(strays, 300, "700 have no entries, and the rest is told until it is enough");
}

/// What is found without verifying everything, and what only that finds. `behind` is that of [`every_damage_is_found`].
pub async fn damage_is_found_when_it_is_looked_for(nodes: &Nodes, behind: impl AsyncFn(&str)) {
    let environment = books(nodes).await;
    let euro = Currency::parse("EUR").unwrap();
    for cause in [Cause::Fund, Cause::Withdraw] {
        let mut movement = nodes.new_movement(cause, 5, "there and back");
        movement.currency = euro;
        nodes.one.move_funds(environment, &movement).await.unwrap();
    }
    nodes.audit_is_clean().await;
    let problems = async |scope| {
        let findings = nodes.two.audit(scope, at(0)).await.unwrap().findings;
        findings.into_iter().map(|finding| finding.problem).collect::<Vec<_>>()
    };
    let none = Vec::<String>::new();

    // A month's sums. They are added up again where there are none.
    nodes.one.add_up_statements().await.unwrap();
    assert_eq!(problems(AuditScope::Everything).await, none);
    behind("UPDATE statement_sums SET platform_fees_minor = '6' WHERE kind = 'settle'").await;
    let problem = problems(AuditScope::Everything).await.join("; ");
    let found = "The statement of 2027-01 is not the sum of the postings of that month.";
    assert!(problem.starts_with(found), "{problem}");
    behind("DELETE FROM statement_position").await;
    nodes.one.add_up_statements().await.unwrap();
    assert_eq!(problems(AuditScope::Everything).await, none);

    // A balance, whether of a wallet with new postings or not.
    let wrong = "UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE account = 'available' AND currency = 'EUR'";
    behind(wrong).await;
    let found = "The balance of available is 8, but that of the last audit and the entries since make 7.";
    assert_eq!(problems(AuditScope::Recent).await, [found]);
    nodes.fund_in(environment, euro, 2, "new").await;
    let found = "The balance of available is 10, but that of the last audit and the entries since make 9.";
    assert_eq!(problems(AuditScope::Recent).await, [found]);
    // What was found wrong is no checkpoint: the posting is verified again.
    behind(&wrong.replace("+ 1", "- 1")).await;
    let audit = nodes.two.audit(AuditScope::Recent, at(0)).await.unwrap();
    assert_eq!((audit.postings, audit.findings.len()), (1, 0), "{audit:?}");

    // A new posting, by its entries, its transfer and what it is for.
    let new = nodes.new_transfer_of(environment, fees(300, 5, 2));
    nodes.reserve(&new).await;
    nodes.change_transfer(&new, &nodes.transfer_step(0, TransferStep::Settle, &new.order.fee)).await;
    let settled = format!("cause = 'settle' AND reference = '{}'", new.order.id);
    for (damage, repair, found) in [
        (
            format!("UPDATE ledger_postings SET platform_fees_minor = 2, organization_fees_minor = 5 WHERE {settled}"),
            format!("UPDATE ledger_postings SET platform_fees_minor = 5, organization_fees_minor = 2 WHERE {settled}"),
            "The entries of the posting (settle) are not those of its transfer's amounts.",
        ),
        (
            "UPDATE transactions SET status = 'failed' WHERE status = 'succeeded'".to_owned(),
            "UPDATE transactions SET status = 'succeeded' WHERE status = 'failed' AND principal_minor IN (102, 300)".to_owned(),
            "The transfer is failed, but its postings are: reserve, settle.",
        ),
        (
            format!("UPDATE ledger_postings SET settled_out_minor = settled_out_minor - 1 WHERE {settled}"),
            format!("UPDATE ledger_postings SET settled_out_minor = settled_out_minor + 1 WHERE {settled}"),
            "The posting's entries sum to -1 instead of zero.",
        ),
        (
            format!("UPDATE ledger_postings SET reference = 'ach_nobody' WHERE cause = 'settle' AND reference = '{}'", new.order.id),
            format!("UPDATE ledger_postings SET reference = '{}' WHERE reference = 'ach_nobody'", new.order.id),
            "The posting says settle, but there is no such transfer.",
        ),
    ] {
        behind(&damage).await;
        let problems = problems(AuditScope::Recent).await;
        assert!(problems.iter().any(|problem| problem == found), "{found}\n{problems:#?}");
        behind(&repair).await;
    }
    nodes.audit_is_clean().await;

    // What came before the last audit.
    behind("UPDATE ledger_postings SET settled_out_minor = 103 WHERE settled_out_minor = 102").await;
    assert_eq!(problems(AuditScope::Recent).await, none);
    assert!(
        problems(AuditScope::Everything)
            .await
            .contains(&"The posting's entries sum to 1 instead of zero.".to_owned())
    );
    behind("UPDATE ledger_postings SET settled_out_minor = 102 WHERE settled_out_minor = 103").await;
    nodes.audit_is_clean().await;

    // Books that agree with themselves, but not with what was verified.
    behind("DELETE FROM ledger_postings WHERE reference = 'there and back'").await;
    assert_eq!(problems(AuditScope::Recent).await, none);
    let mut found = problems(AuditScope::Everything).await;
    found.sort();
    let lines = ["available", "funding"].map(|account| {
        format!("There are 2 entries for {account}, but at the last audit and since there were 4.")
    });
    assert_eq!(found, lines);
}
