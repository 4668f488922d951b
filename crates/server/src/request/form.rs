//! Requests read by their declaration: each field's type is its schema, its rule and its errors.

use std::str::FromStr;

use http::HeaderMap;
use serde_json::value::RawValue;
use tollgate_domain::{
    Principal, Timestamp,
    ach::{BankAccountType, RecipientKind, TransferPurpose},
    address_range::AddressRange,
    id::{EventId, OrganizationId},
    key_scope::Endpoint,
    metadata::Metadata,
    people::Role,
    refund::{FeeRefund, RefundReason},
    tenant::{EnvironmentName, KeyKind},
};

use crate::{
    app::App,
    json::text::JsonText,
    request::{
        fields::{self, FieldErrors, Raw},
        idempotency_key::{self, KeyText},
        metadata_field::{self, metadata_text},
    },
    response::error::ApiError,
    types::{
        scalars::{self, Line, Prose, Seconds},
        signature::{JsonBody, OptionalBody},
        words,
    },
};

/// A request that is being read, and what is wrong with it so far.
pub(crate) struct Form<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) now: Timestamp,
    pub(crate) errors: FieldErrors,
}

pub(crate) trait Field {
    /// What it is once its rule holds.
    type Value;

    /// Reads what was sent; `None` stands for a value that is faulty, which the form then says.
    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Self::Value>;

    /// What to make of a field that is left out.
    fn absent(name: &'static str, form: &mut Form<'_>) -> Option<Self::Value> {
        form.errors.add(name, "is required")
    }
}

impl<F: Field> Field for Option<F> {
    type Value = Option<F::Value>;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Self::Value> {
        F::read(name, raw, form).map(Some)
    }

    fn absent(_: &'static str, _: &mut Form<'_>) -> Option<Self::Value> {
        Some(None)
    }
}

pub(crate) fn field<F: Field>(name: &'static str, raw: Raw<'_>, form: &mut Form<'_>) -> Option<F::Value> {
    match raw {
        Some(raw) => F::read(name, raw, form),
        None => F::absent(name, form),
    }
}

