//! Lists of what waits for people's approval or did, of every kind alike.

/// `approvals! { Transfer, read, transfers!(), "AND …", "f.approval_id", "f.approval_state", ApprovalId::to_string }`: the statements and
/// units that list and find what has an approval. The first text is a condition under which there is one.
macro_rules! approvals {
    ($item:ty, $read:expr, $select:expr, $present:literal, $id:literal, $state:literal, $key:expr) => {
        pub(crate) static LIST: LazyLock<String> = LazyLock::new(|| statement("", " < $2"));
        pub(crate) static LIST_OPEN: LazyLock<String> =
            LazyLock::new(|| statement(concat!(" AND ", $state, " = 'required'"), " < $2"));
        static LIST_IN_STATE: LazyLock<String> =
            LazyLock::new(|| statement(concat!(" AND ", $state, " = $4"), " < $2"));
        static ONE: LazyLock<String> = LazyLock::new(|| statement("", " = $2"));

        fn statement(state: &str, ids: &str) -> String {
            let present = if state.contains("'required'") { "" } else { $present };
            let page = if ids == " = $2" { "" } else { concat!(" ORDER BY ", $id, " DESC LIMIT $3") };
            format!("{} {present}{state} AND {}{ids}{page}", $select, $id)
        }

        pub(crate) async fn list<S: Session>(
            s: &mut S,
            environment: EnvironmentId,
            query: tollgate_engine::ports::ApprovalQuery,
        ) -> Result<Vec<$item>, Fault> {
            let before = query.before.unwrap_or(ApprovalId::from_bytes([u8::MAX; 16]));
            let mut values = row![environment, $key(&before), query.limit];
            let sql: &LazyLock<String> = match query.state {
                None => &LIST,
                Some(tollgate_domain::approval::ApprovalState::Required) => &LIST_OPEN,
                Some(state) => {
                    values.push(state.into());
                    &LIST_IN_STATE
                }
            };
            s.query(sql, &values, $read).await
        }

        pub(crate) async fn find<S: Session>(
            s: &mut S,
            environment: EnvironmentId,
            id: ApprovalId,
        ) -> Result<Option<$item>, Fault> {
            s.query_opt(&ONE, values![environment, $key(&id)], $read).await
        }
    };
}

pub(super) use approvals;
