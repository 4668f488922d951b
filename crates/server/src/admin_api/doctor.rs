//! `GET /admin/v1/doctor`: what an operator would want to know before it hurts.

use std::borrow::Cow;

use tollgate_engine::Check;

use crate::prelude::*;

responses! {
    DoctorResponse as Examination {
        version: &'static str,
        /// For comparing clocks.
        server_time: Moment,
        checks: Vec<CheckResponse>,
    }

    CheckResponse as ExaminationCheck {
        name: &'static str,
        environment_id: Option<String>,
        /// `ok`, `warning` or `problem`.
        verdict: &'static str,
        finding: String,
        #[schema(value_type = Option<String>)]
        advice: Option<Cow<'static, str>>,
    }
}

impl From<Check> for CheckResponse {
    fn from(check: Check) -> Self {
        Self {
            name: check.name,
            environment_id: check.environment.map(|id| id.to_string()),
            verdict: check.status.as_str(),
            finding: check.finding,
            advice: check.advice,
        }
    }
}

pub(crate) async fn examine(operator: Operator) -> Done<DoctorResponse> {
    let engine = &operator.app.engine;
    let mut checks = Vec::new();
    if let Some(external) = &operator.app.external_check {
        checks.push(external.check().await);
    }
    checks.extend(engine.run_checks().await);
    let checks = checks.into_iter().map(CheckResponse::from).collect();
    respond::ok(&DoctorResponse {
        version: env!("CARGO_PKG_VERSION"),
        server_time: Moment(engine.clock().now()),
        checks,
    })
}
