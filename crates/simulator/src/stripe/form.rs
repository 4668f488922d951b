//! Form bodies and queries with bracket nesting.

use super::prelude::*;

/// The parameters of a request, in the order they came: `("metadata[order]", "7")`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(
            form_urlencoded::parse(text)
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        )
    }

    /// Refuses any parameter that fits none of the patterns, which are separated by spaces.
    ///
    /// A pattern is written like a parameter, with `*` for any one name, `#` for a list index (or none) and `**` for
    /// anything further.
    pub(super) fn allow(&self, patterns: &[&str]) -> Answer<()> {
        let patterns = patterns.iter().flat_map(|list| list.split_whitespace()).map(segments);
        let patterns: Vec<_> = patterns.collect();
        let fits = |name: &str| patterns.iter().any(|pattern| matches(pattern, &segments(name)));
        match self.0.iter().find(|(name, _)| !fits(name)) {
            Some((name, _)) => Err(Error::unknown(name)),
            None => Ok(()),
        }
    }

    /// A parameter's text; an empty one counts as absent, which is how a field is unset.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let place = self.0.iter().position(|(given, _)| given == name)?;
        Some(self.0.remove(place).1)
    }

    pub(super) fn required(&self, name: &str) -> Answer<&str> {
        self.text(name).ok_or_else(|| Error::missing(name))
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(super) fn integer(&self, name: &str) -> Answer<Option<i64>> {
        let refuse = |text: &str| {
            Error::invalid(format!("Invalid integer: {text}")).code("parameter_invalid_integer").param(name)
        };
        self.text(name).map(|text| text.parse().map_err(|_| refuse(text))).transpose()
    }

    pub(super) fn boolean(&self, name: &str) -> Answer<Option<bool>> {
        match self.text(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(text) => Err(Error::invalid(format!("Invalid boolean: {text}")).param(name)),
        }
    }

    /// One of a few words.
    pub(super) fn word(&self, name: &str, words: &[&str]) -> Answer<Option<String>> {
        match self.text(name) {
            Some(text) if !words.contains(&text) => {
                let message = format!("Invalid {name}: must be one of {}", words.join(", "));
                Err(Error::invalid(message).param(name))
            }
            text => Ok(text.map(str::to_owned)),
        }
    }

    /// `name[0]=a&name[]=b` as a list.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        let is_item = |given: &str| matches(&[name, "#"], &segments(given));
        self.0.iter().filter(|(given, _)| is_item(given)).map(|(_, value)| value.as_str()).collect()
    }

    /// The same, if there is any.
    pub(super) fn owned_list(&self, name: &str) -> Option<Vec<String>> {
        let items: Vec<_> = self.list(name).into_iter().map(str::to_owned).collect();
        (!items.is_empty()).then_some(items)
    }

    /// The indexes under which `name[…][…]` gives objects, in order of appearance.
    pub(super) fn indexes(&self, name: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for (given, _) in &self.0 {
            if let [first, index, ..] = segments(given).as_slice()
                && *first == name
                && !found.contains(index)
            {
                found.push(index);
            }
        }
        found
    }

    /// The parameters under `name[…]`, as if they stood alone.
    pub(super) fn inside(&self, name: &str) -> Self {
        let opening = format!("{name}[");
        let alone = |(given, value): &(String, String)| {
            let (first, rest) = given.strip_prefix(&opening)?.split_once(']')?;
            Some((format!("{first}{rest}"), value.clone()))
        };
        Self(self.0.iter().filter_map(alone).collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| given == name || given.starts_with(&format!("{name}[")))
    }

    /// Puts `name[key]=value` pairs over what is there; an empty value removes a key, an empty map removes them all.
    pub(super) fn merge_metadata(&self, name: &str, into: &mut Map<String, Value>) -> Answer<()> {
        if self.0.iter().any(|(given, value)| given == name && value.is_empty()) {
            into.clear();
        }
        let opening = format!("{name}[");
        for (given, value) in &self.0 {
            let Some(key) = given.strip_prefix(&opening).and_then(|rest| rest.strip_suffix(']')) else {
                continue;
            };
            if value.is_empty() {
                into.shift_remove(key);
                continue;
            }
            if key.chars().count() > 40 || value.chars().count() > 500 {
                let message = "Metadata keys can have up to 40 characters and values up to 500.";
                return Err(Error::invalid(message).param(given));
            }
            into.insert(key.to_owned(), value.as_str().into());
        }
        if into.len() > 50 {
            return Err(Error::invalid("Metadata can have up to 50 keys.").param(name));
        }
        Ok(())
    }

    /// The same for two requests with the same parameters in any order.
    pub(super) fn fingerprint(&self) -> String {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort();
        format!("{sorted:?}")
    }
}

/// `a[b][]` as `a`, `b` and the empty string.
fn segments(name: &str) -> Vec<&str> {
    let mut parts = name.split('[');
    let first = parts.next().unwrap_or_default();
    std::iter::once(first).chain(parts.map(|part| part.strip_suffix(']').unwrap_or(part))).collect()
}

fn matches(pattern: &[&str], name: &[&str]) -> bool {
    match (pattern, name) {
        (["**"], _) | ([], []) => true,
        ([wanted, patterns @ ..], [given, names @ ..]) => {
            let fits = match *wanted {
                "*" => true,
                "#" => given.bytes().all(|byte| byte.is_ascii_digit()),
                exact => exact == *given,
            };
            fits && matches(patterns, names)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parameters_are_named() {
        let patterns = ["amount metadata[*] types[#]", "items[#][price][amount]", "shipping[**]"];
        for (body, refused) in [
            ("amount=1&metadata[a+b]=c&types[]=x&types[1]=y", None),
            ("items%5B0%5D%5Bprice%5D%5Bamount%5D=5&shipping[a][b]=1&shipping=", None),
            ("amout=1", Some("amout")),
            ("items[0][prize]=1", Some("items[0][prize]")),
            ("types[a]=1", Some("types[a]")),
            ("metadata[a][b]=1", Some("metadata[a][b]")),
        ] {
            let error = Params::parse(body.as_bytes()).allow(&patterns).err();
            let param = error.as_ref().and_then(|error| error.fields.get("param")?.as_str());
            assert_eq!(param, refused, "{body}");
        }
    }

    #[test]
    fn values_are_decoded() {
        let params = Params::parse(b"metadata[order+id]=a%26b%3Dc+%C3%BC&types[0]=card&types[1]=link&empty=");
        let mut metadata = Map::new();
        params.merge_metadata("metadata", &mut metadata).unwrap();
        assert_eq!(Value::from(metadata), serde_json::json!({"order id": "a&b=c ü"}));
        assert_eq!(params.list("types"), ["card", "link"]);
        assert_eq!(params.text("empty"), None);
    }
}
