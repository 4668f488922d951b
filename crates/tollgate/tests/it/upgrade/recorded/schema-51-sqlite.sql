BEGIN;
CREATE TABLE schema_migrations (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
CREATE TABLE organizations (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE applications (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    organization_id BLOB NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE environments (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    application_id BLOB NOT NULL REFERENCES applications (id),
    organization_id BLOB NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- The configuration in force; 0 is the empty one.
    config_version INTEGER NOT NULL CHECK (config_version >= 0),
    -- The directory's version at the last change of this environment, its keys or its configuration.
    directory_version INTEGER NOT NULL,
    UNIQUE (application_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE api_keys (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    id BLOB NOT NULL CHECK (length(id) = 16),
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    replaced_by BLOB, name TEXT, endpoints TEXT, addresses TEXT, last_used_at INTEGER,
    PRIMARY KEY (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE config_versions (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    version INTEGER NOT NULL CHECK (version > 0),
    change_id BLOB NOT NULL CHECK (length(change_id) = 16),
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (environment_id, version),
    UNIQUE (environment_id, change_id)
) STRICT;
CREATE TABLE directory (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
CREATE TABLE pins (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_accounts (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    currency TEXT NOT NULL,
    account TEXT NOT NULL,
    balance_minor INTEGER NOT NULL,
    PRIMARY KEY (environment_id, currency, account),
    CHECK (account = 'funding' OR balance_minor >= 0)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_postings (
    environment_id BLOB NOT NULL,
    currency TEXT NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    cause TEXT NOT NULL,
    reference TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    actor TEXT NOT NULL,
    at INTEGER NOT NULL, provider TEXT, funding_minor INTEGER, available_minor INTEGER, reserved_minor INTEGER, settled_out_minor INTEGER, platform_fees_minor INTEGER, organization_fees_minor INTEGER,
    PRIMARY KEY (environment_id, currency, id),
    UNIQUE (environment_id, currency, cause, reference)
) STRICT, WITHOUT ROWID;
CREATE TABLE card_payments (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    -- What was asked for and decided, which never changes.
    flow TEXT NOT NULL,
    provider TEXT NOT NULL,
    adapter TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- The rule that decided, with its conditions, as JSON; none for the default target.
    matched TEXT,
    config_version INTEGER NOT NULL CHECK (config_version >= 0),
    currency TEXT NOT NULL,
    principal_minor INTEGER NOT NULL CHECK (principal_minor > 0),
    platform_fee_minor INTEGER NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor INTEGER NOT NULL CHECK (organization_fee_minor >= 0),
    fee_minor INTEGER NOT NULL CHECK (fee_minor >= 0),
    total_debit_minor INTEGER NOT NULL CHECK (total_debit_minor > 0),
    -- How both layers came to their fees, as JSON.
    fee_layers TEXT NOT NULL,
    description TEXT,
    customer_name TEXT,
    customer_email TEXT,
    metadata TEXT NOT NULL,
    success_url TEXT,
    cancel_url TEXT,
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Where it stands.
    preparation TEXT NOT NULL,
    object TEXT,
    checkout_url TEXT,
    prepared_at INTEGER,
    confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    waiting TEXT,
    -- Counts the changes, and names the last one.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    last_change BLOB CHECK (length(last_change) = 16), account TEXT, follow_up_at INTEGER, key_digest BLOB CHECK (length(key_digest) = 32), capture TEXT NOT NULL DEFAULT 'automatic', route TEXT, erased_at INTEGER, timeline BLOB,
    PRIMARY KEY (environment_id, id)
) STRICT;
CREATE TABLE card_attempts (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    source_digest BLOB NOT NULL CHECK (length(source_digest) = 32),
    sealed_source TEXT,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL, account TEXT,
    PRIMARY KEY (environment_id, payment_id, number),
    UNIQUE (environment_id, payment_id, source_digest),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE provider_objects (
    environment_id BLOB NOT NULL,
    provider TEXT NOT NULL,
    object TEXT NOT NULL,
    payment_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, provider, object)
) STRICT, WITHOUT ROWID;
CREATE TABLE transactions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    provider TEXT NOT NULL,
    channel TEXT NOT NULL,
    currency TEXT NOT NULL,
    principal_minor INTEGER NOT NULL CHECK (principal_minor > 0),
    platform_fee_minor INTEGER NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor INTEGER NOT NULL CHECK (organization_fee_minor >= 0),
    fee_minor INTEGER NOT NULL CHECK (fee_minor >= 0),
    total_debit_minor INTEGER NOT NULL CHECK (total_debit_minor > 0),
    fee_layers TEXT NOT NULL,
    description TEXT,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- What changes.
    updated_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    provider_reference TEXT,
    failure_code TEXT,
    failure_message TEXT,
    refunded_minor INTEGER NOT NULL CHECK (refunded_minor >= 0),
    dispute_id TEXT,
    dispute_status TEXT,
    dispute_reason TEXT,
    dispute_amount_minor INTEGER CHECK (dispute_amount_minor >= 0), hold TEXT, dispute_respond_by INTEGER,
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, method, reference),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
    CHECK ((dispute_id IS NULL) = (dispute_status IS NULL))
) STRICT;
CREATE TABLE timeline (
    environment_id BLOB NOT NULL,
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    id BLOB NOT NULL CHECK (length(id) = 16),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request TEXT,
    detail TEXT NOT NULL,
    PRIMARY KEY (environment_id, method, reference, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE provider_events (
    environment_id BLOB NOT NULL,
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    notice TEXT NOT NULL,
    request TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    note TEXT NOT NULL,
    PRIMARY KEY (environment_id, provider, id),
    CHECK (state = 'waiting' OR due_at IS NULL)
) STRICT;
CREATE TABLE reconciliation_exceptions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    kind TEXT NOT NULL,
    expected TEXT NOT NULL,
    found TEXT NOT NULL,
    -- SHA-256 of what was found: the same words are recorded once, however long they are.
    found_digest BLOB NOT NULL CHECK (length(found_digest) = 32),
    source TEXT NOT NULL,
    at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by TEXT,
    resolution TEXT,
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, method, reference, kind, found_digest),
    CHECK ((resolved_at IS NULL) = (resolved_by IS NULL) AND (resolved_at IS NULL) = (resolution IS NULL))
) STRICT;
CREATE TABLE transfers (
    environment_id BLOB NOT NULL,
    transaction_id BLOB NOT NULL CHECK (length(transaction_id) = 16),
    -- The transfer's id as text, which the ledger's postings refer to.
    reference TEXT NOT NULL,
    -- What was asked for and decided, which never changes.
    adapter TEXT NOT NULL,
    -- The rule that decided, with its conditions, as JSON; none for the default target.
    matched TEXT,
    config_version INTEGER NOT NULL CHECK (config_version >= 0),
    external_customer_id TEXT NOT NULL,
    customer_name TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    account_name TEXT NOT NULL,
    account_type TEXT NOT NULL,
    last_four TEXT NOT NULL,
    remittance TEXT,
    request TEXT NOT NULL,
    fingerprints TEXT NOT NULL,
    -- Where it stands.
    sealed_account TEXT,
    expected_on TEXT,
    corrections TEXT NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    waiting TEXT,
    -- Counts the changes, and names the last one.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    last_change BLOB CHECK (length(last_change) = 16), account TEXT, route TEXT, recipient_kind TEXT NOT NULL DEFAULT 'individual', purpose TEXT, statement_descriptor TEXT, cancel_requested_at INTEGER, rail TEXT, erased_at INTEGER, approval_id TEXT, approval_state TEXT, approval TEXT, approval_account TEXT, timeline BLOB,
    PRIMARY KEY (environment_id, transaction_id)
) STRICT;
CREATE TABLE out_events (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    kind TEXT NOT NULL,
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    at INTEGER NOT NULL,
    -- The transaction as it was then, as JSON; none where the event is not about one, or is older than this table.
    state TEXT, sequence INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE undigested_events (
    event_id BLOB NOT NULL,
    environment_id BLOB NOT NULL,
    PRIMARY KEY (event_id, environment_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_endpoints (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    id BLOB NOT NULL CHECK (length(id) = 16),
    -- Counts an operator's changes.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    url TEXT NOT NULL,
    description TEXT,
    -- An asterisk for all kinds, or their names with a space before and behind each.
    filter TEXT NOT NULL,
    -- Why it is told nothing; none while it is enabled.
    disabled TEXT,
    -- Sealed, as JSON.
    secrets TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    rests_until INTEGER,
    PRIMARY KEY (environment_id, id)
) STRICT;
CREATE TABLE event_deliveries (
    environment_id BLOB NOT NULL,
    endpoint_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    due_at INTEGER,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    last_at INTEGER,
    last_status INTEGER,
    last_took INTEGER,
    last_note TEXT,
    PRIMARY KEY (environment_id, endpoint_id, event_id),
    CHECK ((state = 'waiting') = (due_at IS NOT NULL)),
    CHECK ((last_at IS NULL) = (last_took IS NULL) AND (last_at IS NULL) = (last_note IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE activity (
    environment_id BLOB NOT NULL,
    hour INTEGER NOT NULL,
    currency TEXT NOT NULL,
    method TEXT NOT NULL,
    provider TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    principal_minor INTEGER NOT NULL CHECK (principal_minor >= 0),
    platform_fee_minor INTEGER NOT NULL CHECK (platform_fee_minor >= 0),
    organization_fee_minor INTEGER NOT NULL CHECK (organization_fee_minor >= 0),
    PRIMARY KEY (environment_id, hour, currency, method, provider, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE provider_checks (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    provider TEXT NOT NULL,
    config_version INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    checks TEXT NOT NULL,
    PRIMARY KEY (environment_id, provider)
) STRICT, WITHOUT ROWID;
CREATE TABLE refunds (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    principal_minor INTEGER NOT NULL CHECK (principal_minor >= 0),
    fee_minor INTEGER NOT NULL CHECK (fee_minor >= 0),
    -- As it was asked for.
    asked_minor INTEGER,
    fee_refund TEXT,
    reason TEXT,
    description TEXT,
    metadata TEXT NOT NULL,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    provider_reference TEXT,
    failure_code TEXT,
    failure_message TEXT,
    request TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, approval_id TEXT, approval_state TEXT, approval TEXT,
    PRIMARY KEY (environment_id, payment_id, id),
    UNIQUE (environment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE hold_actions (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    -- As it was asked for.
    asked_minor INTEGER CHECK (asked_minor > 0),
    status TEXT NOT NULL,
    failure_code TEXT,
    failure_message TEXT,
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, payment_id, id),
    UNIQUE (environment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE card_postings (
    environment_id BLOB NOT NULL,
    -- Begins with the moment of the posting, so that a month is a range.
    id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- The refund or the dispute.
    subject TEXT,
    provider TEXT NOT NULL,
    currency TEXT NOT NULL,
    -- Debits.
    due_from_provider_minor INTEGER NOT NULL,
    disputes_held_minor INTEGER NOT NULL,
    refunds_given_minor INTEGER NOT NULL,
    disputes_lost_minor INTEGER NOT NULL,
    -- Credits.
    principal_minor INTEGER NOT NULL,
    platform_fees_minor INTEGER NOT NULL,
    organization_fees_minor INTEGER NOT NULL,
    PRIMARY KEY (environment_id, id),
    CHECK (due_from_provider_minor + disputes_held_minor + refunds_given_minor + disputes_lost_minor
        = principal_minor + platform_fees_minor + organization_fees_minor)
) STRICT, WITHOUT ROWID;
CREATE TABLE unposted_payments (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, payment_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE disputes (
    environment_id BLOB NOT NULL,
    payment_id BLOB NOT NULL,
    -- The provider's name for it.
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    amount_minor INTEGER CHECK (amount_minor >= 0),
    respond_by INTEGER,
    opened_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- None while it is open.
    closed_at INTEGER, withdrawn_minor INTEGER CHECK (withdrawn_minor >= 0),
    PRIMARY KEY (environment_id, payment_id, id),
    FOREIGN KEY (environment_id, payment_id) REFERENCES card_payments (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE customer_tokens (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    key_digest BLOB NOT NULL CHECK (length(key_digest) = 32),
    fingerprints TEXT NOT NULL,
    token TEXT NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, key_digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE sealing_keys (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE ended_sessions (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;
CREATE TABLE users (
    id BLOB NOT NULL CHECK (length(id) = 16) PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    -- The ids of the only organizations the role holds in, separated by spaces; NULL for all of them.
    organizations TEXT,
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    -- The directory's version at the last change of this person or their tokens.
    directory_version INTEGER NOT NULL
, subject TEXT, last_used_at INTEGER) STRICT;
CREATE TABLE user_tokens (
    user_id BLOB NOT NULL REFERENCES users (id),
    id BLOB NOT NULL CHECK (length(id) = 16),
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER, issuers TEXT, last_used_at INTEGER,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE TABLE limit_totals (
    environment_id BLOB NOT NULL,
    subject BLOB NOT NULL CHECK (length(subject) = 32),
    payments INTEGER NOT NULL CHECK (payments >= 0),
    amount_minor INTEGER NOT NULL CHECK (amount_minor >= 0),
    PRIMARY KEY (environment_id, subject)
) STRICT;
CREATE TABLE limit_uses (
    environment_id BLOB NOT NULL,
    subject BLOB NOT NULL CHECK (length(subject) = 32),
    at INTEGER NOT NULL,
    -- The payment's or transfer's id.
    reference BLOB NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    -- Whether it is in the sum: not once it has failed or was canceled.
    counted INTEGER NOT NULL,
    -- When the window will have passed over it.
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (environment_id, subject, at, reference)
) STRICT;
CREATE TABLE request_log (
    environment_id BLOB NOT NULL,
    -- Begins with the call's moment.
    id BLOB NOT NULL CHECK (length(id) = 16),
    at INTEGER NOT NULL,
    key_id BLOB NOT NULL CHECK (length(key_id) = 16),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    -- The operation's path, which errors are grouped by.
    endpoint TEXT NOT NULL,
    status INTEGER NOT NULL,
    -- The error's code; absent where it succeeded.
    code TEXT,
    -- The names of faulty and unknown fields, a comma between them.
    fields TEXT NOT NULL,
    took_millis INTEGER NOT NULL,
    -- The payment it was about.
    reference TEXT,
    PRIMARY KEY (environment_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE quote_counts (
    environment_id BLOB NOT NULL,
    key_id BLOB NOT NULL CHECK (length(key_id) = 16),
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (environment_id, hour, key_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_log (
    -- Counts up from 1 without gaps.
    sequence INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    user_id BLOB,
    actor TEXT NOT NULL,
    address TEXT,
    request TEXT NOT NULL,
    action TEXT NOT NULL,
    organization_id BLOB,
    environment_id BLOB,
    subject TEXT NOT NULL,
    before_json TEXT,
    after_json TEXT,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
, token_id BLOB) STRICT;
CREATE TABLE audit_head (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    entries INTEGER NOT NULL,
    head_hash BLOB NOT NULL CHECK (length(head_hash) = 32)
, proof BLOB) STRICT;
CREATE TABLE config_proposals (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    id BLOB NOT NULL,
    state TEXT NOT NULL,
    approval TEXT NOT NULL,
    change_id BLOB NOT NULL,
    from_version INTEGER NOT NULL,
    document TEXT,
    actor TEXT NOT NULL,
    request TEXT NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER,
    PRIMARY KEY (environment_id, id)
) STRICT;
CREATE TABLE posting_order (
    sequence INTEGER PRIMARY KEY,
    environment_id BLOB NOT NULL,
    -- None: the posting is one of a card payment.
    currency TEXT,
    posting_id BLOB NOT NULL
) STRICT;
CREATE TABLE audit_checkpoint (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- The last posting's place in the order.
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- When everything was verified, not only what had come since the audit before.
    full_at INTEGER NOT NULL,
    postings INTEGER NOT NULL CHECK (postings >= 0),
    card_postings INTEGER NOT NULL CHECK (card_postings >= 0)
) STRICT;
CREATE TABLE audit_balances (
    environment_id BLOB NOT NULL,
    currency TEXT NOT NULL,
    account TEXT NOT NULL,
    balance_minor INTEGER NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    PRIMARY KEY (environment_id, currency, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE statement_position (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    position TEXT NOT NULL
) STRICT;
CREATE TABLE statement_sums (
    environment_id BLOB NOT NULL,
    -- A calendar month in UTC, such as 2026-11.
    month TEXT NOT NULL,
    provider TEXT NOT NULL,
    currency TEXT NOT NULL,
    -- The kind of a card payment's posting, or the cause of a wallet's: settle or reverse.
    kind TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    due_from_provider_minor TEXT NOT NULL,
    disputes_held_minor TEXT NOT NULL,
    refunds_given_minor TEXT NOT NULL,
    disputes_lost_minor TEXT NOT NULL,
    principal_minor TEXT NOT NULL,
    platform_fees_minor TEXT NOT NULL,
    organization_fees_minor TEXT NOT NULL,
    PRIMARY KEY (environment_id, month, provider, currency, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE "search_terms" (
    environment_id BLOB NOT NULL,
    term TEXT NOT NULL,
    place BLOB NOT NULL CHECK (length(place) = 16),
    PRIMARY KEY (environment_id, term, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE erasure_wishes (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    method TEXT NOT NULL,
    reference BLOB NOT NULL CHECK (length(reference) = 16),
    asked_at INTEGER NOT NULL,
    -- Who asked, as the timeline will have it.
    detail TEXT NOT NULL,
    PRIMARY KEY (environment_id, method, reference)
) STRICT;
CREATE TABLE credential_accounts (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    credential TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (environment_id, credential)
) STRICT, WITHOUT ROWID;
CREATE TABLE fund_requests (
    environment_id BLOB NOT NULL REFERENCES environments (id),
    id BLOB NOT NULL,
    state TEXT NOT NULL,
    approval TEXT NOT NULL,
    currency TEXT NOT NULL,
    cause TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    reference TEXT NOT NULL,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    posting_id BLOB,
    PRIMARY KEY (environment_id, id),
    UNIQUE (environment_id, currency, cause, reference)
) STRICT;
INSERT INTO schema_migrations VALUES (1, 'foundations', '828aafd39e92720f701278b9d8e993522482aeb90ff7a62e0a41b215d684a1f3', 1795070122657);
INSERT INTO schema_migrations VALUES (2, 'payments', '8e57efe7a61e97c6977234d098d12d82b66fe855b16137ae256e68d9fb3c47dd', 1795070122658);
INSERT INTO schema_migrations VALUES (3, 'transfers', 'e2dc89a487df07908f1a6dddf1f97096cfbff26b6b3f0ee754da709d1405fc69', 1795070122666);
INSERT INTO schema_migrations VALUES (5, 'events', '6b769b9c9f4d0ff12938db0397c2c0ccd26ee469e8d5fe8275e3c9d6a7fea790', 1795070122668);
INSERT INTO schema_migrations VALUES (6, 'lists', '036001e488dc0ae50fb3cc41160ef73d60b98535ddb41f2bf9f74644610cb377', 1795070122669);
INSERT INTO schema_migrations VALUES (7, 'accounts', '1daaafa033c6c411f1fce9248b53af809c59759ba5e705c97f6046c43472225c', 1795070122677);
INSERT INTO schema_migrations VALUES (8, 'event_sequence', 'fde9013ed9573de39e1bf7547ea419c280f1de304aa5281fec52ed3d8cf43dc3', 1795070122679);
INSERT INTO schema_migrations VALUES (11, 'follow_ups', 'b614f5289b92cd6146e2c8ab61c013625c29849dcd08e15caebf15ce5622256c', 1795070122729);
INSERT INTO schema_migrations VALUES (12, 'names_of_payments', 'b8c49694c39471da5fbf725191031fa0249df52428fe63d6fe3f75b5a8620c20', 1795070122760);
INSERT INTO schema_migrations VALUES (16, 'provider_checks', '00b3372b8ed0fd9d45e74ac5856841e595bed557775044476ba68912ee3ffb57', 1795070122770);
INSERT INTO schema_migrations VALUES (18, 'refunds', 'bcc7c2eda8834d1320b7f1037f1c9a992e391eede3b6ed03665ee5d17982bd6b', 1795070122776);
INSERT INTO schema_migrations VALUES (19, 'preparation_keys', '3fe07f61132b3ce471e9118f72b9aeba6e1e98d823012a4baddbe29916fcc41b', 1795070122780);
INSERT INTO schema_migrations VALUES (20, 'holds', '1895c53bf6eb048f758084266a740eaca98b9012f030eae503b6ad9a2318d1d3', 1795070122794);
INSERT INTO schema_migrations VALUES (21, 'card_books', 'db11d1d481118918a749761f64376188c38e0b9e993fafa6b07514c463155a3e', 1795070122810);
INSERT INTO schema_migrations VALUES (22, 'customer_tokens', '8d36b30b7367278241291c6fe2d963ed3f198c5238fae6abb43903b821647ddd', 1795070122812);
INSERT INTO schema_migrations VALUES (23, 'security', 'ab388094b10371f063ad5c4249009fd9e817ba8a318a919127d295d7e705b315', 1795070122815);
INSERT INTO schema_migrations VALUES (24, 'fingerprints', '70a42838ee514d2b3a26963ad66e4cfafeb0277aea00b87fa433a14dc402e4ad', 1795070122824);
INSERT INTO schema_migrations VALUES (25, 'people', 'cb04430feecc0e92dc238fb3af7bb91831ae24529dc17d642de1f1440281027e', 1795070122828);
INSERT INTO schema_migrations VALUES (27, 'routes', 'c23346fc970d6610be44b2c740738f79b32f67b49b0c625604bad79244ca3dee', 1795070122836);
INSERT INTO schema_migrations VALUES (29, 'limits', 'fe3d7dbef40bfb597fa4d01a08022164fbc0daf9255cf4ded6cbdaedeb4ca7c2', 1795070122837);
INSERT INTO schema_migrations VALUES (31, 'request_log', '856b8044613fee83e822ab9d494ef75b96506e87aada8f0f5ae91da56b3126ff', 1795070122839);
INSERT INTO schema_migrations VALUES (32, 'search', 'b0279465b5ed040bda32888eac7c5ed7279772fab965f4c15acd38bd8cec8364', 1795070122840);
INSERT INTO schema_migrations VALUES (33, 'transfer_details', 'a60e607812ce4c34c67bfed3fddc4a0318151f70424d7cabdce498bcec70b33e', 1795070123008);
INSERT INTO schema_migrations VALUES (34, 'request_log_by_code', '95ef55db3b371d23cacfdfa56235e880c5e79faf858a4faa8a85e10213303214', 1795070123093);
INSERT INTO schema_migrations VALUES (35, 'audit_log', '08ed418b3de6708ce93a616c84e2fa673ba47871c86118b21deb78d04465b343', 1795070123116);
INSERT INTO schema_migrations VALUES (36, 'key_scopes', '4585ac44bc58ad420c08e8bd2c5ca2d9d6cba20d9f61ef81b5bd52939a4c11f7', 1795070123383);
INSERT INTO schema_migrations VALUES (37, 'erasure', '183e751b8ea9f2f641f00f71f7be7d2248a740a75b504c9c9e88370be1e08c04', 1795070123391);
INSERT INTO schema_migrations VALUES (38, 'approvals', 'eb3a22026a1c75c5797786ff5b432b3e6ec812dcb92e48435c7120c1d23ad439', 1795070123766);
INSERT INTO schema_migrations VALUES (39, 'audit_checkpoint', '775223328a4ae687a5977fa1617841a23acd1a729e6270b3a080cda0afa22078', 1795070123958);
INSERT INTO schema_migrations VALUES (40, 'statement_sums', 'e128ef39feeef5812c59d16084deed9216ad7e7a352c16f43cfcf84921b5b8c8', 1795070123992);
INSERT INTO schema_migrations VALUES (41, 'entries_of_postings', '1dc80afca785c5a4c3ed639f379f624eefaeb95010ce1b6df24ef0335355018d', 1795070124070);
INSERT INTO schema_migrations VALUES (42, 'lines_of_payments', '9fface2aad16ddb5772488ef07936c1a603e0183db9169392cdab696ab1271d7', 1795070124322);
INSERT INTO schema_migrations VALUES (43, 'smaller_search_terms', '6ab916a022df3acc4f9f530b1bfa7d447cfac1ab5daa5294c2e286c07b63ca68', 1795070124406);
INSERT INTO schema_migrations VALUES (44, 'withdrawn_for_disputes', '664b0e58a74b68f456d442cbeed2713d68d0de38a541e7eba7174e83707ed99f', 1795070124418);
INSERT INTO schema_migrations VALUES (45, 'erasure_wishes', '4aecdb460d8439a635941c67a62c0fa63aefa0d15fba0ff4ec1f02bc0298dde9', 1795070124418);
INSERT INTO schema_migrations VALUES (46, 'credential_accounts', 'c3e4cfc94bb9c1865f5de2c4c69a05b3969f7aee3a8c1279193ab1e294ecad59', 1795070124420);
INSERT INTO schema_migrations VALUES (50, 'identity', 'd9aa26770fa5e4a32f74732100d6faad404a37608d263a352a79e2a7e809e522', 1795070124523);
INSERT INTO schema_migrations VALUES (51, 'more_approvals', 'e48c6ba950dc9f566c2c06ddc90a3d71e5376ce3de19db55636066a4b1da44ee', 1795070124533);
INSERT INTO organizations VALUES (X'01A1F2846555F5116283E9F52C788118', 'Organization', 1795070125397);
INSERT INTO applications VALUES (X'01A1F284659D1E23B6D6939222139F1E', X'01A1F2846555F5116283E9F52C788118', 'Application', 1795070125469);
INSERT INTO environments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284659D1E23B6D6939222139F1E', X'01A1F2846555F5116283E9F52C788118', 'test', 1795070125671, 1, 3);
INSERT INTO api_keys VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284669F88697855DB736919E593', 'secret', X'CFAB9C4B905AD212E0B8C1DB8497E82F90FAAC146418AF3F38404C12D9A9EC73', 'IT6R', 1795070125727, NULL, NULL, NULL, NULL, NULL, NULL, 1795070126499);
INSERT INTO config_versions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 1, X'01A1F28468DC178BACB80B25A685D927', 'admin', 'req_01m7s88sxd2z1v71nq2sg4khbx', 1795070126119, '{"providers":{"ach_provider_a":{"adapter":"increase","credentials":{"apiKey":{"sealed":"v1.b64eab48aad1e7e8.pI5_4iOP_BEzcsrBxwzpNL9cd4IjgTHSkI4sCLtwSN8xAPCVnbVPtNPiaUfNZq0qGtg"},"webhookSecret":{"sealed":"v1.b64eab48aad1e7e8.Bme3YNhO9xOTg1_utxgmREerpfIejwNCMQEhXGf4-Rf_Rp-d8610fGdZiA5AIyg5gJ4UZ3LZWWuehlWbN9iB9YZuaM2E5BaqBdIX9Xzz"}},"baseUrl":"http://127.0.0.1:33967/increase","funding":{"accountId":"account_simulator","accountNumberId":"account_number_simulator"}},"card_provider_b":{"adapter":"square","credentials":{"accessToken":{"sealed":"v1.b64eab48aad1e7e8.vKqVkIM4oDay6DEx8_afSNC7oE2keQZXjhQ_wvyYHNqZFRpBIK7JHI9TsrF5lDgJ4iE"},"applicationId":"sandbox-sq0idb-simulator","locationId":"LSIMULATOR001","webhookSignatureKey":{"sealed":"v1.b64eab48aad1e7e8.LasOFYMIK3e84F7F9tDrsFGcRkzJQvJx135n0VqBS5Viqy9wE687bIpx4SVZJ3F-deHBGZhLYCxIfgNQEerm-ZfoQcrbU3V4vEpbVc4k"}},"baseUrl":"http://127.0.0.1:33967/square","environment":"sandbox"}},"routing":{"web_card":{"enabled":true,"rules":[],"default":{"provider":"card_provider_b","channel":"web_card"}},"ach":{"enabled":true,"rules":[],"default":{"provider":"ach_provider_a","channel":"standard_ach"}}},"fees":[{"provider":"ach_provider_a","paymentMethod":"ach","channel":"standard_ach","currency":"USD","platform":{"enabled":true,"fixedFeeMinor":"25","percentFeeBps":0,"minimumFeeMinor":null,"capFeeMinor":null},"organization":{"enabled":true,"fixedFeeMinor":"0","percentFeeBps":10,"minimumFeeMinor":null,"capFeeMinor":null}},{"provider":"card_provider_b","paymentMethod":"web_card","channel":"none","currency":"USD","platform":{"enabled":true,"fixedFeeMinor":"25","percentFeeBps":0,"minimumFeeMinor":null,"capFeeMinor":null},"organization":{"enabled":true,"fixedFeeMinor":"0","percentFeeBps":10,"minimumFeeMinor":null,"capFeeMinor":null}}],"limits":[],"approvals":{"transfers":[],"configuration":false},"settings":{"secretKeyForPreparation":false,"preparationLifetimeSeconds":null,"returnOrigins":null,"allowedOrigins":null,"customerTokenLifetimeSeconds":null,"customerTokenKey":null,"customerTokenOldestKey":null,"achCalendar":null,"checkProviderFunds":false,"feeRefund":"proportional","forwardMetadata":[],"circuit":{"enabled":true,"windowSeconds":60,"minimumCalls":20,"failurePercent":50,"openSeconds":30},"fallbackMayCostMore":false,"rateLimitPerSecond":null,"surchargeWarningBps":null,"requestLogDays":null,"retention":{"customerDataDays":null,"providerEventDays":null},"returnRates":{"administrativeBps":300,"unauthorizedBps":50,"minimumTransfers":100}}}');
INSERT INTO directory VALUES (1, 3);
INSERT INTO pins VALUES ('master_key_fingerprint', 'b64eab48aad1e7e8');
INSERT INTO ledger_accounts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'available', 999999998814);
INSERT INTO ledger_accounts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'funding', -1000000000000);
INSERT INTO ledger_accounts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'reserved', 1186);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F284695CC955143D95C900C1A9C7', 'fund', 'opening', 1000000000000, 'admin', 1795070126428, NULL, -1000000000000, 1000000000000, NULL, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846A40336FA64F818406C7D4AE', 'reserve', 'ach_0c89pw9ym4b4by446crn5pa4jj', 127, 'transfer', 1795070126512, 'ach_provider_a', NULL, -127, 127, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846A58F786BC132BC347FDCD4F', 'reserve', 'ach_532wmv67ky1r0vce9hbbdat7pr', 126, 'transfer', 1795070126670, 'ach_provider_a', NULL, -126, 126, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846D463AF4309F9FE9824A9519', 'reserve', 'ach_2vnrme12nhmfqv1qw0n4zk3b4m', 129, 'transfer', 1795070127429, 'ach_provider_a', NULL, -129, 129, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846D656AE1F4859C80217740A6', 'reserve', 'ach_26k34aerz10agy2fqvkg0kbtkc', 130, 'transfer', 1795070127460, 'ach_provider_a', NULL, -130, 130, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846DDCB6B3D710039D2C85D2E2', 'reserve', 'ach_5hbmxrf7q4cg9mpreyqd7xqmvg', 132, 'transfer', 1795070127580, 'ach_provider_a', NULL, -132, 132, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846E002F5D1FC64CFC04E09FDC', 'reserve', 'ach_0hwddhf9028gjxy91d1a9pdrt6', 133, 'transfer', 1795070127616, 'ach_provider_a', NULL, -133, 133, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846EB220095EE76FEB0DA1D584', 'reserve', 'ach_22er25z6gc95n6vve9eadyr9yz', 135, 'transfer', 1795070127794, 'ach_provider_a', NULL, -135, 135, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F28470610896E2DACE2593C8EFAC', 'reserve', 'ach_14h491ap10f4xkvsy104tnv9s4', 136, 'transfer', 1795070128225, 'ach_provider_a', NULL, -136, 136, NULL, NULL, NULL);
INSERT INTO ledger_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F28470804B63D301533512F913C7', 'reserve', 'ach_18k8bm1dzvtrf9ke50ekwcktyj', 138, 'transfer', 1795070128256, 'ach_provider_a', NULL, -138, 138, NULL, NULL, NULL);
INSERT INTO card_payments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4D56413BBD5A003AE15F7A', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1003, 25, 1, 26, 1029, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s88tjcsrc3pfpxvxghfvz7', 1795070126669, 1795156526669, 'prepared', NULL, NULL, 1795070126669, 1, NULL, 0, NULL, 2, X'01A1F2846D8C7A4C36EE24990D70E9C6', NULL, 1795156527500, NULL, 'automatic', NULL, NULL, X'019B016B048B02B03935303730313237313134EB0301BB01079602FF0773383874796631386434656876747078736670317A33AC0203F60D66323834366330616133666134383639373765666538363030393732C00079636F6E6669726DC002E0617474656D7074223A317D7D5D7D01F103EE01048B02B03935303730313237353030EB0301BB01079602FF0773383874796631386434656876747078736670317A33AC0203F60D66323834366438633761346333366565323439373733323436363130C00004A001735F63616C6C222C120304870038323931D90008DF0303040405520406EB0100FC03456172645F5B000054020CB801009D0301690300D300F0056A646173306B7166617430307865327176742D317D0505D6010FF102013F313933F3022903C0010FE50206022D03010006066D040FDF0212F016557735423131544B51437A6839767A424734353739615A4E324F724C476D526D227D7D5D7D');
INSERT INTO card_payments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4C788D27A9843BA82179CA', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1000, 25, 1, 26, 1026, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s88tjbabs2tfp3javdwtpj', 1795070126668, 1795156526668, 'prepared', NULL, NULL, 1795070126668, 1, NULL, 0, NULL, 2, X'01A1F2846DA26D553123BD36B23AA1E0', NULL, 1795156527522, NULL, 'automatic', NULL, NULL, X'019B016A048B02B03935303730313237343834EB0301BB01079602FF0673383876613466776B79386865327A33766D747934AC0204F60D66323834366437633939383064626363356635643832323930613139C00079636F6E6669726DC002E0617474656D7074223A317D7D5D7D01F003EB01048B02B03935303730313237353232EB0301BB01079602FF0673383876613466776B79386865327A33766D747934AC0204F00C663238343664613236643535333132336264333539306166666236040103C000055D016363616C6C222C120304870038343934D90008DF0303910305520406EB0100FC03456172645F5B000054020CB801009D0304D300F006746A636632366A6661633437656D32327965612D317D0505D6010FF102012F3238F2022903FF000FE40206022C0301FF05066C040FDE0212F0163757546C714531534F52316353674169584F68394F78676B357552656B644E33227D7D5D7D');
INSERT INTO card_payments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DE45B3097476FE4E2775CC7', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1006, 25, 1, 26, 1032, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s88vf37ea512qwvaz412k0', 1795070127588, 1795156527588, 'prepared', NULL, NULL, 1795070127588, 1, NULL, 0, NULL, 2, X'01A1F2846FE57A6A29AAF78A3EBCC9DA', NULL, 1795156528101, NULL, 'automatic', NULL, NULL, X'019B016B048B02B03935303730313237383438EB0301BB01079602FF07733838766B7068736E376634686A6877656A61723972AC0203F60D66323834366565386463323261366365383364623838356236643432C00079636F6E6669726DC002E0617474656D7074223A317D7D5D7D01F103EE01048B02B03935303730313238313031EB0301BB01079602FF07733838766B7068736E376634686A6877656A61723972AC0203F60D66323834366665353761366132396161663738376437396266353230C000055D016363616C6C222C12030387004837393230D90008DF0303910305520406EB0100FC03456172645F5B000054020CB801009D0301690300D300F00566346263723965687666776B6837657136372D317D0505D6010FF102013F313831F3022903C0010FE50206022D03010006066D040FDF0212F0167948656B51484E3239564D565159426B6B757261476D76446F6C575A5748454D227D7D5D7D');
INSERT INTO card_payments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E59FD3D27449BFED563C9BA', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1009, 25, 1, 26, 1035, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s88vjrnz0a2y5ys3pbb59b', 1795070127704, 1795156527704, 'prepared', NULL, NULL, 1795070127704, 1, NULL, 0, NULL, 2, X'01A1F284706DBD2C2DBE07FAE8340A78', NULL, 1795156528237, NULL, 'automatic', NULL, NULL, X'019B016D048B02B03935303730313238303831EB0301BB01079602FF0773383876776A677A386772346666767236773870766DAC0203F60D66323834366664313936306133626535643435656236396630333163C00060636F6E666972430006C002E0617474656D7074223A317D7D5D7D01F003EB01048B02B03935303730313238323337EB0301BB01079602FF0773383876776A677A386772346666767236773870766DAC0203F60D66323834373036646264326332646265303766386566643336346536C000055D016363616C6C222C1203058700283231D90008DF0303040405520406EB0100FC03456172645F5B000054020CB801009D0301690300D300F0056A737A6D796A656834767A766170376A64742D317D0505D6010FF102012F3136F2022903BF010FE40206022C0301FF05066C040FDE0212F01662335854787949317946424233467135514C596B794242786E35483531693747227D7D5D7D');
INSERT INTO card_payments VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706F77697D3AE54DDBDA9788', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1012, 25, 1, 26, 1038, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s88w3fpqev460n4yazjk6x', 1795070128239, 1795156528239, 'prepared', NULL, NULL, 1795070128239, 1, NULL, 0, NULL, 2, X'01A1F28471B49FC88AF846F552E465FD', NULL, 1795156528564, NULL, 'automatic', NULL, NULL, X'019B016B048B02B03935303730313238343939EB0301BB01079602FF07733838773570797A6E6A686B3861347072663871797AAC0203F60D66323834373137333237303439663931386134613338383161343536C00079636F6E6669726DC002E0617474656D7074223A317D7D5D7D01F003EC01048B02B03935303730313238353634EB0301BB01079602FF07733838773570797A6E6A686B3861347072663871797AAC0203F60D66323834373162343966633838616638343666336131353833666336C000055D016363616C6C222C1203058700283234D90008DF0303910305520406EB0100FC03456172645F5B000054020CB801009D03016903F00973383877336665786D7174657135397164786E3577382D317D0505D6010FF102012F3339F2022903BF010FE40206022C0301FF05066C040FDE0212F0166F663745794C6E4A3937694254536C586F6964756E614F6548556C6835484A50227D7D5D7D');
INSERT INTO card_attempts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4C788D27A9843BA82179CA', 1, X'3D73C9E52B412C309D27F7F236C2855C027129EF196CF604421504B10CED2E21', NULL, 'taken', 1795070127484, '{"address":"http://127.0.0.1:33967/square","id":"LSIMULATOR001","credential":"15db93dbee8d593a"}');
INSERT INTO card_attempts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4D56413BBD5A003AE15F7A', 1, X'D76C8DC42A9732BE8653302E8D747D8AE898BD7529606A639A3FF10B03353655', NULL, 'taken', 1795070127114, '{"address":"http://127.0.0.1:33967/square","id":"LSIMULATOR001","credential":"15db93dbee8d593a"}');
INSERT INTO card_attempts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DE45B3097476FE4E2775CC7', 1, X'B80349E66C06B106B178B8632FD46923AEE22FDD9C654EE39BF4FB28BB8502AE', NULL, 'taken', 1795070127848, '{"address":"http://127.0.0.1:33967/square","id":"LSIMULATOR001","credential":"15db93dbee8d593a"}');
INSERT INTO card_attempts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E59FD3D27449BFED563C9BA', 1, X'DBE16349AC1BDCC2B91AFB4C479E14BCF1B6566077E15A00F1DBBD990AFD2764', NULL, 'taken', 1795070128081, '{"address":"http://127.0.0.1:33967/square","id":"LSIMULATOR001","credential":"15db93dbee8d593a"}');
INSERT INTO card_attempts VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706F77697D3AE54DDBDA9788', 1, X'65676C1B01F2D44CB2B16088C983969792813C303D9024F85AD8965B194E8C15', NULL, 'taken', 1795070128499, '{"address":"http://127.0.0.1:33967/square","id":"LSIMULATOR001","credential":"15db93dbee8d593a"}');
INSERT INTO provider_objects VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'card_provider_b', '7WTlqE1SOR1cSgAiXOh9Oxgk5uRekdN3', X'01A1F2846A4C788D27A9843BA82179CA');
INSERT INTO provider_objects VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'card_provider_b', 'Uw5B11TKQCzh9vzBG4579aZN2OrLGmRm', X'01A1F2846A4D56413BBD5A003AE15F7A');
INSERT INTO provider_objects VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'card_provider_b', 'yHekQHN29VMVQYBkkuraGmvDolWZWHEM', X'01A1F2846DE45B3097476FE4E2775CC7');
INSERT INTO provider_objects VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'card_provider_b', 'b3XTxyI1yFBB3Fq5QLYkyBBxn5H51i7G', X'01A1F2846E59FD3D27449BFED563C9BA');
INSERT INTO provider_objects VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'card_provider_b', 'of7EyLnJ97iBTSlXoidunaOeHUlh5HJP', X'01A1F284706F77697D3AE54DDBDA9788');
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A40336FA64F81838A79907F', 'ach', X'0C426DC4FA845917E210CCC54B651252', 'ach_provider_a', 'standard_ach', 'USD', 102, 25, 0, 25, 127, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070126512, 1795070127195, 'processing', 'ach_transfer_ebzrcuaywhiookr248fncvkk', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4E6E90DB987CA9CDD0B136', 'ach', X'A31729B31E7E0E01B639315ADAAD1ED8', 'ach_provider_a', 'standard_ach', 'USD', 101, 25, 0, 25, 126, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070126670, 1795070127170, 'processing', 'ach_transfer_2vi3eobfgviqsnxgkh2cqeqc', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D463AF4309F9FE901F4497B', 'ach', X'5BAE28E08AB1A3EFB0DF80A93F31AC94', 'ach_provider_a', 'standard_ach', 'USD', 104, 25, 0, 25, 129, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127429, 1795070127553, 'processing', 'ach_transfer_zofg6v4evhscebnlnvsnexvs', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D656AE1F4859C7FCDCCE4FC', 'ach', X'4698C8A763E102A1E13EFB9C0135EA6C', 'ach_provider_a', 'standard_ach', 'USD', 105, 25, 0, 25, 130, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127460, 1795070127521, 'processing', 'ach_transfer_e9temnqdz0jsv3lqhyggpaok', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4D7A4C36EE2497F06D4C86', 'web_card', X'01A1F2846A4D56413BBD5A003AE15F7A', 'card_provider_b', 'web_card', 'USD', 1003, 25, 1, 26, 1029, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070126669, 1795070127500, 'succeeded', 'Uw5B11TKQCzh9vzBG4579aZN2OrLGmRm', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4C6D553123BD3626E13A86', 'web_card', X'01A1F2846A4C788D27A9843BA82179CA', 'card_provider_b', 'web_card', 'USD', 1000, 25, 1, 26, 1026, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070126668, 1795070127522, 'succeeded', '7WTlqE1SOR1cSgAiXOh9Oxgk5uRekdN3', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DDCB6B3D710039C8B7FAE66', 'ach', X'B15D3B879EE464134B61DEBB4FDBD370', 'ach_provider_a', 'standard_ach', 'USD', 107, 25, 0, 25, 132, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127580, 1795070127622, 'processing', 'ach_transfer_wnyl9ec7tpqfn4rkiqnzo6nd', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E002F5D1FC64CFC03AB2CF7', 'ach', X'11E35B17A4024425DF242D0A9366E346', 'ach_provider_a', 'standard_ach', 'USD', 108, 25, 0, 25, 133, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127616, 1795070127720, 'processing', 'ach_transfer_acfzsy9e9r4safruqfd7acrg', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846EB220095EE76FEAD9DF6784', 'ach', X'4276045F9A0C496A6DEDC9729BEC27DF', 'ach_provider_a', 'standard_ach', 'USD', 110, 25, 0, 25, 135, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127794, 1795070128100, 'processing', 'ach_transfer_prkr5xfp7qzbo948uqaexr6m', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DE47A6A29AAF788D10D6B0C', 'web_card', X'01A1F2846DE45B3097476FE4E2775CC7', 'card_provider_b', 'web_card', 'USD', 1006, 25, 1, 26, 1032, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127588, 1795070128101, 'succeeded', 'yHekQHN29VMVQYBkkuraGmvDolWZWHEM', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470610896E2DACE252F6CC0A6', 'ach', X'248912155820793B3DE7C101355DA724', 'ach_provider_a', 'standard_ach', 'USD', 111, 25, 0, 25, 136, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070128225, 1795070128309, 'processing', 'ach_transfer_l5zn1nt4jiwtbnoxvd1u4gn1', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E58BD2C2DBE07F9C882087F', 'web_card', X'01A1F2846E59FD3D27449BFED563C9BA', 'card_provider_b', 'web_card', 'USD', 1009, 25, 1, 26, 1035, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070127704, 1795070128237, 'succeeded', 'b3XTxyI1yFBB3Fq5QLYkyBBxn5H51i7G', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470804B63D3015334F5BEA3F4', 'ach', X'289A1740B7FBD61E99B8A074F8C9EBD2', 'ach_provider_a', 'standard_ach', 'USD', 113, 25, 0, 25, 138, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070128256, 1795070128308, 'processing', 'ach_transfer_qso4dchz1ocnsg2qaosvunnm', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transactions VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706F9FC88AF846F3EE83655D', 'web_card', X'01A1F284706F77697D3AE54DDBDA9788', 'card_provider_b', 'web_card', 'USD', 1012, 25, 1, 26, 1038, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070128239, 1795070128564, 'succeeded', 'of7EyLnJ97iBTSlXoidunaOeHUlh5HJP', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A40336FA64F81838A79907F', 'ach_0c89pw9ym4b4by446crn5pa4jj', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88tdf1nsa9k56597q08qt', '{"accountName":"891f50616c67cf2de4085c25","amountMinor":"1ed3fbce66a69200dd5b921c","bankAccount":"e53dc2b9e4f106456a2548d8","bankAccountType":"5d60561829209bd836d58192","bankName":"0edb1c28421e5c3e13b6ca61","currency":"6e2921f10504351d24195d03","customerToken":"06c4b734a21b09774a516ad7","customerTokenText":"52e6dca5fdce4f63f43a97cc","description":"7635928c952c455401b4f250","metadata":"9eab099bbb303aaefc4af686","remittanceData":"82be37c7defd75ce003aed3c"}', NULL, '2026-11-20', '[]', 1795070133131, 2, NULL, 3, X'01A1F284757B6E0736A616D5293DD2B9', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FE03D201048B02B03935303730313237313935EB0301BB01079602FF07733838746466316E7361396B35363539377130387174AC0203F002663238343663356265663230326131643105007636656635343463C000055D016363616C6C222C12030387004836383732D90008DF0308210105570406F001034301055F000FBC0101014400F00B30633839707739796D346234627934343663726E357061346A6A7F0505D8010FF302013F323833F5022903C2010FE70253F00E65627A72637561797768696F6F6B72323438666E63766B6B227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4E6E90DB987CA9CDD0B136', 'ach_532wmv67ky1r0vce9hbbdat7pr', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88tjdaqb47mkhj76cbztf', '{"accountName":"d84d0fb70e2512cb0e70d219","amountMinor":"62a1a1fb66dec25e01ba3887","bankAccount":"69e6ffeaff6bef34653b44cc","bankAccountType":"47119e3798510085187cc620","bankName":"ac0b89943510c675293e21e3","currency":"0bca11aa27248a8e1b70ef12","customerToken":"8baf891d620787ec30931355","customerTokenText":"d0d9458394266613293030ff","description":"769940bc0b6840c841e2c1c6","metadata":"85ea58ab33516ac25d0bdd5a","remittanceData":"510f0f91c5802f01c0b48fdb"}', NULL, '2026-11-20', '[]', 1795070132939, 2, NULL, 3, X'01A1F28474BB72725DB954927B89A5A5', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FE03D301048B02B03935303730313237313730EB0301BB01079602FF07733838746A6461716234376D6B686A373663627A7466AC0203F60D66323834366334323262363833663039663030366235383633333834C000055D016363616C6C222C12030387004836383732C70408DF0308210105570406F001034301055F000FBC0101014400F00B353332776D7636376B79317230766365396862626461743770727F0505D8010FF302013F323938F5022903C2010FE70253F00E32766933656F626667766971736E78676B68326371657163227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D463AF4309F9FE901F4497B', 'ach_2vnrme12nhmfqv1qw0n4zk3b4m', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88va5eag26fx8qgnxg0vk', '{"accountName":"80b48d1cdc2e35aff4591cb0","amountMinor":"e5d7ca6933e5d6217b6bcf8b","bankAccount":"c1cb2e4f55fb61698b72d108","bankAccountType":"6dcd796087cbac30367e4b05","bankName":"7297c0c10b15e1643bb7e584","currency":"aca409c6928efcb44d1c1dc6","customerToken":"5d3927e0c77a071458a3f19b","customerTokenText":"12b6348bd6ef4403795ded13","description":"8ebb8485e40027cfe8cbe85f","metadata":"e7505e5f3e73c95ce595c031","remittanceData":"dd694e2caf7d5c996c8c0c0f"}', NULL, '2026-11-20', '[]', 1795070133715, 2, NULL, 3, X'01A1F28477C3C74F9D0EEA8A5364133F', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FD03D201048B02B03935303730313237353533EB0301BB01079602FF07733838766135656167323666783871676E786730766BAC0203F00C6632383436646332316235643663633236316666396338656436366E0303C000055D016363616C6C222C120304870038343834D90008DF0308210105570406F001034301055F000FBC0101014400F00B32766E726D6531326E686D667176317177306E347A6B3362346D7F0505D8010FF302011F37F4022A0301010FE60253F00E7A6F6667367634657668736365626E6C6E76736E65787673227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D656AE1F4859C7FCDCCE4FC', 'ach_26k34aerz10agy2fqvkg0kbtkc', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88vafzd56zn0cckpy1sfc', '{"accountName":"4f58fbfb6a8f2c8192a56557","amountMinor":"fa7b014b72366fb870edb380","bankAccount":"c40aa15b4d3fe9a1e6327884","bankAccountType":"251591469c4c0ed6da64607e","bankName":"8de697a24fe9f65ed8c8d693","currency":"53f5f87769aec9757d35e7c7","customerToken":"12ee83e8f330863381cbc3ca","customerTokenText":"a924466b5a5a0185f0f0e682","description":"62818b91f5f3be2dc73f3508","metadata":"71dfdecf5e7c9b88efdf2912","remittanceData":"6ddebe269636016c317bb6bb"}', NULL, '2026-11-20', '[]', 1795070133549, 2, NULL, 3, X'01A1F284771D1DC6A0C90165B8DDC3B4', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FD03D301048B02B03935303730313237353231EB0301BB01079602FF077338387661667A6435367A6E3063636B707931736663AC0203F60D66323834366461316338366265386535323064643138613339646166C000055D016363616C6C222C120304870038343734D90008DF0308210105570406F001034301055F000FBC0101014400F00A32366B33346165727A3130616779326671766B67306B62746BD70000130202D8010FF302012F3437F4022903C1010FE60253F00E653974656D6E71647A306A7376336C716879676770616F6B227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DDCB6B3D710039C8B7FAE66', 'ach_5hbmxrf7q4cg9mpreyqd7xqmvg', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88vevzq1z4hgzb7df43aq', '{"accountName":"426299530faa64802c6a8ec5","amountMinor":"080d76a283085a169cac398f","bankAccount":"72ca0097bf212fc0d89a30eb","bankAccountType":"1c269b374cb696256094a23f","bankName":"169a615c2cad91f24335b7e4","currency":"5d47bcb37ef8fb67616ffa53","customerToken":"5d8a2b472d95e2c1f2e3f546","customerTokenText":"103dd8881ef64ec07001faf3","description":"bf46083c0d1c421e2bbbec1d","metadata":"e84b9a55878f11164f12e684","remittanceData":"21f44ddf40749650f4f71dd0"}', NULL, '2026-11-20', '[]', 1795070133548, 2, NULL, 3, X'01A1F284771C00C309DC5D836990ABF5', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FC03CE01048B02B03935303730313237363232EB0301BB01079602FF077338387665767A71317A3468677A6237646634336171AC0203F60D66323834366530363830636663393165383337346633633630316636C000055D016363616C6C222C12030687001830D90008DF0308210105570406F001034301055F000FBC0101014400F00B3568626D7872663771346367396D7072657971643778716D76677F0505D8010FF302011F32F3022903C0010FE50253F00E776E796C39656337747071666E34726B69716E7A6F366E64227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E002F5D1FC64CFC03AB2CF7', 'ach_0hwddhf9028gjxy91d1a9pdrt6', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88vfz7zvn093r7en4k03x', '{"accountName":"3621312ce2be6e059e5ff51b","amountMinor":"308b99bef8bc1b3640a5316a","bankAccount":"cf4a87ab9cc6c4b7caf54d7a","bankAccountType":"5a605d2cf04e910bcb9d69db","bankName":"22a056dcb18eb19796f9776a","currency":"a9611c82ef04738a70d745c9","customerToken":"55554b6579a1a322a25bd666","customerTokenText":"4cddbe0fb08b88ea20fa2d88","description":"16614ff132b509de86070528","metadata":"642ed6f44ab6fb526f9f8f6e","remittanceData":"831e225f56e67de42ef360a4"}', NULL, '2026-11-20', '[]', 1795070133716, 2, NULL, 3, X'01A1F28477C4F36E3131AF00E23D8F7B', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FD03D101048B02B03935303730313237373230EB0301BB01079602FF0773383876667A377A766E3039337237656E346B303378AC0203F60D66323834366536396336623364396332366635313135376566363432C000055D016363616C6C222C120304870038363737D90008DF0308210105570406F001034301055F000FBC0101014400F00B3068776464686639303238676A787939316431613970647274367F0505D8010FF302012F3433F4022903C1010FE60253F00E6163667A7379396539723473616672757166643761637267227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846EB220095EE76FEAD9DF6784', 'ach_22er25z6gc95n6vve9eadyr9yz', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88vnheznaqhmny9z8mdqj', '{"accountName":"4d6f1ce239a22a3032543d6a","amountMinor":"19a3a97526e2e23a07e02291","bankAccount":"f84315a2313e85f306882013","bankAccountType":"05ba0940ca4e2ac92c08573e","bankName":"4c97612660d3511188b92edb","currency":"033ea189334d16f3dbc7030f","customerToken":"9decd8f08d12a84ebe9644b4","customerTokenText":"361c0d8c947764502516c0d1","description":"044185bd92142394c9c4a666","metadata":"e96ea3c01864d279c1d3eb88","remittanceData":"da902f967f037c9e7bccc252"}', NULL, '2026-11-20', '[]', 1795070133715, 2, NULL, 3, X'01A1F28477C4F36E3131AF00908E4C2F', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FE03D301048B02B03935303730313238313030EB0301BB01079602FF07733838766E68657A6E6171686D6E79397A386D64716AAC0203F60D66323834366665343232383537306338393265366631363062356432C000055D016363616C6C222C12030387004837393135D90008DF0308210105570406F001034301055F000FBC0101014400F00B3232657232357A36676339356E3676766539656164797239797A7F0505D8010FF302013F313834F5022903C2010FE70253F00E70726B723578667037717A626F393438757161657872366D227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470610896E2DACE252F6CC0A6', 'ach_14h491ap10f4xkvsy104tnv9s4', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88w30sqdmw9y0n4ms85hk', '{"accountName":"71b7066267fb6d0be38aa39a","amountMinor":"40f1d70a5133aada30d4d643","bankAccount":"1120cd378325fefb294cb208","bankAccountType":"f55a4064d86857e6e5efd0ff","bankName":"3e3f7aa66f2a5b97a3e5c339","currency":"6b318f91c065fc495bf7a6f8","customerToken":"f8535c6c2481fdf13b2a555f","customerTokenText":"9fbe523fd61d39ce2c6e3ff9","description":"4750069406dec5c19ef41063","metadata":"b5d555ae93fe25e65bb29515","remittanceData":"df130512ead646ef7c1df1a3"}', NULL, '2026-11-20', '[]', 1795070134037, 2, NULL, 3, X'01A1F284790562800FCECECB0A626F05', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FD03D201048B02B03935303730313238333039EB0301BB01079602FF077338387733307371646D773979306E346D733835686BAC0203F00C663238343730623662613938353431376135383863653765343735040103C000055D016363616C6C222C120304870038323830D90008DF0308210105570406F001034301055F000FBC0101014400F00B313468343931617031306634786B767379313034746E763973347F0505D8010FF302011F33F4022A0301010FE60253F00E6C357A6E316E74346A697774626E6F787664317534676E31227D7D5D7D');
INSERT INTO transfers VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470804B63D3015334F5BEA3F4', 'ach_18k8bm1dzvtrf9ke50ekwcktyj', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s88w3ec2vqgjbccgj1rtdr', '{"accountName":"5653b6e5aba4573557d072fb","amountMinor":"77486835aff43ddb33ee97a3","bankAccount":"24483faa416b5c050c03bf57","bankAccountType":"5ee38d81a19abd6a9daadff5","bankName":"bb6b73178d851ac185f27fa7","currency":"b0df14a71ec3fa39fcd9862f","customerToken":"ed633416882411df6df2aa69","customerTokenText":"1c3daa57fa387c78fe27ed90","description":"9df73f1b5b0f1bbc3ae22f19","metadata":"f01b94d3f0a7e8d216fc3ede","remittanceData":"71fc415bbe4f7e82fc175719"}', NULL, '2026-11-20', '[]', 1795070134130, 2, NULL, 3, X'01A1F28479623E13682B4615E764C477', '{"address":"http://127.0.0.1:33967/increase","id":"account_simulator","credential":"cdcd6117f9795f25"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, X'01FD03D101048B02B03935303730313238333038EB0301BB01079602FF0773383877336563327671676A626363676A3172746472AC0203F60D66323834373062353535366235346436343039633438643331316439C000055D016363616C6C222C120304870038323934D90008DF0308210105570406F001034301055F000FBC0101014400F00B31386B38626D31647A76747266396B653530656B77636B74796A7F0505D8010FF302012F3134F4022903C1010FE60253F00E71736F346463687A316F636E73673271616F7376756E6E6D227D7D5D7D');
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846B9D978A0F876E599CCA2CA8', 'payment.prepared', 'web_card', X'01A1F2846A4D56413BBD5A003AE15F7A', 1795070126669, NULL, 1);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846C32D9EA9F3C7529621F00C4', 'payment.prepared', 'web_card', X'01A1F2846A4C788D27A9843BA82179CA', 1795070126668, NULL, 2);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846C422B683F09F0071B175160', 'transaction.pending', 'ach', X'A31729B31E7E0E01B639315ADAAD1ED8', 1795070127170, '{"status":"pending"}', 3);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846C422B683F09F00744EB8AC9', 'transaction.processing', 'ach', X'A31729B31E7E0E01B639315ADAAD1ED8', 1795070127170, '{"revision":1,"status":"processing","providerReference":"ach_transfer_2vi3eobfgviqsnxgkh2cqeqc"}', 4);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846C5BEF202A1D12A27391B1B3', 'transaction.pending', 'ach', X'0C426DC4FA845917E210CCC54B651252', 1795070127195, '{"status":"pending"}', 5);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846C5BEF202A1D12A3399113B5', 'transaction.processing', 'ach', X'0C426DC4FA845917E210CCC54B651252', 1795070127195, '{"revision":1,"status":"processing","providerReference":"ach_transfer_ebzrcuaywhiookr248fncvkk"}', 6);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D8C7A4C36EE24986BF44734', 'transaction.succeeded', 'web_card', X'01A1F2846A4D56413BBD5A003AE15F7A', 1795070127500, '{"revision":2,"status":"succeeded","providerReference":"Uw5B11TKQCzh9vzBG4579aZN2OrLGmRm"}', 7);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DA1C86BE8E520DDB6D21448', 'transaction.pending', 'ach', X'4698C8A763E102A1E13EFB9C0135EA6C', 1795070127521, '{"status":"pending"}', 8);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DA1C86BE8E520DE1B6E69D6', 'transaction.processing', 'ach', X'4698C8A763E102A1E13EFB9C0135EA6C', 1795070127521, '{"revision":1,"status":"processing","providerReference":"ach_transfer_e9temnqdz0jsv3lqhyggpaok"}', 9);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DA26D553123BD367BF0EBFD', 'transaction.succeeded', 'web_card', X'01A1F2846A4C788D27A9843BA82179CA', 1795070127522, '{"revision":2,"status":"succeeded","providerReference":"7WTlqE1SOR1cSgAiXOh9Oxgk5uRekdN3"}', 10);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DC21B5D6CC2620077FBFB2E', 'transaction.pending', 'ach', X'5BAE28E08AB1A3EFB0DF80A93F31AC94', 1795070127553, '{"status":"pending"}', 11);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DC21B5D6CC2620092E29B0E', 'transaction.processing', 'ach', X'5BAE28E08AB1A3EFB0DF80A93F31AC94', 1795070127553, '{"revision":1,"status":"processing","providerReference":"ach_transfer_zofg6v4evhscebnlnvsnexvs"}', 12);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DE6178F75B1BBB2BE5C00BF', 'payment.prepared', 'web_card', X'01A1F2846DE45B3097476FE4E2775CC7', 1795070127588, NULL, 13);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E0680CFC91E83752861DCA3', 'transaction.pending', 'ach', X'B15D3B879EE464134B61DEBB4FDBD370', 1795070127622, '{"status":"pending"}', 14);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E0680CFC91E8375F1671329', 'transaction.processing', 'ach', X'B15D3B879EE464134B61DEBB4FDBD370', 1795070127622, '{"revision":1,"status":"processing","providerReference":"ach_transfer_wnyl9ec7tpqfn4rkiqnzo6nd"}', 15);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E59FD3D27449BFFCB83C1F1', 'payment.prepared', 'web_card', X'01A1F2846E59FD3D27449BFED563C9BA', 1795070127704, NULL, 16);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E69C6B3D9C26F519F90CA60', 'transaction.pending', 'ach', X'11E35B17A4024425DF242D0A9366E346', 1795070127720, '{"status":"pending"}', 17);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E69C6B3D9C26F528E2A499F', 'transaction.processing', 'ach', X'11E35B17A4024425DF242D0A9366E346', 1795070127720, '{"revision":1,"status":"processing","providerReference":"ach_transfer_acfzsy9e9r4safruqfd7acrg"}', 18);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846FE4228570C892E709BC6FF0', 'transaction.pending', 'ach', X'4276045F9A0C496A6DEDC9729BEC27DF', 1795070128100, '{"status":"pending"}', 19);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846FE4228570C892E732C5E32B', 'transaction.processing', 'ach', X'4276045F9A0C496A6DEDC9729BEC27DF', 1795070128100, '{"revision":1,"status":"processing","providerReference":"ach_transfer_prkr5xfp7qzbo948uqaexr6m"}', 20);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846FE57A6A29AAF789C4A9696D', 'transaction.succeeded', 'web_card', X'01A1F2846DE45B3097476FE4E2775CC7', 1795070128101, '{"revision":2,"status":"succeeded","providerReference":"yHekQHN29VMVQYBkkuraGmvDolWZWHEM"}', 21);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706DBD2C2DBE07FA25F284EF', 'transaction.succeeded', 'web_card', X'01A1F2846E59FD3D27449BFED563C9BA', 1795070128237, '{"revision":2,"status":"succeeded","providerReference":"b3XTxyI1yFBB3Fq5QLYkyBBxn5H51i7G"}', 22);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706F77697D3AE54DF4349EDB', 'payment.prepared', 'web_card', X'01A1F284706F77697D3AE54DDBDA9788', 1795070128239, NULL, 23);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470B5556B54D6409CA0CDDCE4', 'transaction.pending', 'ach', X'289A1740B7FBD61E99B8A074F8C9EBD2', 1795070128308, '{"status":"pending"}', 24);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470B5556B54D6409CC999ACAE', 'transaction.processing', 'ach', X'289A1740B7FBD61E99B8A074F8C9EBD2', 1795070128308, '{"revision":1,"status":"processing","providerReference":"ach_transfer_qso4dchz1ocnsg2qaosvunnm"}', 25);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470B6BA985417A5890CD5F4E5', 'transaction.pending', 'ach', X'248912155820793B3DE7C101355DA724', 1795070128309, '{"status":"pending"}', 26);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470B6BA985417A58996C4BB7C', 'transaction.processing', 'ach', X'248912155820793B3DE7C101355DA724', 1795070128309, '{"revision":1,"status":"processing","providerReference":"ach_transfer_l5zn1nt4jiwtbnoxvd1u4gn1"}', 27);
INSERT INTO out_events VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28471B49FC88AF846F4C01E29E7', 'transaction.succeeded', 'web_card', X'01A1F284706F77697D3AE54DDBDA9788', 1795070128564, '{"revision":2,"status":"succeeded","providerReference":"of7EyLnJ97iBTSlXoidunaOeHUlh5HJP"}', 28);
INSERT INTO activity VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 1795068000000, 'USD', 'ach', 'ach_provider_a', 'transaction.pending', 9, 961, 225, 0);
INSERT INTO activity VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 1795068000000, 'USD', 'ach', 'ach_provider_a', 'transaction.processing', 9, 961, 225, 0);
INSERT INTO activity VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 1795068000000, 'USD', 'web_card', 'card_provider_b', 'payment.prepared', 5, 5030, 125, 5);
INSERT INTO activity VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 1795068000000, 'USD', 'web_card', 'card_provider_b', 'transaction.succeeded', 5, 5030, 125, 5);
INSERT INTO card_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D8C7A4C36EE24967EC6F65D', X'01A1F2846A4D56413BBD5A003AE15F7A', 1795070127500, 'payment', NULL, 'card_provider_b', 'USD', 1029, 0, 0, 0, 1003, 25, 1);
INSERT INTO card_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DA26D553123BD349677D7CD', X'01A1F2846A4C788D27A9843BA82179CA', 1795070127522, 'payment', NULL, 'card_provider_b', 'USD', 1026, 0, 0, 0, 1000, 25, 1);
INSERT INTO card_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846FE57A6A29AAF78798D2EB3D', X'01A1F2846DE45B3097476FE4E2775CC7', 1795070128101, 'payment', NULL, 'card_provider_b', 'USD', 1032, 0, 0, 0, 1006, 25, 1);
INSERT INTO card_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706DBD2C2DBE07F8362C4759', X'01A1F2846E59FD3D27449BFED563C9BA', 1795070128237, 'payment', NULL, 'card_provider_b', 'USD', 1035, 0, 0, 0, 1009, 25, 1);
INSERT INTO card_postings VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28471B49FC88AF846F3041A3980', X'01A1F284706F77697D3AE54DDBDA9788', 1795070128564, 'payment', NULL, 'card_provider_b', 'USD', 1038, 0, 0, 0, 1012, 25, 1);
INSERT INTO sealing_keys VALUES (X'01A1F28469B0713B40898B8DC1B913A5', 'v1.b64eab48aad1e7e8.vGM_BLRCc9fQNSS6PASdFexH2c-2gDj4BgcQjx-4sXCFYZBPECNwG_5reI9HFkc5SYHloGZLnwd0lAsZ3yuhE-zUQjxkF0E', 1795070126512);
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28469A34A332A1E910507B61B39', 1795070126499, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/customer-tokens', '/client/v1/ach/customer-tokens', 201, NULL, '', 1, NULL);
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28469AF0D72A4CCA62A4F7022FA', 1795070126511, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 878, 'ach_0c89pw9ym4b4by446crn5pa4jj');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4B52F22D3EC392B6DE6AD2', 1795070126667, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 727, 'pay_01m7s88tjcf26jfac47em22yea');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4CCE183B3EDDDF6117EFE7', 1795070126668, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 347, 'pay_01m7s88tjdas0kqfat00xe2qvt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846A4D55D643D27191CCC5FF4F', 1795070126669, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 724, 'ach_532wmv67ky1r0vce9hbbdat7pr');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846BCF0A1A47477AB772FB07E3', 1795070127055, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component/pay_01m7s88tjdas0kqfat00xe2qvt/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 505, 'pay_01m7s88tjdas0kqfat00xe2qvt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D447F27E445C2F8F74D7887', 1795070127428, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component/pay_01m7s88tjcf26jfac47em22yea/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 149, 'pay_01m7s88tjcf26jfac47em22yea');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D4572A0233FA8BC2BD80373', 1795070127429, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 155, 'ach_2vnrme12nhmfqv1qw0n4zk3b4m');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846D4FFB4A6FD40C64EDE0E5EC', 1795070127439, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 138, 'ach_26k34aerz10agy2fqvkg0kbtkc');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DDBFDC3F2461F59DAF20D57', 1795070127579, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 116, 'ach_5hbmxrf7q4cg9mpreyqd7xqmvg');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DE33B94508AFCDABE408A60', 1795070127587, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 105, 'pay_01m7s88vf4bcr9ehvfwkh7eq67');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846DFF3FF75024783BAA49807D', 1795070127615, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 158, 'ach_0hwddhf9028gjxy91d1a9pdrt6');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E014F3663F4A38D8D633094', 1795070127617, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 200, NULL, '', 60, 'ach_2vnrme12nhmfqv1qw0n4zk3b4m');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E58AFC0A178BEC8ECB5952B', 1795070127704, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 143, 'pay_01m7s88vjszmyjeh4vzvap7jdt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846E768E6A7792328F1D256138', 1795070127734, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component/pay_01m7s88vf4bcr9ehvfwkh7eq67/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 497, 'pay_01m7s88vf4bcr9ehvfwkh7eq67');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846EB177EAABC695F27E8A36F2', 1795070127793, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 439, 'ach_22er25z6gc95n6vve9eadyr9yz');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846F9287D10C11EFDE0DC45B74', 1795070128018, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component/pay_01m7s88vjszmyjeh4vzvap7jdt/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 262, 'pay_01m7s88vjszmyjeh4vzvap7jdt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2846FC076BE0D7B59FC3B7D6733', 1795070128064, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 200, NULL, '', 156, 'ach_0hwddhf9028gjxy91d1a9pdrt6');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847060CDDB4E27C0A929941633', 1795070128224, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 219, 'ach_14h491ap10f4xkvsy104tnv9s4');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706E60B778496C64241C69B8', 1795070128238, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 113, 'ach_18k8bm1dzvtrf9ke50ekwcktyj');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F284706FB5DDB218152795F94CDD', 1795070128239, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 68, 'pay_01m7s88w3fexmqteq59qdxn5w8');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28470B6F7EB28CD0A25B0F45FDF', 1795070128310, X'01A1F284669F88697855DB736919E593', 'POST', '/client/v1/payments/component/pay_01m7s88w3fexmqteq59qdxn5w8/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 341, 'pay_01m7s88w3fexmqteq59qdxn5w8');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F28478CB512981E7D5DB445C8791', 1795070130379, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_18k8bm1dzvtrf9ke50ekwcktyj', '/client/v1/transactions/{reference}', 200, NULL, '', 57, 'ach_18k8bm1dzvtrf9ke50ekwcktyj');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847967076303CBD2DE696FE775', 1795070130535, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/pay_01m7s88w3fexmqteq59qdxn5w8', '/client/v1/transactions/{reference}', 200, NULL, '', 190, 'pay_01m7s88w3fexmqteq59qdxn5w8');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847A6A91641AA2FFE93C492A7D', 1795070130794, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_14h491ap10f4xkvsy104tnv9s4', '/client/v1/transactions/{reference}', 200, NULL, '', 26, 'ach_14h491ap10f4xkvsy104tnv9s4');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847A8A65AB04094841ECD01972', 1795070130826, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_22er25z6gc95n6vve9eadyr9yz', '/client/v1/transactions/{reference}', 200, NULL, '', 29, 'ach_22er25z6gc95n6vve9eadyr9yz');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847AC715EC962437F9AADDBF83', 1795070130887, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/pay_01m7s88vjszmyjeh4vzvap7jdt', '/client/v1/transactions/{reference}', 200, NULL, '', 62, 'pay_01m7s88vjszmyjeh4vzvap7jdt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847B2773B3302EA6B84BAB81DB', 1795070130983, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_0hwddhf9028gjxy91d1a9pdrt6', '/client/v1/transactions/{reference}', 200, NULL, '', 12, 'ach_0hwddhf9028gjxy91d1a9pdrt6');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847B83A47E1C4CB59596A1F735', 1795070131075, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/pay_01m7s88vf4bcr9ehvfwkh7eq67', '/client/v1/transactions/{reference}', 200, NULL, '', 12, 'pay_01m7s88vf4bcr9ehvfwkh7eq67');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847BBF4E3FE83982B51CA7C55C', 1795070131135, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_5hbmxrf7q4cg9mpreyqd7xqmvg', '/client/v1/transactions/{reference}', 200, NULL, '', 24, 'ach_5hbmxrf7q4cg9mpreyqd7xqmvg');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847C3BE98294FAEBD4F2404B2F', 1795070131259, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_26k34aerz10agy2fqvkg0kbtkc', '/client/v1/transactions/{reference}', 200, NULL, '', 39, 'ach_26k34aerz10agy2fqvkg0kbtkc');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847CA2CA8FAD0A8F9D0F3BC26B', 1795070131362, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_2vnrme12nhmfqv1qw0n4zk3b4m', '/client/v1/transactions/{reference}', 200, NULL, '', 114, 'ach_2vnrme12nhmfqv1qw0n4zk3b4m');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847D2712A0FE4D12E1902FB0CF', 1795070131495, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_532wmv67ky1r0vce9hbbdat7pr', '/client/v1/transactions/{reference}', 200, NULL, '', 99, 'ach_532wmv67ky1r0vce9hbbdat7pr');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847D8E7A442B9E58EABD25E905', 1795070131598, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/pay_01m7s88tjdas0kqfat00xe2qvt', '/client/v1/transactions/{reference}', 200, NULL, '', 241, 'pay_01m7s88tjdas0kqfat00xe2qvt');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847ECF1D069A4F5292C8E5F7E0', 1795070131919, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/pay_01m7s88tjcf26jfac47em22yea', '/client/v1/transactions/{reference}', 200, NULL, '', 11, 'pay_01m7s88tjcf26jfac47em22yea');
INSERT INTO request_log VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', X'01A1F2847EF4F909DE34930676FD9D71', 1795070131956, X'01A1F284669F88697855DB736919E593', 'GET', '/client/v1/transactions/ach_0c89pw9ym4b4by446crn5pa4jj', '/client/v1/transactions/{reference}', 200, NULL, '', 16, 'ach_0c89pw9ym4b4by446crn5pa4jj');
INSERT INTO audit_log VALUES (1, 1795070125397, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88san7tkmnn3pw1fvasm9', 'organization.create', X'01A1F2846555F5116283E9F52C788118', NULL, 'org_01m7s88sanym8p50z9ymp7h08r', NULL, '{"name":"Organization"}', X'F262CCF614AB2B8E8EDABDF18AE08F4DE1A3333CC10A360FB11033994CBA4DC6', NULL);
INSERT INTO audit_log VALUES (2, 1795070125469, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88scpq2bm9vw3c1gy2227', 'application.create', X'01A1F2846555F5116283E9F52C788118', NULL, 'app_01m7s88scx3rhvdnmkj8h177ry', NULL, '{"name":"Application"}', X'E144B62C0BADD7B830DD99DD9F21601E7215CC4D96E9D263BEF7872BF0B1B2C6', NULL);
INSERT INTO audit_log VALUES (3, 1795070125671, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88sjzndagc4nxqkcjykn6', 'environment.create', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'env_01m7s88sk7wxye7q1w76ff45xw', NULL, '{"name":"test"}', X'BA9EEF690A7066A04500F74C2B4863EBCEE1687A2CAE2211088561BB6FD27B29', NULL);
INSERT INTO audit_log VALUES (4, 1795070125727, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88smjmn97vtyd2vd9m61h', 'key.issue', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'key_01m7s88smzh1mqgnevedmhksck', NULL, '{"kind":"secret","lastFour":"IT6R","people":[]}', X'A36E4BC71619790062A5AFEEC6AFA0764E2EA0132982BAE245169132D10AD689', NULL);
INSERT INTO audit_log VALUES (5, 1795070126300, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88sxd2z1v71nq2sg4khbx', 'config.replace', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'env_01m7s88sk7wxye7q1w76ff45xw', '{"version":0}', '{"version":1,"changes":[{"path":"providers.ach_provider_a.adapter","added":"increase"},{"path":"providers.ach_provider_a.credentials.apiKey","added":"********_key"},{"path":"providers.ach_provider_a.credentials.webhookSecret","added":"********45xw"},{"path":"providers.ach_provider_a.baseUrl","added":"http://127.0.0.1:33967/increase"},{"path":"providers.ach_provider_a.funding.accountId","added":"account_simulator"},{"path":"providers.ach_provider_a.funding.accountNumberId","added":"account_number_simulator"},{"path":"providers.card_provider_b.adapter","added":"square"},{"path":"providers.card_provider_b.credentials.accessToken","added":"********oken"},{"path":"providers.card_provider_b.credentials.applicationId","added":"sandbox-sq0idb-simulator"},{"path":"providers.card_provider_b.credentials.locationId","added":"LSIMULATOR001"},{"path":"providers.card_provider_b.credentials.webhookSignatureKey","added":"********45xw"},{"path":"providers.card_provider_b.baseUrl","added":"http://127.0.0.1:33967/square"},{"path":"providers.card_provider_b.environment","added":"sandbox"},{"path":"routing.web_card.enabled","from":false,"to":true},{"path":"routing.web_card.default.provider","added":"card_provider_b"},{"path":"routing.web_card.default.channel","added":"web_card"},{"path":"routing.ach.enabled","from":false,"to":true},{"path":"routing.ach.default.provider","added":"ach_provider_a"},{"path":"routing.ach.default.channel","added":"standard_ach"},{"path":"fees[ach_provider_a ach standard_ach USD].provider","added":"ach_provider_a"},{"path":"fees[ach_provider_a ach standard_ach USD].paymentMethod","added":"ach"},{"path":"fees[ach_provider_a ach standard_ach USD].channel","added":"standard_ach"},{"path":"fees[ach_provider_a ach standard_ach USD].currency","added":"USD"},{"path":"fees[ach_provider_a ach standard_ach USD].platform.enabled","added":true},{"path":"fees[ach_provider_a ach standard_ach USD].platform.fixedFeeMinor","added":"25"},{"path":"fees[ach_provider_a ach standard_ach USD].platform.percentFeeBps","added":0},{"path":"fees[ach_provider_a ach standard_ach USD].organization.enabled","added":true},{"path":"fees[ach_provider_a ach standard_ach USD].organization.fixedFeeMinor","added":"0"},{"path":"fees[ach_provider_a ach standard_ach USD].organization.percentFeeBps","added":10},{"path":"fees[card_provider_b web_card none USD].provider","added":"card_provider_b"},{"path":"fees[card_provider_b web_card none USD].paymentMethod","added":"web_card"},{"path":"fees[card_provider_b web_card none USD].channel","added":"none"},{"path":"fees[card_provider_b web_card none USD].currency","added":"USD"},{"path":"fees[card_provider_b web_card none USD].platform.enabled","added":true},{"path":"fees[card_provider_b web_card none USD].platform.fixedFeeMinor","added":"25"},{"path":"fees[card_provider_b web_card none USD].platform.percentFeeBps","added":0},{"path":"fees[card_provider_b web_card none USD].organization.enabled","added":true},{"path":"fees[card_provider_b web_card none USD].organization.fixedFeeMinor","added":"0"},{"path":"fees[card_provider_b web_card none USD].organization.percentFeeBps","added":10}]}', X'95BB71D68516F6198641C7ADA8C73E0D510B7D4DC520E95B9872ED708426864E', NULL);
INSERT INTO audit_log VALUES (6, 1795070126428, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88tav1gnvzwy4h73kqnsf', 'wallet.fund', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'post_01m7s88taws5ah8fcns40c3ae7', NULL, '{"currency":"USD","amountMinor":"1000000000000","reference":"opening"}', X'EE35DE7E7EA9892BDBE57EE8EE4E1C1A63FD43FE942CF2A08E5499CE48804BEF', NULL);
INSERT INTO audit_log VALUES (7, 1795070128656, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88wgf2jbm3y4w68mv39v1', 'payment.list', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'env_01m7s88sk7wxye7q1w76ff45xw', NULL, '{}', X'F112E96ECD5CE998D0A194372EB89CF4B58C97C619F1431A947A5FD75444FB24', NULL);
INSERT INTO audit_log VALUES (8, 1795070128677, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88wh4zrggbn0kbj5bhzxr', 'payment.list', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'env_01m7s88sk7wxye7q1w76ff45xw', NULL, '{}', X'090FDEFB8490ED468826FF9551E0C2F7279C7272972E643460EB6D94AAACAB5C', NULL);
INSERT INTO audit_log VALUES (9, 1795070130251, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s88y1vthjbdtpb6abmc16m', 'payment.list', X'01A1F2846555F5116283E9F52C788118', X'01A1F2846667E77CE3DC3C399EF217BC', 'env_01m7s88sk7wxye7q1w76ff45xw', NULL, '{}', X'07649B94B5F2E2F5A3B6DBF7BD39705A0AEF549B8CAD58AC603C34B26BAB39C9', NULL);
INSERT INTO audit_head VALUES (1, 9, X'07649B94B5F2E2F5A3B6DBF7BD39705A0AEF549B8CAD58AC603C34B26BAB39C9', X'6440BD6FEA407ED12733A7B44734BDD462748FADE1C0F1C947423A40C7205851');
INSERT INTO posting_order VALUES (1, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F284695CC955143D95C900C1A9C7');
INSERT INTO posting_order VALUES (2, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846A40336FA64F818406C7D4AE');
INSERT INTO posting_order VALUES (3, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846A58F786BC132BC347FDCD4F');
INSERT INTO posting_order VALUES (4, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846D463AF4309F9FE9824A9519');
INSERT INTO posting_order VALUES (5, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846D656AE1F4859C80217740A6');
INSERT INTO posting_order VALUES (6, X'01A1F2846667E77CE3DC3C399EF217BC', NULL, X'01A1F2846D8C7A4C36EE24967EC6F65D');
INSERT INTO posting_order VALUES (7, X'01A1F2846667E77CE3DC3C399EF217BC', NULL, X'01A1F2846DA26D553123BD349677D7CD');
INSERT INTO posting_order VALUES (8, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846DDCB6B3D710039D2C85D2E2');
INSERT INTO posting_order VALUES (9, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846E002F5D1FC64CFC04E09FDC');
INSERT INTO posting_order VALUES (10, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F2846EB220095EE76FEB0DA1D584');
INSERT INTO posting_order VALUES (11, X'01A1F2846667E77CE3DC3C399EF217BC', NULL, X'01A1F2846FE57A6A29AAF78798D2EB3D');
INSERT INTO posting_order VALUES (12, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F28470610896E2DACE2593C8EFAC');
INSERT INTO posting_order VALUES (13, X'01A1F2846667E77CE3DC3C399EF217BC', NULL, X'01A1F284706DBD2C2DBE07F8362C4759');
INSERT INTO posting_order VALUES (14, X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', X'01A1F28470804B63D301533512F913C7');
INSERT INTO posting_order VALUES (15, X'01A1F2846667E77CE3DC3C399EF217BC', NULL, X'01A1F28471B49FC88AF846F3041A3980');
INSERT INTO audit_checkpoint VALUES (1, '15', 1795070129710, 1795070129710, 10, 5);
INSERT INTO audit_balances VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'available', 999999998814, 10);
INSERT INTO audit_balances VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'funding', -1000000000000, 1);
INSERT INTO audit_balances VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'USD', 'reserved', 1186, 9);
INSERT INTO statement_position VALUES (1, '0');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1000', X'01A1F2846A4C788D27A9843BA82179CA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1003', X'01A1F2846A4D56413BBD5A003AE15F7A');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1006', X'01A1F2846DE45B3097476FE4E2775CC7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1009', X'01A1F2846E59FD3D27449BFED563C9BA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:101', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1012', X'01A1F284706F77697D3AE54DDBDA9788');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:102', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1026', X'01A1F2846A4C788D27A9843BA82179CA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1029', X'01A1F2846A4D56413BBD5A003AE15F7A');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1032', X'01A1F2846DE45B3097476FE4E2775CC7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1035', X'01A1F2846E59FD3D27449BFED563C9BA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:1038', X'01A1F284706F77697D3AE54DDBDA9788');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:104', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:105', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:107', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:108', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:110', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:111', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:113', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:126', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:127', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:129', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:130', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:132', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:133', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:135', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:136', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'amount:138', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada example', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:ada@example.com', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:customer-1', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'customer:example', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846A40336FA64F81838A79907F');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846A4E6E90DB987CA9CDD0B136');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846D463AF4309F9FE901F4497B');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846D656AE1F4859C7FCDCCE4FC');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846DDCB6B3D710039C8B7FAE66');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846E002F5D1FC64CFC03AB2CF7');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F2846EB220095EE76FEAD9DF6784');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F28470610896E2DACE252F6CC0A6');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'last4:6789', X'01A1F28470804B63D3015334F5BEA3F4');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'text:7wtlqe1sor1csgaixoh9oxgk5urekdn3', X'01A1F2846A4C788D27A9843BA82179CA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'text:b3xtxyi1yfbb3fq5qlykybbxn5h51i7g', X'01A1F2846E59FD3D27449BFED563C9BA');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'text:of7eylnj97ibtslxoidunaoehulh5hjp', X'01A1F284706F77697D3AE54DDBDA9788');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'text:uw5b11tkqczh9vzbg4579azn2orlgmrm', X'01A1F2846A4D56413BBD5A003AE15F7A');
INSERT INTO search_terms VALUES (X'01A1F2846667E77CE3DC3C399EF217BC', 'text:yhekqhn29vmvqybkkuragmvdolwzwhem', X'01A1F2846DE45B3097476FE4E2775CC7');
CREATE INDEX applications_by_organization ON applications (organization_id, id);
CREATE INDEX environments_by_application ON environments (application_id, id);
CREATE INDEX environments_by_directory_version ON environments (directory_version);
CREATE INDEX card_payments_due ON card_payments (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX card_payments_by_preparation ON card_payments (environment_id, preparation, id)
    WHERE preparation <> 'prepared';
CREATE INDEX card_payments_waiting ON card_payments (environment_id, id) WHERE waiting IS NOT NULL;
CREATE INDEX provider_events_due ON provider_events (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX provider_events_by_state ON provider_events (environment_id, state, received_at);
CREATE INDEX reconciliation_exceptions_open ON reconciliation_exceptions (environment_id, id)
    WHERE resolved_at IS NULL;
CREATE INDEX transfers_due ON transfers (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX transfers_waiting ON transfers (environment_id, transaction_id) WHERE waiting IS NOT NULL;
CREATE INDEX transactions_by_object ON transactions (environment_id, provider_reference)
    WHERE method = 'ach' AND provider_reference IS NOT NULL;
CREATE INDEX event_deliveries_due ON event_deliveries (environment_id, endpoint_id, due_at, event_id)
    WHERE due_at IS NOT NULL;
CREATE INDEX event_deliveries_by_state ON event_deliveries (environment_id, endpoint_id, state, event_id)
    WHERE state <> 'delivered';
CREATE INDEX transactions_by_kind ON transactions (environment_id, method, status, id);
CREATE INDEX transactions_by_provider ON transactions (environment_id, provider, method, status, id);
CREATE UNIQUE INDEX out_events_by_sequence ON out_events (environment_id, sequence);
CREATE INDEX out_events_by_kind_sequence ON out_events (environment_id, kind, sequence);
CREATE INDEX out_events_by_reference ON out_events (environment_id, method, reference, sequence);
CREATE INDEX card_payments_follow_ups ON card_payments (follow_up_at) WHERE follow_up_at IS NOT NULL;
CREATE INDEX provider_objects_by_payment ON provider_objects (environment_id, payment_id);
CREATE UNIQUE INDEX card_payments_by_key ON card_payments (environment_id, key_digest)
WHERE key_digest IS NOT NULL AND preparation <> 'withdrawn';
CREATE INDEX card_postings_by_payment ON card_postings (environment_id, payment_id);
CREATE INDEX disputes_open ON disputes (environment_id, respond_by) WHERE closed_at IS NULL;
CREATE INDEX transfers_with_bank_details ON transfers (environment_id, transaction_id) WHERE sealed_account IS NOT NULL;
CREATE UNIQUE INDEX users_by_email ON users (email) WHERE removed_at IS NULL;
CREATE INDEX users_by_directory_version ON users (directory_version);
CREATE INDEX limit_uses_by_reference ON limit_uses (environment_id, reference);
CREATE INDEX limit_uses_ended ON limit_uses (ends_at);
CREATE INDEX request_log_failed ON request_log (environment_id, id, code, endpoint, at) WHERE code IS NOT NULL;
CREATE INDEX request_log_by_reference ON request_log (environment_id, reference, id) WHERE reference IS NOT NULL;
CREATE INDEX disputes_by_id ON disputes (environment_id, id);
CREATE INDEX request_log_by_code ON request_log (environment_id, code, id, endpoint) WHERE code IS NOT NULL;
CREATE INDEX audit_log_by_user ON audit_log (user_id, sequence);
CREATE INDEX audit_log_by_action ON audit_log (action, sequence);
CREATE INDEX audit_log_by_environment ON audit_log (environment_id, sequence);
CREATE INDEX audit_log_by_subject ON audit_log (subject, sequence);
CREATE INDEX audit_log_by_place ON audit_log (environment_id, subject, sequence);
CREATE TRIGGER audit_log_keeps_entries BEFORE DELETE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_log_changes_no_entry BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE INDEX transfers_approvals ON transfers (environment_id, approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX transfers_to_approve ON transfers (environment_id, approval_id) WHERE approval_state = 'required';
CREATE INDEX transfers_approved_accounts ON transfers (environment_id, approval_account)
    WHERE approval_state = 'approved';
CREATE INDEX config_proposals_open ON config_proposals (environment_id, id) WHERE state = 'required';
CREATE TRIGGER ledger_postings_are_ordered AFTER INSERT ON ledger_postings BEGIN
    INSERT INTO posting_order (environment_id, currency, posting_id) VALUES (NEW.environment_id, NEW.currency, NEW.id);
END;
CREATE TRIGGER card_postings_are_ordered AFTER INSERT ON card_postings BEGIN
    INSERT INTO posting_order (environment_id, posting_id) VALUES (NEW.environment_id, NEW.id);
END;
CREATE VIEW posting_entries AS
SELECT environment_id, currency, posting_id, account, amount_minor FROM (
    SELECT p.environment_id, p.currency, p.id AS posting_id, a.account,
        CASE a.account
            WHEN 'funding' THEN p.funding_minor
            WHEN 'available' THEN p.available_minor
            WHEN 'reserved' THEN p.reserved_minor
            WHEN 'settled_out' THEN p.settled_out_minor
            WHEN 'platform_fees' THEN p.platform_fees_minor
            ELSE p.organization_fees_minor
        END AS amount_minor
    FROM ledger_postings p CROSS JOIN (
        SELECT 'funding' AS account UNION ALL SELECT 'available' UNION ALL SELECT 'reserved'
        UNION ALL SELECT 'settled_out' UNION ALL SELECT 'platform_fees' UNION ALL SELECT 'organization_fees') a)
WHERE amount_minor IS NOT NULL;
CREATE INDEX users_of_address ON users (email);
CREATE INDEX users_of_subject ON users (subject) WHERE subject IS NOT NULL;
CREATE INDEX refunds_approvals ON refunds (environment_id, approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX refunds_to_approve ON refunds (environment_id, approval_id) WHERE approval_state = 'required';
CREATE INDEX fund_requests_open ON fund_requests (environment_id, id) WHERE state = 'required';
COMMIT;
