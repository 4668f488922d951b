//! Every route, and where it leads.

use axum::{
    Router,
    extract::Request,
    response::Redirect,
    routing::{MethodRouter, delete, get, options, patch, post, put},
};
use http::Method;
use tollgate_domain::people::Permission::{
    self, Approve, Configure, CreateOrganizations, Inspect, ManageKeys, ManagePayments, ManageUsers,
    MoveFunds, OwnAccount, Read, ReadAuditLog, Refund, Resend, RotateMasterKey, WriteNotes,
};

use crate::{
    admin_api::{
        applications, approvals, audit, audit_log, circuit, config, deliveries, doctor, environments, erase,
        event_endpoints, events, exceptions, explain, fee_report, keys, operator::Requirement, organizations,
        payment_actions, payment_notes, payment_pages, payments as admin_payments, provider_check,
        provider_domains, provider_events, providers, rekey, requests, statement,
        transactions as admin_transactions, transfers as admin_transfers, users, wallets,
    },
    app::SharedApp,
    browser_script, checkout_pages,
    client_api::{
        card_fee, confirm, customer_tokens, holds, payments, quote, refunds, switch, transactions, transfers,
    },
    operations, policy_reports, provider_webhooks,
    reference::serve as reference,
    response::{error::ApiError, respond::ApiResult},
    types::{
        schemas::Schemas,
        signature::{self, Signature},
    },
};

/// The path of a fee quote.
const QUOTE_PATH: &str = "/client/v1/fees/quote";

/// One operation of the API: its name in metrics, its method, its path.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// What an operator needs; `None` where callers are no operators.
    pub(crate) permission: Option<Permission>,
    handler: fn() -> MethodRouter<SharedApp>,
    pub(crate) signature: fn(&mut Schemas) -> Signature,
}

/// The operator's pages, which have a router of their own.
const CONSOLE: &str = "console";
/// Where browsers ask whether they may send reports there.
const POLICY_REPORTS: &str = "/csp-reports/{environment}/{provider}";
/// The documentation's pages, for people: they are counted with the reference and are no part of the API.
const DOCUMENTATION: &str = "/docs/{*page}";
const DOCUMENT_LIST: &str = "/llms.txt";
/// Requests that are for none of the operations.
const UNKNOWN: &str = "unknown";

const fn unrouted(name: &'static str) -> Operation {
    Operation {
        name,
        method: Method::GET,
        path: "",
        permission: None,
        handler: MethodRouter::new,
        signature: |_| Signature::default(),
    }
}

macro_rules! operations {
    ($($name:literal $method:ident $path:literal $verb:ident $handler:path, $permission:expr;)*) => {
        pub(crate) const OPERATIONS: &[Operation] = &[
            $(Operation {
                name: $name,
                method: Method::$method,
                path: $path,
                permission: $permission,
                handler: || $verb($handler),
                signature: |schemas| signature::of($handler, schemas),
            },)*
            unrouted(CONSOLE),
            unrouted(UNKNOWN),
        ];
    };
}

