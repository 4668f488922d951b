//! What every store must do, as plain functions over the port.
//!
//! Each function gets two nodes on one empty database, the same handle twice where a database serves only one, and
//! asks on one node about what it did on the other. [`conformance_suite!`](crate::conformance_suite) makes a test of
//! each, so that a store cannot leave one out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    missing_debug_implementations
)]

pub mod approvals;
pub mod audit;
pub mod audit_log;
pub mod books;
pub mod changes;
pub mod claims;
pub mod concurrency;
pub mod config;
pub mod deliveries;
pub mod directory;
pub mod endpoints;
pub mod erasure;
pub mod events;
pub mod exceptions;
pub mod following;
pub mod holds;
pub mod inspection;
pub mod keys;
pub mod limits;
pub mod outbox_samples;
pub mod payments;
pub mod people;
pub mod proposals;
pub mod records;
pub mod refunds;
pub mod request_log;
pub mod resending;
pub mod reservations;
pub mod samples;
pub mod sealed;
pub mod security;
pub mod snapshots;
pub mod switch;
pub mod tenancy;
pub mod told;
pub mod transactions;
pub mod transfer_changes;
pub mod transfer_model;
pub mod transfer_races;
pub mod transfer_samples;
pub mod transfers;
pub mod upgrade;
pub mod wallet;

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use rand::{SeedableRng as _, rngs::StdRng};
use tollgate_domain::{
    Currency, Minor, Timestamp,
    id::{ApplicationId, ChangeId, EnvironmentId, KeyId, OrganizationId, PostingId},
    key_scope::KeyScope,
    ledger::{Cause, Movement},
    tenant::{Application, Environment, EnvironmentName, KeyKind, KeyRecord, Organization},
};
use tollgate_engine::ports::{
    Attention, ConfigChange, ConfigPut, Created, DirectoryVersion, EnvironmentHealth, HealthQuery, Issued,
    Moved, Page, Store,
};

