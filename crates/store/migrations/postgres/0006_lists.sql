-- Lists of transactions by any of status, method and provider read no others. There are few statuses and methods: a
-- list that leaves them open is merged from the lists of each.

CREATE INDEX transactions_by_kind ON transactions (environment_id, method, status, id);
CREATE INDEX transactions_by_provider ON transactions (environment_id, provider, method, status, id);
DROP INDEX transactions_by_status;
