//! What the request log keeps of a call: names of fields, never values.

use std::time::Duration;

use http::{Method, StatusCode};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, KeyId},
};
use tollgate_engine::ports::LoggedRequest;

use crate::{
    request::{call_notes::CallNotes, context::RequestContext},
    response::error::ApiError,
};

const MAX_PATH_LENGTH: usize = 200;
const MAX_FIELDS: usize = 20;
const MAX_FIELD_LENGTH: usize = 80;

pub(super) struct Call<'a> {
    pub(super) context: &'a RequestContext,
    pub(super) environment: EnvironmentId,
    pub(super) key: KeyId,
    pub(super) endpoint: &'a str,
    pub(super) status: StatusCode,
    pub(super) failure: Option<&'a ApiError>,
    pub(super) took: Duration,
}

impl Call<'_> {
    /// What is kept. `path` has no secrets in it.
    pub(super) fn entry(&self, method: &Method, path: &str, notes: &CallNotes) -> LoggedRequest {
        let faulty = self.failure.into_iter().flat_map(ApiError::fields);
        let unknown = notes.unknown_fields.iter().flat_map(|unknown| &unknown.names).map(String::as_str);
        let reference = self.failure.and_then(ApiError::reference).or(notes.reference.as_deref());
        LoggedRequest {
            id: self.context.id,
            environment: self.environment,
            at: self.context.at,
            key: self.key,
            method: method.as_str().chars().take(MAX_FIELD_LENGTH).collect(),
            path: path.chars().take(MAX_PATH_LENGTH).collect(),
            endpoint: self.endpoint.to_owned(),
            status: self.status.as_u16(),
            code: self.failure.map(|failure| failure.code().to_owned()),
            fields: faulty.chain(unknown).take(MAX_FIELDS).map(plain).collect(),
            took_millis: u32::try_from(self.took.as_millis()).unwrap_or(u32::MAX),
            reference: reference.map(str::to_owned).or_else(|| reference_in(path)),
        }
    }
}

/// A field's name, of which a caller may have written a part.
fn plain(name: &str) -> String {
    let letter = |letter: char| if letter.is_control() || letter == ',' { '?' } else { letter };
    name.chars().take(MAX_FIELD_LENGTH).map(letter).collect()
}

fn reference_in(path: &str) -> Option<String> {
    let mut parts = path.split('/').filter_map(|part| part.parse::<ServiceReference>().ok());
    parts.next().map(|reference| reference.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tollgate_domain::{Timestamp, id::RequestId};

    use super::*;
    use crate::{request::call_notes::UnknownFields, response::error::Detail};

    fn logged(path: &str, failure: Option<&ApiError>, notes: &CallNotes) -> LoggedRequest {
        let at = Timestamp::from_unix_millis(5);
        let (id, client) = (RequestId::new(at, [1; 10]), IpAddr::from([127, 0, 0, 1]));
        let context = RequestContext { id, at, client, endpoint: ("POST", "/client/v1/payments") };
        let call = Call {
            context: &context,
            environment: EnvironmentId::from_bytes([1; 16]),
            key: KeyId::from_bytes([2; 16]),
            endpoint: "/client/v1/payments",
            status: failure.map_or(StatusCode::CREATED, ApiError::status),
            failure,
            took: Duration::from_millis(12),
        };
        call.entry(&Method::POST, path, notes)
    }

    #[test]
    fn names_of_fields_are_kept_and_never_their_values() {
        let detail = |field: &'static str| Detail { field: field.into(), message: "must not be 4242".into() };
        let failure = ApiError::invalid(vec![detail("amountMinor"), detail("metadata.a,b")]);
        let mut unknown = UnknownFields::default();
        unknown.names.push("sucessUrl".to_owned());
        let notes = CallNotes { unknown_fields: Some(unknown.into()), ..CallNotes::default() };
        let entry = logged("/client/v1/payments", Some(&failure), &notes);
        assert_eq!(entry.fields, ["amountMinor", "metadata.a?b", "sucessUrl"]);
        assert_eq!((entry.status, entry.code.as_deref(), entry.took_millis), (400, Some(failure.code()), 12));
        assert!(!format!("{entry:?}").contains("4242"));
    }

    #[test]
    fn the_payment_is_known_by_the_failure_the_answer_or_the_path() {
        let reference =
            ServiceReference::Card(tollgate_domain::id::PaymentId::from_bytes([3; 16])).to_string();
        let notes = CallNotes { reference: Some("pay_made".into()), ..CallNotes::default() };
        assert_eq!(logged("/client/v1/payments", None, &notes).reference.as_deref(), Some("pay_made"));
        let failure = ApiError::provider_rejected("No.".to_owned()).about(&"pay_failed");
        assert_eq!(logged("/x", Some(&failure), &notes).reference.as_deref(), Some("pay_failed"));
        let path = format!("/client/v1/transactions/{reference}/refunds");
        assert_eq!(logged(&path, None, &CallNotes::default()).reference, Some(reference));
        assert_eq!(logged("/client/v1/wallet", None, &CallNotes::default()).reference, None);
    }
}
