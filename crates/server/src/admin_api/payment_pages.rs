//! `GET /admin/v1/environments/<id>/payment-pages`: what a page with each provider's card fields runs and must allow, and what browsers
//! reported of it. For PCI DSS 6.4.3 and 11.6.1.

use tollgate_configuration::Provider;

use crate::{browser_script, policy_reports, policy_tally::Violation, prelude::*};

/// The name of the group that reports are sent to.
const REPORT_GROUP: &str = "tollgate";

responses! {
    PageResponse as PaymentPage {
        provider: String,
        adapter: words::Adapter,
        /// Every script that card fields bring to the page, for its inventory.
        scripts: Vec<ScriptResponse>,
        /// The header `Content-Security-Policy` of a page with these card fields and nothing else; add what is your own.
        content_security_policy: String,
        /// The header `Reporting-Endpoints` that belongs to it.
        reporting_endpoints: String,
        /// What browsers reported to this node since its start, the newest first.
        reports: Vec<ReportResponse>,
    }

    ScriptResponse as PaymentPageScript {
        url: String,
        /// The digest to demand of it; null where the provider changes the script without changing its address.
        integrity: Option<String>,
        /// Why the page needs it.
        reason: String,
    }

    ReportResponse as PaymentPageReport {
        /// The directive that was violated, such as `script-src`; those that are not counted by name are `other`.
        directive: &'static str,
        /// The origin of what was blocked, or a word such as `inline`; `other` stands for all that came after the first hundred of the page.
        blocked: String,
        count: u64,
        /// When it was first reported.
        first_at: Moment,
        /// When it was reported last.
        last_at: Moment,
    }
}

impl From<Violation> for ReportResponse {
    fn from(violation: Violation) -> Self {
        let Violation { directive, blocked, count, first_at, last_at } = violation;
        Self { directive, blocked, count, first_at: Moment(first_at), last_at: Moment(last_at) }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<PageResponse>> {
    let environment = operator.path("environment")?;
    let app = &operator.app;
    let public_url = app.engine.public_url();
    let snapshot = app.engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let pages = view.configuration.providers.iter().filter_map(|provider| {
        let script = provider.script_url()?;
        let report_url = format!("{public_url}{}/{environment}/{}", policy_reports::PATH, provider.name);
        let reports = app.policy_reports.of(environment, &provider.name);
        Some(PageResponse {
            provider: provider.name.to_string(),
            adapter: provider.adapter.as_str().into(),
            scripts: vec![
                ScriptResponse {
                    url: format!("{public_url}{}", browser_script::path()),
                    integrity: Some(browser_script::integrity().to_owned()),
                    reason: "draws the card fields of a prepared payment".to_owned(),
                },
                ScriptResponse {
                    url: script,
                    integrity: None,
                    reason: "takes the card and hands it to the provider, who demands that it is loaded from there".to_owned(),
                },
            ],
            content_security_policy: policy(public_url, provider, &report_url),
            reporting_endpoints: format!("{REPORT_GROUP}=\"{report_url}\""),
            reports: reports.into_iter().map(ReportResponse::from).collect(),
        })
    });
    respond::ok(&ListResponse::whole(pages.collect()))
}

/// What a page with the provider's card fields must allow, and where violations are reported: by `report-to`, and by `report-uri` for
/// browsers that do not know it.
fn policy(public_url: &str, provider: &Provider, report_url: &str) -> String {
    let own_origin = public_url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let mut directives: Vec<(&str, Vec<String>)> =
        ["script-src", "style-src", "connect-src", "frame-src", "font-src", "img-src"]
            .map(|directive| (directive, vec!["'self'".to_owned()]))
            .into();
    let sources = [("script-src", own_origin)].into_iter().chain(provider.script_sources());
    for (directive, hosts) in sources {
        if let Some((_, allowed)) = directives.iter_mut().find(|(known, _)| *known == directive) {
            allowed.extend(hosts.split(' ').map(str::to_owned));
        }
    }
    let directives: Vec<_> =
        directives.into_iter().map(|(directive, hosts)| format!("{directive} {}", hosts.join(" "))).collect();
    format!(
        "default-src 'self'; {}; object-src 'none'; base-uri 'none'; form-action 'self'; report-uri {report_url}; report-to \
         {REPORT_GROUP}",
        directives.join("; ")
    )
}