operations! {
    "fee_quote" POST "/client/v1/fees/quote" post quote::handle, None;

    "payment_prepare" POST "/client/v1/payments" post payments::prepare, None;
    "payment_read" GET "/client/v1/payments/{reference}" get payments::read, None;
    "component_prepare" POST "/client/v1/payments/component" post payments::prepare_component, None;
    "component_card" POST "/client/v1/payments/component/{reference}/card" post card_fee::handle, None;
    "component_confirm" POST "/client/v1/payments/component/{reference}/confirm" post confirm::handle, None;
    "component_switch" POST "/client/v1/payments/component/{reference}/switch" post switch::handle, None;
    "customer_token_issue" POST "/client/v1/ach/customer-tokens" post customer_tokens::issue, None;
    "transfer_preview" POST "/client/v1/ach/transfers/preview" post transfers::preview, None;
    "transfer_make" POST "/client/v1/ach/transfers" post transfers::make, None;
    "transfer_cancel" POST "/client/v1/ach/transfers/{reference}/cancel" post transfers::cancel, None;
    "client_wallet" GET "/client/v1/wallet" get transactions::wallets, None;
    "transaction_list" GET "/client/v1/transactions" get transactions::list, None;
    "transaction_read" GET "/client/v1/transactions/{reference}" get transactions::read, None;

    "payment_capture" POST "/client/v1/transactions/{reference}/capture" post holds::capture, None;
    "payment_void" POST "/client/v1/transactions/{reference}/void" post holds::void, None;
    "refund_create" POST "/client/v1/transactions/{reference}/refunds" post refunds::create, None;
    "refund_list" GET "/client/v1/transactions/{reference}/refunds" get refunds::list, None;
    "refund_read" GET "/client/v1/refunds/{refund}" get refunds::read, None;

    "webhook" POST "/webhooks/v1/{environment}/{provider}" post provider_webhooks::handle, None;
    "policy_report" POST "/csp-reports/{environment}/{provider}" post policy_reports::receive, None;
    "checkout_paid" GET "/checkout/paid" get checkout_pages::paid, None;
    "checkout_canceled" GET "/checkout/canceled" get checkout_pages::canceled, None;

    "organization_create" POST "/admin/v1/organizations" post organizations::create, Some(CreateOrganizations);
    "organization_list" GET "/admin/v1/organizations" get organizations::list, Some(Read);
    "application_create" POST "/admin/v1/organizations/{organization}/applications" post applications::create, Some(Configure);
    "application_list" GET "/admin/v1/organizations/{organization}/applications" get applications::list, Some(Read);
    "statement_read" GET "/admin/v1/organizations/{organization}/statement" get statement::read, Some(Read);
    "fee_report_read" GET "/admin/v1/environments/{environment}/fee-report" get fee_report::read, Some(Read);
    "fee_report_export" GET "/admin/v1/environments/{environment}/fee-report.csv" get fee_report::export, Some(Read);
    "statement_export" GET "/admin/v1/organizations/{organization}/statement.csv" get statement::export, Some(Read);
    "environment_create" POST "/admin/v1/applications/{application}/environments" post environments::create, Some(Configure);
    "environment_list" GET "/admin/v1/applications/{application}/environments" get environments::list, Some(Read);
    "environment_read" GET "/admin/v1/environments/{environment}" get environments::read, Some(Read);
    "key_issue" POST "/admin/v1/environments/{environment}/keys" post keys::issue, Some(ManageKeys);
    "key_list" GET "/admin/v1/environments/{environment}/keys" get keys::list, Some(Read);
    "key_rotate" POST "/admin/v1/environments/{environment}/keys/{key}/rotate" post keys::rotate, Some(ManageKeys);
    "key_revoke" DELETE "/admin/v1/environments/{environment}/keys/{key}" delete keys::revoke, Some(ManageKeys);
    "config_read" GET "/admin/v1/environments/{environment}/config" get config::read, Some(Read);
    "config_replace" PUT "/admin/v1/environments/{environment}/config" put config::replace, Some(Configure);
    "config_validate" POST "/admin/v1/environments/{environment}/config/validate" post config::validate, Some(Configure);
    "config_history" GET "/admin/v1/environments/{environment}/config/versions" get config::history, Some(Read);
    "config_version_read" GET "/admin/v1/environments/{environment}/config/versions/{version}" get config::read_version, Some(Read);
    "quote_explain" POST "/admin/v1/environments/{environment}/explain" post explain::handle, Some(Read);
    "wallet_list" GET "/admin/v1/environments/{environment}/wallets" get wallets::list, Some(Read);
    "wallet_read" GET "/admin/v1/environments/{environment}/wallets/{currency}" get wallets::read, Some(Read);
    "wallet_fund" POST "/admin/v1/environments/{environment}/wallets/{currency}/fund" post wallets::fund, Some(MoveFunds);
    "wallet_withdraw" POST "/admin/v1/environments/{environment}/wallets/{currency}/withdraw" post wallets::withdraw, Some(MoveFunds);
    "wallet_ledger" GET "/admin/v1/environments/{environment}/wallets/{currency}/ledger" get wallets::ledger, Some(Read);

    "admin_transaction_list" GET "/admin/v1/environments/{environment}/transactions" get admin_transactions::list, Some(Read);
    "admin_transaction_read" GET "/admin/v1/environments/{environment}/transactions/{reference}" get admin_payments::read, Some(Read);
    "admin_payment_capture" POST "/admin/v1/environments/{environment}/transactions/{reference}/capture" post payment_actions::capture, Some(ManagePayments);
    "admin_payment_void" POST "/admin/v1/environments/{environment}/transactions/{reference}/void" post payment_actions::void, Some(ManagePayments);
    "admin_transfer_cancel" POST "/admin/v1/environments/{environment}/transactions/{reference}/cancel" post admin_transfers::cancel, Some(ManagePayments);
    "admin_refund_create" POST "/admin/v1/environments/{environment}/transactions/{reference}/refunds" post payment_actions::refund, Some(Refund);
    "admin_payment_list" GET "/admin/v1/environments/{environment}/payments" get admin_payments::list, Some(Read);
    "payment_export" GET "/admin/v1/environments/{environment}/payments.csv" get admin_transactions::export, Some(Permission::Read);
    "admin_payment_read" GET "/admin/v1/environments/{environment}/payments/{reference}" get admin_payments::read, Some(Read);
    "admin_payment_account" POST "/admin/v1/environments/{environment}/payments/{reference}/use-configured-account" post admin_payments::use_configured_account, Some(ManagePayments);
    "payment_note" POST "/admin/v1/environments/{environment}/payments/{reference}/notes" post payment_notes::add, Some(WriteNotes);
    "corrected_account_reveal" POST "/admin/v1/environments/{environment}/payments/{reference}/reveal-corrected-account" post admin_transfers::reveal_corrected_account, Some(ManagePayments);
    "approval_list" GET "/admin/v1/environments/{environment}/approvals" get approvals::list, Some(Read);
    "approval_read" GET "/admin/v1/environments/{environment}/approvals/{approval}" get approvals::read, Some(Read);
    "approval_approve" POST "/admin/v1/environments/{environment}/approvals/{approval}/approve" post approvals::approve, Some(Approve);
    "approval_deny" POST "/admin/v1/environments/{environment}/approvals/{approval}/deny" post approvals::deny, Some(Approve);
    "waiting_transfer_list" GET "/admin/v1/environments/{environment}/transfers/waiting" get admin_transfers::waiting, Some(Read);
    "customer_erase" POST "/admin/v1/environments/{environment}/erase" post erase::run, Some(Configure);
    "audit" GET "/admin/v1/audit" get audit::run, Some(Inspect);
    "rekey" POST "/admin/v1/rekey" post rekey::run, Some(RotateMasterKey);
    "user_create" POST "/admin/v1/users" post users::create, Some(ManageUsers);
    "user_list" GET "/admin/v1/users" get users::list, Some(ManageUsers);
    "user_change" PATCH "/admin/v1/users/{user}" patch users::change, Some(ManageUsers);
    "user_remove" DELETE "/admin/v1/users/{user}" delete users::remove, Some(ManageUsers);
    "user_token_issue" POST "/admin/v1/users/{user}/tokens" post users::issue_token, Some(ManageUsers);
    "user_token_revoke" DELETE "/admin/v1/users/{user}/tokens/{token}" delete users::revoke_token, Some(ManageUsers);
    "account_read" GET "/admin/v1/account" get users::read_own, Some(OwnAccount);
    "account_token_issue" POST "/admin/v1/account/tokens" post users::issue_own_token, Some(OwnAccount);
    "account_token_revoke" DELETE "/admin/v1/account/tokens/{token}" delete users::revoke_own_token, Some(OwnAccount);
    "audit_log" GET "/admin/v1/audit-log" get audit_log::list, Some(ReadAuditLog);
    "audit_log_export" GET "/admin/v1/audit-log.jsonl" get audit_log::export, Some(ReadAuditLog);
    "audit_log_accept" POST "/admin/v1/audit-log/{entry}/accept" post audit_log::accept, Some(RotateMasterKey);
    "doctor" GET "/admin/v1/doctor" get doctor::examine, Some(Inspect);
    "exception_list" GET "/admin/v1/environments/{environment}/exceptions" get exceptions::list, Some(Read);
    "exception_resolve" POST "/admin/v1/environments/{environment}/exceptions/{exception}/resolve" post exceptions::resolve, Some(ManagePayments);
    "provider_event_list" GET "/admin/v1/environments/{environment}/provider-events" get provider_events::list, Some(Read);
    "provider_event_retry" POST "/admin/v1/environments/{environment}/provider-events/{provider}/{event}/retry" post provider_events::retry, Some(Resend);
    "request_list" GET "/admin/v1/environments/{environment}/requests" get requests::list, Some(Permission::Read);
    "event_endpoint_create" POST "/admin/v1/environments/{environment}/event-endpoints" post event_endpoints::create, Some(Configure);
    "event_endpoint_list" GET "/admin/v1/environments/{environment}/event-endpoints" get event_endpoints::list, Some(Read);
    "event_endpoint_read" GET "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" get event_endpoints::read, Some(Read);
    "event_endpoint_change" PATCH "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" patch event_endpoints::change, Some(Configure);
    "event_endpoint_remove" DELETE "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" delete event_endpoints::remove, Some(Configure);
    "event_endpoint_rotate" POST "/admin/v1/environments/{environment}/event-endpoints/{endpoint}/rotate-secret" post event_endpoints::rotate, Some(Configure);
    "event_list" GET "/admin/v1/environments/{environment}/events" get events::list, Some(Read);
    "event_resend_range" POST "/admin/v1/environments/{environment}/events/resend" post events::resend_range, Some(Resend);
    "event_read" GET "/admin/v1/environments/{environment}/events/{event}" get events::read, Some(Read);
    "event_resend" POST "/admin/v1/environments/{environment}/events/{event}/resend" post events::resend, Some(Resend);
    "delivery_list" GET "/admin/v1/environments/{environment}/deliveries" get deliveries::list, Some(Read);
    "provider_list" GET "/admin/v1/environments/{environment}/providers" get providers::list, Some(Read);
    "payment_page_list" GET "/admin/v1/environments/{environment}/payment-pages" get payment_pages::list, Some(Read);
    "provider_test" POST "/admin/v1/environments/{environment}/providers/{provider}/test" post provider_check::run, Some(Configure);
    "provider_circuit_force" POST "/admin/v1/environments/{environment}/providers/{provider}/circuit" post circuit::force, Some(Configure);
    "provider_domain_register" POST "/admin/v1/environments/{environment}/providers/{provider}/domains" post provider_domains::register, Some(Configure);

    "openapi" GET "/openapi.json" get reference::openapi, None;
    "docs" GET "/docs" get reference::docs, None;
    "docs_script" GET "/docs/reference.js" get reference::site, None;
    "error_reference" GET "/docs/errors" get reference::site, None;
    "browser_script" GET "/tollgate.js" get browser_script::newest, None;
    "browser_script_version" GET "/scripts/{script}" get browser_script::versioned, None;
    "health" GET "/healthz" get operations::health, None;
    "ready" GET "/readyz" get operations::ready, None;
    "metrics" GET "/metrics" get operations::metrics, None;
}

