//! Lists in slices: `?after=<id>&limit=<1 to 200>`, answered with where to go on.

use std::str::FromStr;

use tollgate_engine::ports::Page;

use crate::{admin_api::operator::Operator, request::location::Limit, response::error::ApiError};

impl Operator {
    pub(crate) fn page<Id: FromStr>(&self) -> Result<(Page<Id>, Limit), ApiError> {
        let mut query = self.query();
        let (after, limit) = (query.value("after"), query.limit());
        query.finish()?;
        Ok((Page { after, limit: limit.to_read() }, limit))
    }
}
