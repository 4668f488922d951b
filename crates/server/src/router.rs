//! Every route, and where it leads.

use axum::{
    Router,
    extract::Request,
    routing::{MethodRouter, delete, get, patch, post, put},
};
use http::Method;

use crate::{
    admin_api::{
        applications, audit, circuit, config, deliveries, doctor, environments, event_endpoints, events,
        exceptions, explain, holds as admin_holds, keys, organizations, payments as admin_payments,
        provider_check, provider_domains, provider_events, providers, refunds as admin_refunds, statement,
        transactions as admin_transactions, transfers as admin_transfers, wallets,
    },
    app::SharedApp,
    checkout_pages,
    client_api::{
        component, confirm, customer_tokens, holds, payments, quote, refunds, transactions, transfer_cancel,
        transfer_preview, transfers, wallet,
    },
    operations, provider_webhooks,
    reference::serve as reference,
    response::{error::ApiError, respond::ApiResult},
};

/// One operation of the API: its name in metrics, its method, its path.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    handler: fn() -> MethodRouter<SharedApp>,
}

/// The operator's pages, which have a router of their own.
const CONSOLE: &str = "console";
/// Requests that are for none of the operations.
const UNKNOWN: &str = "unknown";

macro_rules! operations {
    ($($name:literal $method:ident $path:literal $verb:ident $handler:path;)*) => {
        /// Every operation.
        pub(crate) const OPERATIONS: &[Operation] = &[
            $(Operation { name: $name, method: Method::$method, path: $path, handler: || $verb($handler) },)*
            Operation { name: CONSOLE, method: Method::GET, path: "", handler: MethodRouter::new },
            Operation { name: UNKNOWN, method: Method::GET, path: "", handler: MethodRouter::new },
        ];
    };
}

