//! What requests and responses are made of: fields with their schemas, and the declarations around them.

pub(crate) mod configuration;
pub(crate) mod prelude;
pub(crate) mod scalars;
pub(crate) mod schemas;
pub(crate) mod signature;
pub(crate) mod words;

/// Lets a type with a schema be answered.
macro_rules! shape {
    (@static $name:ident) => { $name };
    (@static $name:ident <$life:lifetime>) => { $name<'static> };
    ($name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::types::signature::Shape for $name $(<$life>)? {
            type Static = $crate::types::shape!(@static $name $(<$life>)?);

            fn envelope(schemas: &mut $crate::types::schemas::Schemas) -> serde_json::Value {
                schemas.envelope_of::<Self::Static>()
            }
        }
    };
}
pub(crate) use shape;

/// Declares responses: each struct is what is written as JSON, and by its second name what the API reference says of it.
macro_rules! responses {
    ($($(#[$meta:meta])* $name:ident $(<$life:lifetime>)? as $schema:ident { $($fields:tt)* })*) => {$(
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        #[schema(as = $schema)]
        $(#[$meta])*
        pub(crate) struct $name $(<$life>)? { $($fields)* }

        $crate::types::shape!($name $(<$life>)?);
    )*};
}
pub(crate) use responses;
