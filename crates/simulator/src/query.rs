//! The query of an address, read by name.

#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// A parameter's text; an empty one counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(given, value)| given == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a value is the one asked for; where none was, every value is.
    pub(crate) fn is(&self, name: &str, value: Option<&str>) -> bool {
        self.get(name).is_none_or(|wanted| Some(wanted) == value)
    }

    /// Whether a value is in the comma list of this name; without the list, every value is.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.get(name).is_none_or(|list| list.split(',').any(|word| word == value))
    }

    /// The first parameter that is not among the known ones, which are separated by spaces.
    pub(crate) fn unknown(&self, known: &[&str]) -> Option<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).find(|name| !is_listed(name, known))
    }

    /// How many rows a page may have, 100 unless asked otherwise. `None`: what was asked for is not 1 to 100.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.get("limit")
            .map_or(Some(100), |text| text.parse().ok().filter(|limit| (1..=100).contains(limit)))
    }

    /// The times of these parameters; or the first of them that holds none.
    pub(crate) fn times<'n, const N: usize>(
        &self,
        names: [&'n str; N],
    ) -> Result<[Option<jiff::Timestamp>; N], &'n str> {
        let mut times = [None; N];
        for (time, name) in times.iter_mut().zip(names) {
            *time = self.get(name).map(str::parse).transpose().map_err(|_| name)?;
        }
        Ok(times)
    }
}

/// The rows of a table: so many columns with a space between them, of which the last is the rest of the line.
pub(crate) fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    table.lines().filter_map(|line| line.splitn(N, ' ').collect::<Vec<_>>().try_into().ok())
}

/// Whether a name is in one of the lists, whose names are separated by spaces.
pub(crate) fn is_listed(name: &str, lists: &[&str]) -> bool {
    lists.iter().any(|list| list.split_whitespace().any(|listed| listed == name))
}