/// A request's body, declared by [`requests!`].
pub(crate) trait Request: Sized {
    /// Reads every field, naming all that are faulty.
    fn read(form: Form<'_>) -> Result<Self, ApiError>;
}

pub(crate) trait Sender {
    fn headers(&self) -> &HeaderMap;
    fn app(&self) -> &App;
}

impl<'a> Form<'a> {
    pub(crate) fn new(sender: &'a impl Sender, body: &'a [u8]) -> Self {
        let (headers, now) = (sender.headers(), sender.app().engine.clock().now());
        Self { headers, body, now, errors: FieldErrors::default() }
    }
}

impl<T: Request> JsonBody<T> {
    /// Waits for the body, and reads it.
    pub(crate) async fn read(self, sender: &impl Sender) -> Result<T, ApiError> {
        T::read(Form::new(sender, &self.bytes(sender.headers()).await?))
    }
}

impl<T: Request> OptionalBody<T> {
    /// Waits for the body, and reads it.
    pub(crate) async fn read(self, sender: &impl Sender) -> Result<T, ApiError> {
        T::read(Form::new(sender, &self.bytes(sender.headers()).await?))
    }
}

/// Declares bodies whose fields are read one by one.
macro_rules! bodies {
    ($($(#[$meta:meta])* $name:ident as $schema:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        #[derive(serde::Deserialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        #[schema(as = $schema)]
        $(#[$meta])*
        pub(crate) struct $name<'a> {
            $(
                $(#[$doc])*
                #[serde(borrow)]
                #[schema(value_type = $kind)]
                $field: $crate::request::fields::Raw<'a>,
            )*
        }
    )*};
}
pub(crate) use bodies;

/// Declares requests: each struct has the values of its fields, and its second name in the API reference. What follows
/// `=>` is what has to hold between fields.
macro_rules! requests {
    ($($(#[$meta:meta])* $name:ident as $schema:ident {
        $($(#[$doc:meta])* $field:ident: $kind:ty,)*
    } $(=> |$form:ident| $check:block)?)*) => {$(
        pub(crate) struct $name {
            $(pub(crate) $field: <$kind as $crate::request::form::Field>::Value,)*
        }

        const _: () = {
            $crate::request::form::bodies! {
                $(#[$meta])*
                Sent as $schema { $($(#[$doc])* $field: $kind,)* }
            }

            impl utoipa::PartialSchema for $name {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                    Sent::schema()
                }
            }

            impl utoipa::ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    Sent::name()
                }

                fn schemas(
                    schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>)>,
                ) {
                    Sent::schemas(schemas);
                }
            }

            impl $crate::request::form::Request for $name {
                fn read(mut form: $crate::request::form::Form<'_>) -> Result<Self, $crate::response::error::ApiError> {
                    let sent: Sent<'_> = $crate::request::body::parse_object(form.body)?;
                    $(let $field = $crate::request::form::field::<$kind>(
                        $crate::request::form::json_name!($field), sent.$field, &mut form,
                    );)*
                    $({ let $form = &mut form; $check })?
                    form.errors.sort(&[$($crate::request::form::json_name!($field)),*]);
                    let read = (|| Some(Self { $($field: $field?,)* }))();
                    $crate::request::fields::complete(form.errors, read)
                }
            }
        };
    )*};
}
pub(crate) use requests;

/// A field's name as JSON has it.
macro_rules! json_name {
    ($field:ident) => {{
        const RUST: &str = stringify!($field);
        const NAME: &[u8] =
            &$crate::request::form::camel_case::<{ $crate::request::form::camel_length(RUST) }>(RUST);
        const JSON: &str = match std::str::from_utf8(NAME) {
            Ok(name) => name,
            Err(_) => RUST,
        };
        JSON
    }};
}
pub(crate) use json_name;

pub(crate) const fn camel_length(name: &str) -> usize {
    let (mut rest, mut length) = (name.as_bytes(), 0);
    while let [letter, tail @ ..] = rest {
        if *letter != b'_' {
            length += 1;
        }
        rest = tail;
    }
    length
}

pub(crate) const fn camel_case<const N: usize>(name: &str) -> [u8; N] {
    let mut camel = [0; N];
    let (mut rest, mut places): (_, &mut [u8]) = (name.as_bytes(), &mut camel);
    let mut begins_word = false;
    while let [letter, tail @ ..] = rest {
        rest = tail;
        if *letter == b'_' {
            begins_word = true;
        } else if let [place, others @ ..] = places {
            *place = if begins_word { letter.to_ascii_uppercase() } else { *letter };
            places = others;
            begins_word = false;
        }
    }
    camel
}

/// Declares fields whose rules are functions: of the field's name, what was sent, and the errors.
macro_rules! rules {
    ($($kind:ty => $value:ty, $rule:expr;)*) => {$(
        impl Field for $kind {
            type Value = $value;

            fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<$value> {
                let rule: fn(&'static str, Raw<'_>, &mut FieldErrors) -> Option<$value> = $rule;
                rule(name, Some(raw), &mut form.errors)
            }
        }
    )*};
}

rules! {
    scalars::AmountInput => Principal, fields::amount;
    scalars::EmailInput => String, fields::email;
    scalars::Moment => Timestamp, fields::moment;
    scalars::EndpointIdInput => tollgate_domain::id::EndpointId,
        |name, raw, errors| parsed(name, raw, "must be the ID of an event endpoint", errors);
    scalars::EventIdText => EventId, |name, raw, errors| parsed(name, raw, "must be the ID of an event", errors);
    scalars::OrganizationIds => Vec<OrganizationId>, |name, raw, errors| {
        list(raw, 100, |id| id.parse().ok(), "must be a list of 1 to 100 IDs of organizations", name, errors)
    };
    scalars::KeyEndpoints => Vec<Endpoint>, |name, raw, errors| {
        let rule =
            "must be a list of endpoints as the API reference writes them, such as `POST /client/v1/payments`";
        list(raw, Endpoint::ALL.len(), Endpoint::parse, rule, name, errors)
    };
    scalars::IpRanges => Vec<AddressRange>, |name, raw, errors| {
        let rule = "must be a list of 1 to 50 IP addresses or ranges, such as `203.0.113.7` or `10.0.0.0/8`";
        list(raw, 50, |range| range.parse().ok(), rule, name, errors)
    };
    scalars::EnvironmentNameInput => EnvironmentName, |name, raw, errors| {
        let value = match raw.map(JsonText::of) {
            Some(JsonText::String(text)) => EnvironmentName::parse(&text),
            _ => None,
        };
        let rule = "must be 1 to 32 characters a-z and 0-9, starting with a letter, such as test or live";
        value.or_else(|| errors.add(name, rule))
    };
    bool => bool, |name, raw, errors| match raw.map(JsonText::of) {
        Some(JsonText::Boolean(truth)) => Some(truth),
        _ => errors.add(name, "must be true or false"),
    };
}

/// What is written as a string and read by its type.
pub(crate) fn parsed<T: FromStr>(
    name: &'static str,
    raw: Raw<'_>,
    rule: &'static str,
    errors: &mut FieldErrors,
) -> Option<T> {
    let value = match raw.map(JsonText::of) {
        Some(JsonText::String(text)) => text.parse().ok(),
        _ => None,
    };
    value.or_else(|| errors.add(name, rule))
}

impl<const MOST: usize> Field for Line<MOST> {
    type Value = String;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<String> {
        fields::required_text(name, Some(raw), MOST, &mut form.errors)
    }
}

impl<const MOST: usize> Field for scalars::CallerId<MOST> {
    type Value = String;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<String> {
        fields::required_id(name, Some(raw), MOST, &mut form.errors)
    }
}

impl<const MOST: usize> Field for Prose<MOST> {
    type Value = Option<String>;

    /// An empty text counts as none.
    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Option<String>> {
        Some(fields::optional_text(name, Some(raw), MOST, &mut form.errors))
    }
}

impl<const MOST: u64> Field for Seconds<MOST> {
    type Value = std::time::Duration;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<std::time::Duration> {
        let seconds = fields::whole_number(name, Some(raw), 0, MOST, &mut form.errors);
        seconds.map(std::time::Duration::from_secs)
    }
}

impl Field for KeyText {
    type Value = String;

    fn read(_: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<String> {
        idempotency_key::read(Some(raw), form.headers, &mut form.errors)
    }

    /// It may be in the header instead.
    fn absent(_: &'static str, form: &mut Form<'_>) -> Option<String> {
        idempotency_key::read(None, form.headers, &mut form.errors)
    }
}

impl Field for scalars::MetadataInput {
    /// The pairs that routing reads, and the text to keep.
    type Value = (Metadata, String);

    fn read(_: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Self::Value> {
        let pairs = metadata_field::read(Some(raw), form.body, &mut form.errors)?;
        Some((pairs, metadata_text(Some(raw))))
    }
}

/// The text to keep of metadata that may be left out.
pub(crate) fn kept(metadata: Option<(Metadata, String)>) -> String {
    metadata.map_or_else(|| "{}".to_owned(), |(_, text)| text)
}

impl Field for scalars::Expiry {
    type Value = Timestamp;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Timestamp> {
        let at = fields::moment(name, Some(raw), &mut form.errors)?;
        if at > form.now { Some(at) } else { form.errors.add(name, "must be in the future") }
    }
}

/// Reads a list of 1 to `most` strings.
fn list<T>(
    raw: Raw<'_>,
    most: usize,
    parse: impl Fn(&str) -> Option<T>,
    rule: &'static str,
    name: &'static str,
    errors: &mut FieldErrors,
) -> Option<Vec<T>> {
    let texts: Option<Vec<String>> = match raw.map(JsonText::of) {
        Some(JsonText::Array(text)) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let texts = texts.filter(|texts| (1..=most).contains(&texts.len()));
    let items = texts.and_then(|texts| texts.iter().map(|text| parse(text)).collect());
    items.or_else(|| errors.add(name, rule))
}

/// Declares fields that hold one of a few words; `required` says what is missing where such a field is left out.
macro_rules! word_fields {
    ($($name:ident => $value:ty, $required:ident;)*) => {$(
        impl Field for words::$name {
            type Value = $value;

            fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<$value> {
                let value = match JsonText::of(raw) {
                    JsonText::String(text) => <$value>::parse(&text),
                    _ => None,
                };
                value.or_else(|| form.errors.add(name, one_of(&Self::all())))
            }

            fn absent(name: &'static str, form: &mut Form<'_>) -> Option<$value> {
                form.errors.add(name, $required(&Self::all()))
            }
        }
    )*};
}

fn one_of(words: &[&str]) -> String {
    format!("must be one of: {}", words.join(", "))
}

fn required(_: &[&str]) -> String {
    "is required".to_owned()
}

word_fields! {
    BankAccountType => BankAccountType, required;
    RecipientKind => RecipientKind, required;
    TransferPurpose => TransferPurpose, required;
    FeeRefund => FeeRefund, required;
    RefundReason => RefundReason, required;
    KeyKind => KeyKind, one_of;
    Role => Role, one_of;
}