/// The routes, with answers in the envelope for whatever they do not know.
pub(crate) fn router(app: SharedApp) -> Router {
    let known = OPERATIONS.iter().filter(|operation| !operation.path.is_empty());
    known
        .fold(Router::new(), |router, operation| router.route(operation.path, (operation.handler)()))
        // What a browser makes of an address that was typed with a slash.
        .route("/docs/", get(async || Redirect::permanent("/docs")))
        .route(POLICY_REPORTS, options(policy_reports::preflight))
        .route(DOCUMENTATION, get(reference::site))
        .route(DOCUMENT_LIST, get(reference::site))
        .fallback(unknown_path)
        .method_not_allowed_fallback(other_method)
        .with_state(app)
}

pub(crate) const UNKNOWN_PATH: &str = "This path does not exist.";

async fn unknown_path() -> ApiResult {
    Err(ApiError::not_found(UNKNOWN_PATH))
}

async fn other_method(request: Request) -> ApiResult {
    Err(ApiError::method_not_allowed(OperationTable::new().methods(request.uri().path())))
}

/// Finds a request's operation by its path, for the metrics.
pub(crate) struct OperationTable {
    paths: matchit::Router<Vec<usize>>,
    unknown: usize,
    quote: usize,
    console: usize,
}

impl OperationTable {
    pub(crate) fn new() -> Self {
        let mut paths: matchit::Router<Vec<usize>> = matchit::Router::new();
        for operation in OPERATIONS.iter().filter(|operation| !operation.path.is_empty()) {
            let siblings: Vec<_> = OPERATIONS
                .iter()
                .enumerate()
                .filter(|(_, other)| other.path == operation.path)
                .map(|(at, _)| at)
                .collect();
            // A path of several methods comes by several times; the first insertion has them all.
            let _known = paths.insert(operation.path, siblings);
        }
        let named = |name| OPERATIONS.iter().position(|operation| operation.name == name).unwrap_or_default();
        for path in [DOCUMENTATION, DOCUMENT_LIST] {
            let _new = paths.insert(path, vec![named("docs")]);
        }
        Self { paths, unknown: named(UNKNOWN), quote: named("fee_quote"), console: named(CONSOLE) }
    }