/// Makes one test of each function of the suite. `$database` names an async function, seen from a submodule, that
/// takes a future-returning function of [`Nodes`] and runs it on a fresh database.
#[macro_export]
macro_rules! conformance_suite {
    ($database:path) => {
        $crate::conformance_suite! { @each $database;
            directory:
                creation_is_repeatable, parents_must_exist, names_are_taken_once, lists_are_pages_by_id,
                the_delta_is_what_was_touched, versions_only_grow, changes_are_announced, pins_hold,
                names_keep_their_letters, it_takes_work;
            keys:
                issuing_is_repeatable, a_digest_opens_one_key, revocation_stays, revocation_leaves_the_delta,
                rotation_is_both_or_neither, rotation_is_repeatable, only_live_keys_rotate, keys_are_pages_by_id,
                a_key_keeps_its_name_and_limits, the_last_use_of_a_key_is_the_latest;
            snapshots:
                a_key_change_shares_the_configuration, keys_do_not_wait_for_a_configuration,
                a_configuration_that_cannot_be_used_leaves_the_one_before;
            config:
                an_environment_begins_empty, putting_counts_up, putting_is_repeatable, a_stale_change_is_refused,
                history_is_newest_first, large_documents_fit;
            proposals:
                a_proposal_is_put_in_force_with_its_decision, a_proposal_that_is_denied_or_late_changes_nothing,
                proposals_are_bounded_and_of_one_environment;
            wallet:
                money_comes_and_goes, a_reference_moves_once, nothing_is_overdrawn, nothing_overflows,
                an_unfunded_wallet_is_empty, the_ledger_is_newest_first, words_keep_their_letters,
                random_movements_agree_with_a_model;
            payments:
                a_payment_goes_round, a_changed_payment_goes_round, insertion_is_repeatable,
                insertion_needs_its_environment, objects_lead_to_their_payment, the_timeline_is_oldest_first,
                payments_are_listed_newest_first, an_operator_ties_a_payment_to_another_account,
                a_key_belongs_to_one_payment_until_it_is_withdrawn, a_payment_goes_on_to_another_provider_once;
            switch: a_declined_payment_is_switched_with_its_transaction;
            holds: captures_and_voids_go_round, a_capture_belongs_to_one_payment, what_was_captured_is_counted;
            refunds:
                refunds_go_round, the_events_of_refunds_show_them_as_they_were, a_refund_belongs_to_one_payment;
            books:
                postings_go_round, a_change_posts_once, a_month_is_added_up,
                open_disputes_are_counted_and_listed_by_their_date, the_audit_finds_what_is_not_posted,
                what_earlier_nodes_recorded_is_listed;
            changes:
                a_change_is_made_whole, a_refused_change_leaves_nothing, a_repeated_change_is_made_once,
                a_claim_does_not_disturb_a_change, a_transaction_is_recorded_once,
                attempts_are_replaced_by_number, one_of_many_changes_wins, one_change_at_once_is_made_once,
                a_payment_is_read_at_one_moment;
            claims:
                payments_are_claimed_longest_due_first, a_claim_ends_by_itself, many_claimers_share_nothing,
                follow_ups_are_claimed_apart_from_what_is_due,
                events_are_claimed_longest_due_first, many_claimers_share_no_event,
                transfers_are_claimed_longest_due_first, many_claimers_share_no_transfer;
            transfers:
                a_transfer_goes_round, a_changed_transfer_goes_round, an_existing_transfer_is_returned_whole,
                funds_suffice_to_the_last_cent, a_wallet_never_funded_has_nothing,
                a_reservation_needs_its_environment, funds_follow_the_transfer, objects_lead_to_their_transfer,
                waiting_transfers_are_listed_newest_first;
            transfer_changes:
                a_change_is_made_whole, a_refused_change_leaves_nothing, books_refuse_what_cannot_be,
                a_repeated_change_is_made_once, an_event_again_beside_late_changes,
                a_claim_does_not_disturb_a_change,
                what_goes_along_is_as_with_payments;
            transfer_races:
                reservations_never_overdraw, reservations_and_withdrawals_share_a_wallet,
                one_reference_is_reserved_once, one_reference_is_reserved_in_one_wallet, one_of_many_changes_wins,
                one_change_at_once_is_made_once, many_lives_at_once, denials_and_sends_share_a_wallet,
                a_transfer_is_read_at_one_moment,
                a_caller_who_leaves_disturbs_nobody;
            reservations:
                what_was_not_sent_is_taken_back, what_has_changed_is_not_taken_back,
                a_change_is_about_the_reservation_it_was_decided_on,
                taking_back_and_changing_exclude_one_another;
            limits:
                a_limit_is_reached_to_the_last_cent, a_transfer_counts_once, what_fails_is_given_back,
                a_window_slides, a_customer_leaves_the_others_alone, many_at_once_never_exceed_a_limit,
                card_payments_are_counted, many_cards_at_once_never_exceed_a_limit, what_has_ended_is_forgotten;
            transfer_model:
                random_lives_agree_with_a_model;
            audit:
                an_empty_database_is_clean, everything_is_counted, an_audit_goes_on_from_the_last,
                a_posting_with_an_early_id_is_not_skipped, large_sums_are_added_up;
            transactions:
                lists_agree_with_a_model, a_list_has_exact_ends, a_list_follows_the_status;
            events:
                an_event_is_received_once, one_of_many_deliveries_is_new, an_event_is_stored_settled,
                a_settled_event_stays,
                only_a_parked_event_is_retried, what_no_database_holds_is_not_there,
                a_change_may_leave_its_event_waiting, events_are_listed_newest_first;
            exceptions:
                the_same_is_recorded_once, the_first_resolution_stays, one_of_many_resolutions_stays,
                exceptions_are_listed_newest_first;
            told:
                a_unit_is_told_with_it, what_did_not_happen_is_not_told,
                a_transaction_is_not_told_of_without_one, one_of_many_changes_is_told, a_circuit_is_told_of_once,
                a_forced_circuit_is_told_of_with_the_change, a_proposal_is_told_of_once, the_audit_log_head_is_sent_to_endpoints_that_name_it,
                events_are_listed_in_slices;
            following:
                a_follower_sees_every_event_once, an_event_that_commits_late_is_behind_all_others;
            endpoints:
                an_endpoint_goes_round, a_change_takes_its_revision, what_waits_is_parked_with_its_endpoint,
                removal_takes_the_deliveries, there_are_never_too_many, one_of_many_changes_wins;
            deliveries:
                those_who_want_it_get_it, deliveries_are_listed_newest_first, claims_are_fair,
                who_rests_or_is_disabled_is_left_alone, many_claimers_share_no_delivery,
                a_settled_delivery_stays, an_attempt_tells_of_its_endpoint, all_at_once_everything_arrives;
            resending:
                one_event_is_sent_again, a_span_is_sent_again, a_moment_of_many_events_is_sent_again_in_slices,
                what_was_parked_is_sent_again, nothing_is_sent_where_nobody_is;
            records:
                a_key_keeps_its_first_customer_token, a_payment_without_events_is_indexed_on_request, events_are_digested_once, activity_is_added_up_by_the_hour, sums_end_at_the_largest_number,
                payments_are_found_by_their_terms, a_payment_is_found_by_the_request_that_made_it,
                what_is_found_comes_in_pages, past_payments_are_the_newest,
                attention_is_counted_up_to_a_limit, wallets_know_what_was_spent, parts_of_references_terms_disputes_and_customers_are_found;
            inspection:
                a_store_knows_itself, work_that_is_due_is_counted, postings_are_found_by_their_payment,
                the_last_check_of_a_provider_stays, the_account_of_a_credential_is_kept;
            erasure:
                a_person_is_erased_and_the_books_are_not, what_an_earlier_version_left_is_erased_when_asked_again,
                what_has_not_ended_keeps_its_data,
                customers_are_listed_in_slices, old_webhooks_are_forgotten_once_they_are_done_with;
            request_log:
                calls_are_kept_once_and_found_by_every_filter, quotes_of_an_hour_are_added_up;
            sealed: pins_can_be_moved, sealed_values_are_found_by_their_key, a_sealed_value_is_replaced_once;
            security:
                every_change_of_a_key_says_whose_it_was, a_sealing_key_is_destroyed_once_nothing_needs_it,
                an_ended_session_stays_ended;
            people:
                a_user_goes_round, an_address_belongs_to_one_user, tokens_come_and_go, access_ends_everywhere,
                there_are_never_too_many_tokens, a_role_changes_in_place, a_user_is_one_subject_of_an_issuer,
                people_are_known_across_their_users, the_last_use_is_kept;
            approvals:
                approvals_are_found, a_vote_goes_with_its_entry, refunds_that_wait_are_found,
                funds_move_with_their_decision;
            audit_log:
                entries_go_round, an_entry_goes_with_its_change, many_writers_make_one_chain,
                a_log_from_before_the_key_is_accepted_once, a_log_that_was_emptied_is_not_a_new_one;
            concurrency:
                one_of_many_configurations_wins, withdrawals_never_overdraw, one_reference_moves_once,
                one_rotation_wins, one_environment_takes_the_name, repeated_units_are_done_once,
                versions_are_handed_out_once, pins_agree, funding_starts_a_wallet_once, reads_see_whole_units,
                a_caller_who_leaves_disturbs_nobody;
            tenancy:
                keys_are_of_one_environment, configurations_are_of_one_environment,
                wallets_are_of_one_environment, wallets_are_of_one_currency, payments_are_of_one_environment,
                events_are_of_one_environment, exceptions_are_of_one_environment, transfers_are_of_one_environment,
                the_outbox_is_of_one_environment, records_are_of_one_environment;
        }
    };
    (@each $database:path; $($module:ident: $($name:ident),+;)+) => {
        $(
            mod $module {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $name() {
                        $database(async |nodes| $crate::$module::$name(&nodes).await).await;
                    }
                )+
            }
        )+
    };
}