operations! {
    "fee_quote" POST "/client/v1/fees/quote" post quote::handle;

    "payment_prepare" POST "/client/v1/payments" post payments::prepare;
    "payment_read" GET "/client/v1/payments/{reference}" get payments::read;
    "component_prepare" POST "/client/v1/payments/component" post component::prepare;
    "component_confirm" POST "/client/v1/payments/component/{reference}/confirm" post confirm::handle;
    "customer_token_issue" POST "/client/v1/ach/customer-tokens" post customer_tokens::issue;
    "transfer_preview" POST "/client/v1/ach/transfers/preview" post transfer_preview::handle;
    "transfer_make" POST "/client/v1/ach/transfers" post transfers::make;
    "transfer_cancel" POST "/client/v1/ach/transfers/{reference}/cancel" post transfer_cancel::cancel;
    "client_wallet" GET "/client/v1/wallet" get wallet::read;
    "transaction_list" GET "/client/v1/transactions" get transactions::list;
    "transaction_read" GET "/client/v1/transactions/{reference}" get transactions::read;

    "payment_capture" POST "/client/v1/transactions/{reference}/capture" post holds::capture;
    "payment_void" POST "/client/v1/transactions/{reference}/void" post holds::void;
    "refund_create" POST "/client/v1/transactions/{reference}/refunds" post refunds::create;
    "refund_list" GET "/client/v1/transactions/{reference}/refunds" get refunds::list;
    "refund_read" GET "/client/v1/refunds/{refund}" get refunds::read;

    "webhook" POST "/webhooks/v1/{environment}/{provider}" post provider_webhooks::handle;
    "checkout_paid" GET "/checkout/paid" get checkout_pages::paid;
    "checkout_canceled" GET "/checkout/canceled" get checkout_pages::canceled;

    "organization_create" POST "/admin/v1/organizations" post organizations::create;
    "organization_list" GET "/admin/v1/organizations" get organizations::list;
    "application_create" POST "/admin/v1/organizations/{organization}/applications" post applications::create;
    "application_list" GET "/admin/v1/organizations/{organization}/applications" get applications::list;
    "statement_read" GET "/admin/v1/organizations/{organization}/statement" get statement::read;
    "statement_export" GET "/admin/v1/organizations/{organization}/statement.csv" get statement::export;
    "environment_create" POST "/admin/v1/applications/{application}/environments" post environments::create;
    "environment_list" GET "/admin/v1/applications/{application}/environments" get environments::list;
    "environment_read" GET "/admin/v1/environments/{environment}" get environments::read;
    "key_issue" POST "/admin/v1/environments/{environment}/keys" post keys::issue;
    "key_list" GET "/admin/v1/environments/{environment}/keys" get keys::list;
    "key_rotate" POST "/admin/v1/environments/{environment}/keys/{key}/rotate" post keys::rotate;
    "key_revoke" DELETE "/admin/v1/environments/{environment}/keys/{key}" delete keys::revoke;
    "config_read" GET "/admin/v1/environments/{environment}/config" get config::read;
    "config_replace" PUT "/admin/v1/environments/{environment}/config" put config::replace;
    "config_validate" POST "/admin/v1/environments/{environment}/config/validate" post config::validate;
    "config_history" GET "/admin/v1/environments/{environment}/config/versions" get config::history;
    "config_version_read" GET "/admin/v1/environments/{environment}/config/versions/{version}" get config::read_version;
    "quote_explain" POST "/admin/v1/environments/{environment}/explain" post explain::handle;
    "wallet_list" GET "/admin/v1/environments/{environment}/wallets" get wallets::list;
    "wallet_read" GET "/admin/v1/environments/{environment}/wallets/{currency}" get wallets::read;
    "wallet_fund" POST "/admin/v1/environments/{environment}/wallets/{currency}/fund" post wallets::fund;
    "wallet_withdraw" POST "/admin/v1/environments/{environment}/wallets/{currency}/withdraw" post wallets::withdraw;
    "wallet_ledger" GET "/admin/v1/environments/{environment}/wallets/{currency}/ledger" get wallets::ledger;

    "admin_transaction_list" GET "/admin/v1/environments/{environment}/transactions" get admin_transactions::list;
    "admin_transaction_read" GET "/admin/v1/environments/{environment}/transactions/{reference}" get admin_payments::read;
    "admin_payment_capture" POST "/admin/v1/environments/{environment}/transactions/{reference}/capture" post admin_holds::capture;
    "admin_payment_void" POST "/admin/v1/environments/{environment}/transactions/{reference}/void" post admin_holds::void;
    "admin_transfer_cancel" POST "/admin/v1/environments/{environment}/transactions/{reference}/cancel" post admin_transfers::cancel;
    "admin_refund_create" POST "/admin/v1/environments/{environment}/transactions/{reference}/refunds" post admin_refunds::create;
    "admin_payment_list" GET "/admin/v1/environments/{environment}/payments" get admin_payments::list;
    "admin_payment_read" GET "/admin/v1/environments/{environment}/payments/{reference}" get admin_payments::read;
    "admin_payment_account" POST "/admin/v1/environments/{environment}/payments/{reference}/use-configured-account" post admin_payments::use_configured_account;
    "corrected_account_reveal" POST "/admin/v1/environments/{environment}/payments/{reference}/reveal-corrected-account" post admin_transfers::reveal_corrected_account;
    "waiting_transfer_list" GET "/admin/v1/environments/{environment}/transfers/waiting" get admin_transfers::waiting;
    "audit" GET "/admin/v1/audit" get audit::run;
    "doctor" GET "/admin/v1/doctor" get doctor::examine;
    "exception_list" GET "/admin/v1/environments/{environment}/exceptions" get exceptions::list;
    "exception_resolve" POST "/admin/v1/environments/{environment}/exceptions/{exception}/resolve" post exceptions::resolve;
    "provider_event_list" GET "/admin/v1/environments/{environment}/provider-events" get provider_events::list;
    "provider_event_retry" POST "/admin/v1/environments/{environment}/provider-events/{provider}/{event}/retry" post provider_events::retry;
    "event_endpoint_create" POST "/admin/v1/environments/{environment}/event-endpoints" post event_endpoints::create;
    "event_endpoint_list" GET "/admin/v1/environments/{environment}/event-endpoints" get event_endpoints::list;
    "event_endpoint_read" GET "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" get event_endpoints::read;
    "event_endpoint_change" PATCH "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" patch event_endpoints::change;
    "event_endpoint_remove" DELETE "/admin/v1/environments/{environment}/event-endpoints/{endpoint}" delete event_endpoints::remove;
    "event_endpoint_rotate" POST "/admin/v1/environments/{environment}/event-endpoints/{endpoint}/rotate-secret" post event_endpoints::rotate;
    "event_list" GET "/admin/v1/environments/{environment}/events" get events::list;
    "event_resend_range" POST "/admin/v1/environments/{environment}/events/resend" post events::resend_range;
    "event_read" GET "/admin/v1/environments/{environment}/events/{event}" get events::read;
    "event_resend" POST "/admin/v1/environments/{environment}/events/{event}/resend" post events::resend;
    "delivery_list" GET "/admin/v1/environments/{environment}/deliveries" get deliveries::list;
    "provider_list" GET "/admin/v1/environments/{environment}/providers" get providers::list;
    "provider_test" POST "/admin/v1/environments/{environment}/providers/{provider}/test" post provider_check::run;
    "provider_circuit_force" POST "/admin/v1/environments/{environment}/providers/{provider}/circuit" post circuit::force;
    "provider_domain_register" POST "/admin/v1/environments/{environment}/providers/{provider}/domains" post provider_domains::register;

    "openapi" GET "/openapi.json" get reference::openapi;
    "docs" GET "/docs" get reference::docs;
    "docs_script" GET "/docs/reference.js" get reference::docs_script;
    "health" GET "/healthz" get operations::health;
    "ready" GET "/readyz" get operations::ready;
    "metrics" GET "/metrics" get operations::metrics;
}

/// The routes, with answers in the envelope for whatever they do not know.
pub(crate) fn router(app: SharedApp) -> Router {
    let known = OPERATIONS.iter().filter(|operation| !operation.path.is_empty());
    known
        .fold(Router::new(), |router, operation| router.route(operation.path, (operation.handler)()))
        .fallback(unknown_path)
        .method_not_allowed_fallback(other_method)
        .with_state(app)
}

async fn unknown_path() -> ApiResult {
    Err(ApiError::not_found("This path does not exist."))
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

    /// Whether this is the fee quote.
    pub(crate) fn is_quote(&self, operation: usize) -> bool {
        operation == self.quote
    }

    /// The operation's place in [`OPERATIONS`].
    pub(crate) fn find(&self, method: &Method, path: &str) -> usize {
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
    use super::*;

    #[test]
    fn requests_are_counted_under_their_own_operation() {
        let table = OperationTable::new();
        let name = |method, path| OPERATIONS[table.find(&method, path)].name;
        assert_eq!(name(Method::POST, "/client/v1/fees/quote"), "fee_quote");
        assert_eq!(name(Method::PUT, "/admin/v1/environments/env_1/config"), "config_replace");
        assert_eq!(name(Method::GET, "/admin/v1/environments/env_1/config"), "config_read");
        assert_eq!(name(Method::DELETE, "/client/v1/fees/quote"), "unknown");
        assert_eq!(name(Method::GET, "/nowhere"), "unknown");
        assert_eq!(table.methods("/admin/v1/environments/env_1/config"), "GET, PUT");
    }

    #[test]
    fn operation_names_are_unique() {
        let names: std::collections::HashSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
    }
}
