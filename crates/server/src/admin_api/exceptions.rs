//! `/admin/v1/environments/<id>/exceptions`: where a provider and our books disagree.

use tollgate_engine::ports::StoredException;

use crate::prelude::*;

const MAX_NOTE_LENGTH: usize = 1_000;

type NoteText = scalars::Line<MAX_NOTE_LENGTH>;

responses! {
    ExceptionResponse as ReconciliationException {
        id: String,
        service_reference: String,
        kind: words::ExceptionKind,
        expected: String,
        found: String,
        /// An event's id, `confirm` or `resolver`.
        source: String,
        at: Moment,
        resolution: Option<ResolutionResponse>,
    }

    ResolutionResponse as ExceptionResolution {
        at: Moment,
        actor: String,
        note: String,
    }
}

impl ExceptionResponse {
    pub(crate) fn of(stored: &StoredException) -> Self {
        let exception = &stored.exception;
        Self {
            id: exception.id.to_string(),
            service_reference: stored.reference.to_string(),
            kind: exception.kind.as_str().into(),
            expected: exception.expected.clone(),
            found: exception.found.clone(),
            source: exception.source.clone(),
            at: Moment(exception.at),
            resolution: stored.resolved.as_ref().map(|resolution| ResolutionResponse {
                at: Moment(resolution.at),
                actor: resolution.actor.clone(),
                note: resolution.note.clone(),
            }),
        }
    }
}

requests! {
    ResolveBody as ExceptionResolutionRequest {
        note: NoteText,
    }
}

responses! {
    ResolvedResponse as ExceptionResolved {
        resolved: bool,
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<ExceptionResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let open_only = query.value("open").unwrap_or(false);
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    let exceptions = operator.app.engine.exceptions(environment, open_only, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(
        exceptions,
        limit,
        |it| ExceptionResponse::of(&it),
        |it| it.exception.id,
    ))
}

/// An operator has looked; nothing else changes by it.
pub(crate) async fn resolve(operator: Operator, body: JsonBody<ResolveBody>) -> Done<ResolvedResponse> {
    let (environment, exception) = (operator.known_environment()?, operator.path("exception")?);
    let ResolveBody { note } = body.read(&operator).await?;
    let engine = &operator.app.engine;
    engine.resolve_exception(environment, exception, note, &operator.origin).await?;
    respond::ok(&ResolvedResponse { resolved: true })
}
