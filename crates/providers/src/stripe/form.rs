//! The provider's form bodies: nested names in square brackets, an empty value means "unset".

use form_urlencoded::Serializer;

/// A form being written.
#[derive(Clone)]
pub(super) struct Form(String);

impl Form {
    pub(super) fn new() -> Self {
        Self(String::new())
    }

    pub(super) fn with(self, name: &str, value: &str) -> Self {
        Self(Serializer::for_suffix(self.0, 0).append_pair(name, value).finish())
    }

    /// Leaves out what there is not. An empty text would unset the field, so it is left out too.
    pub(super) fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Fields inside a field.
    pub(super) fn with_all(mut self, name: &str, fields: &[(impl AsRef<str>, String)]) -> Self {
        for (inner, value) in fields {
            self = self.with(&format!("{name}[{}]", inner.as_ref()), value);
        }
        self
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_nest_and_values_are_escaped() {
        let form = Form::new()
            .with("amount", "1234")
            .with_all("metadata", &[("order id", "a&b=c ü".to_owned())])
            .with_some("description", Some(""))
            .with_some("cancel_url", None)
            .with("expand[0]", "latest_charge");
        assert_eq!(
            form.finish(),
            "amount=1234&metadata%5Border+id%5D=a%26b%3Dc+%C3%BC&expand%5B0%5D=latest_charge"
        );
    }
}