/// Two nodes on one database, and what tests put into it.
#[derive(Clone)]
pub struct Nodes {
    pub one: Arc<dyn Store>,
    pub two: Arc<dyn Store>,
    made: Arc<AtomicI64>,
}

/// The whole first page.
pub const ALL: u32 = 1_000;

pub const fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_800_000_000_000 + millis)
}

pub fn minor(amount: u64) -> Minor {
    Minor::new(amount).unwrap()
}

pub fn all<Id>() -> Page<Id> {
    Page { after: None, limit: ALL }
}

/// A seed, printed and named in failures, and what is drawn from it; `TOLLGATE_TEST_SEED` repeats a run.
pub fn random() -> (u64, StdRng) {
    let given = std::env::var("TOLLGATE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(rand::random);
    println!("TOLLGATE_TEST_SEED={seed}");
    (seed, StdRng::seed_from_u64(seed))
}

impl Nodes {
    pub fn new(one: Arc<dyn Store>, two: Arc<dyn Store>) -> Self {
        Self { one, two, made: Arc::default() }
    }

    /// How an environment stands, with everything that was ever spent.
    pub async fn health(&self, environment: EnvironmentId, most: u32) -> EnvironmentHealth {
        let ever = Timestamp::from_unix_millis(0)..Timestamp::from_unix_millis(i64::MAX);
        let query = HealthQuery { environments: vec![environment], most, failing_from: 3, spending: ever };
        let found = self.two.environment_health(&query).await.unwrap();
        let [health] = <[_; 1]>::try_from(found).unwrap();
        assert_eq!(health.environment, environment);
        health
    }

    pub async fn attention(&self, environment: EnvironmentId, most: u32) -> Attention {
        self.health(environment, most).await.attention
    }

    /// Bytes that make an id later than all before; no test needs luck.
    fn next(&self) -> (Timestamp, [u8; 10]) {
        let count = self.made.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [7; 10];
        bytes[..8].copy_from_slice(&count.to_be_bytes());
        (at(count), bytes)
    }

    pub fn new_organization(&self, name: &str) -> Organization {
        let (created_at, random) = self.next();
        Organization { id: OrganizationId::new(created_at, random), name: name.to_owned(), created_at }
    }

    pub fn new_application(&self, organization: OrganizationId, name: &str) -> Application {
        let (created_at, random) = self.next();
        let id = ApplicationId::new(created_at, random);
        Application { id, organization, name: name.to_owned(), created_at }
    }

    pub fn new_environment(&self, application: &Application, name: &str) -> Environment {
        let (created_at, random) = self.next();
        Environment {
            id: EnvironmentId::new(created_at, random),
            application: application.id,
            organization: application.organization,
            name: EnvironmentName::parse(name).unwrap(),
            created_at,
        }
    }

    pub fn new_key(&self, environment: EnvironmentId) -> KeyRecord {
        let (created_at, random) = self.next();
        let mut digest = [0x5a; 32];
        digest[..10].copy_from_slice(&random);
        KeyRecord {
            id: KeyId::new(created_at, random),
            environment,
            kind: KeyKind::Secret,
            name: None,
            scope: KeyScope::default(),
            digest,
            last_four: "wxyz".to_owned(),
            created_at,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            replaced_by: None,
        }
    }

    pub fn new_change(&self, from_version: u64, document: &str) -> ConfigChange {
        let (created_at, random) = self.next();
        ConfigChange {
            id: ChangeId::new(created_at, random),
            from_version,
            document: document.to_owned(),
            actor: "admin".to_owned(),
            request: "req".to_owned(),
            at: created_at,
            circuits: Vec::new(),
        }
    }

    pub fn new_movement(&self, cause: Cause, amount: u64, reference: &str) -> Movement {
        let (created_at, random) = self.next();
        Movement {
            posting: PostingId::new(created_at, random),
            currency: Currency::USD,
            cause,
            amount: minor(amount),
            reference: reference.to_owned(),
            actor: "admin".to_owned(),
            at: created_at,
        }
    }

    pub async fn application(&self) -> Application {
        let organization = self.new_organization("Acme");
        self.one.create_organization(&organization).await.unwrap();
        let application = self.new_application(organization.id, "Shop");
        let created = self.one.create_application(&application).await.unwrap();
        assert!(matches!(created, Created::Done(_)), "{created:?}");
        application
    }

    /// A fresh environment of a fresh organization.
    pub async fn environment(&self) -> Environment {
        let environment = self.new_environment(&self.application().await, "test");
        created(self.one.create_environment(&environment).await.unwrap());
        environment
    }

    pub async fn key(&self, environment: EnvironmentId) -> KeyRecord {
        let key = self.new_key(environment);
        issued(self.one.issue_key(&key).await.unwrap());
        key
    }

    /// Puts money in, which must work.
    pub async fn fund(&self, environment: EnvironmentId, amount: u64, reference: &str) {
        let movement = self.new_movement(Cause::Fund, amount, reference);
        let moved = self.one.move_funds(environment, &movement).await.unwrap();
        assert!(matches!(moved, Moved::Done(_)), "{moved:?}");
    }

    pub async fn keys(&self, environment: EnvironmentId) -> Vec<KeyRecord> {
        self.two.keys(environment, all()).await.unwrap()
    }
}

pub fn created(created: Created) -> DirectoryVersion {
    let Created::Done(version) = created else { panic!("not created: {created:?}") };
    version
}

pub fn issued(issued: Issued) -> DirectoryVersion {
    let Issued::Done(version) = issued else { panic!("not issued: {issued:?}") };
    version
}

/// The configuration's version and the directory's.
pub fn put(put: ConfigPut) -> (u64, DirectoryVersion) {
    let ConfigPut::Done { version, directory } = put else { panic!("not put: {put:?}") };
    (version, directory)
}