    /// The place of requests that are for none of them.
    pub(crate) fn unknown(&self) -> usize {
        self.unknown
    }

    /// The place of the operator's pages.
    pub(crate) fn console(&self) -> usize {
        self.console
    }

    /// The place of the fee quote.
    pub(crate) fn quote(&self) -> usize {
        self.quote
    }

    /// True if a fee quote is asked for.
    pub(crate) fn is_quote_call(method: &Method, path: &str) -> bool {
        path == QUOTE_PATH && *method == Method::POST
    }

    pub(crate) fn name(operation: usize) -> &'static str {
        OPERATIONS.get(operation).map_or("", |operation| operation.name)
    }

    pub(crate) fn endpoint(operation: usize) -> (&'static str, &'static str) {
        OPERATIONS.get(operation).map_or(("", ""), |operation| (operation.method.as_str(), operation.path))
    }

    /// What an operator needs for an operation.
    pub(crate) fn requirement(operation: usize) -> Option<Requirement> {
        let operation = OPERATIONS.get(operation)?;
        Some(Requirement { operation: operation.name, permission: operation.permission? })
    }

    /// The operation's place in [`OPERATIONS`]. What can be read can be asked about.
    pub(crate) fn find(&self, method: &Method, path: &str) -> usize {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.of_path(path)
            .find(|(_, operation)| operation.method == *method)
            .map_or(self.unknown, |(place, _)| place)
    }

    /// What a path answers, as the `Allow` header writes it.
    fn methods(&self, path: &str) -> String {
        let methods: Vec<_> = self.of_path(path).map(|(_, operation)| operation.method.as_str()).collect();
        methods.join(", ")
    }

    fn of_path(&self, path: &str) -> impl Iterator<Item = (usize, &'static Operation)> {
        let places = self.paths.at(path).map(|found| found.value.as_slice()).unwrap_or_default();
        places.iter().filter_map(|place| OPERATIONS.get(*place).map(|operation| (*place, operation)))
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::key_scope::Endpoint;

    use super::*;

    #[test]
    fn requests_are_counted_under_their_own_operation() {
        let table = OperationTable::new();
        let name = |method, path| OPERATIONS[table.find(&method, path)].name;
        assert_eq!(name(Method::POST, QUOTE_PATH), "fee_quote");
        assert_eq!(name(Method::PUT, "/admin/v1/environments/env_1/config"), "config_replace");
        assert_eq!(name(Method::GET, "/admin/v1/environments/env_1/config"), "config_read");
        assert_eq!(name(Method::HEAD, "/admin/v1/environments/env_1/config"), "config_read");
        assert_eq!(name(Method::HEAD, QUOTE_PATH), "unknown");
        assert_eq!(name(Method::DELETE, "/client/v1/fees/quote"), "unknown");
        assert_eq!(name(Method::GET, "/nowhere"), "unknown");
        assert_eq!(name(Method::GET, "/docs/guides/first-payment"), "docs");
        assert_eq!(name(Method::GET, "/docs/errors"), "error_reference");
        assert_eq!(table.methods("/docs/guides/first-payment.md"), "GET");
        assert_eq!(table.methods("/admin/v1/environments/env_1/config"), "GET, PUT");
    }

    #[test]
    fn operators_need_a_permission_for_everything_that_is_theirs() {
        for operation in OPERATIONS {
            let is_admin = operation.path.starts_with("/admin/");
            assert_eq!(operation.permission.is_some(), is_admin, "{}", operation.name);
            let is_read = matches!(operation.permission, Some(Read | Inspect));
            let changes_nothing = ["quote_explain"].contains(&operation.name);
            if is_read && !changes_nothing {
                assert_eq!(operation.method, Method::GET, "{} changes something", operation.name);
            }
        }
    }

    #[test]
    fn keys_can_be_limited_to_every_operation_of_the_client_api() {
        let mut known: Vec<_> = Endpoint::ALL.map(Endpoint::as_str).into();
        let client = OPERATIONS.iter().filter(|operation| operation.path.starts_with("/client/"));
        let mut routed: Vec<_> =
            client.map(|operation| format!("{} {}", operation.method, operation.path)).collect();
        known.sort_unstable();
        routed.sort_unstable();
        assert_eq!(known, routed);
    }

    #[test]
    fn operation_names_are_unique() {
        let names: std::collections::HashSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
    }
}
