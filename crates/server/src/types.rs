//! What requests and responses are made of: fields with their schemas, and the declarations around them.

pub(crate) mod prelude;
pub(crate) mod scalars;
pub(crate) mod words;

/// Declares responses: each struct is what is written as JSON, and by its second name what the API reference says of it.
macro_rules! responses {
    ($($(#[$meta:meta])* $name:ident $(<$life:lifetime>)? as $schema:ident { $($fields:tt)* })*) => {$(
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        #[schema(as = $schema)]
        $(#[$meta])*
        pub(crate) struct $name $(<$life>)? { $($fields)* }
    )*};
}
pub(crate) use responses;
