SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.keep_audit_log() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE FUNCTION public.queue_for_event_sequence() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO unsequenced_events (environment_id, event_id, kind)
    SELECT environment_id, id, kind FROM written ORDER BY id;
    RETURN NULL;
END
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.activity (
    environment_id uuid NOT NULL,
    hour bigint NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    principal_minor bigint NOT NULL,
    platform_fee_minor bigint NOT NULL,
    organization_fee_minor bigint NOT NULL,
    CONSTRAINT activity_count_check CHECK ((count > 0)),
    CONSTRAINT activity_organization_fee_minor_check CHECK ((organization_fee_minor >= 0)),
    CONSTRAINT activity_platform_fee_minor_check CHECK ((platform_fee_minor >= 0)),
    CONSTRAINT activity_principal_minor_check CHECK ((principal_minor >= 0))
);
CREATE TABLE public.api_keys (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    digest bytea NOT NULL,
    last_four text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    replaced_by uuid,
    name text,
    endpoints text,
    addresses text,
    last_used_at bigint,
    CONSTRAINT api_keys_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT api_keys_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text])))
);
CREATE TABLE public.applications (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.audit_balances (
    environment_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    balance_minor bigint NOT NULL,
    entries bigint NOT NULL,
    CONSTRAINT audit_balances_entries_check CHECK ((entries >= 0))
);
CREATE TABLE public.audit_checkpoint (
    id smallint NOT NULL,
    "position" text NOT NULL,
    at bigint NOT NULL,
    full_at bigint NOT NULL,
    postings bigint NOT NULL,
    card_postings bigint NOT NULL,
    CONSTRAINT audit_checkpoint_card_postings_check CHECK ((card_postings >= 0)),
    CONSTRAINT audit_checkpoint_id_check CHECK ((id = 1)),
    CONSTRAINT audit_checkpoint_postings_check CHECK ((postings >= 0))
);
CREATE TABLE public.audit_head (
    id smallint NOT NULL,
    entries bigint NOT NULL,
    head_hash bytea NOT NULL,
    proof bytea,
    CONSTRAINT audit_head_hash_check CHECK ((octet_length(head_hash) = 32)),
    CONSTRAINT audit_head_id_check CHECK ((id = 1))
);
CREATE TABLE public.audit_log (
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    actor_kind text NOT NULL,
    user_id uuid,
    actor text NOT NULL,
    address text,
    request text NOT NULL,
    action text NOT NULL COLLATE pg_catalog."C",
    organization_id uuid,
    environment_id uuid,
    subject text NOT NULL COLLATE pg_catalog."C",
    before_json text,
    after_json text,
    hash bytea NOT NULL,
    token_id uuid,
    CONSTRAINT audit_log_hash_check CHECK ((octet_length(hash) = 32))
);
CREATE TABLE public.card_attempts (
    environment_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    number bigint NOT NULL,
    source_digest bytea NOT NULL,
    sealed_source text,
    state text NOT NULL,
    created_at bigint NOT NULL,
    account text,
    CONSTRAINT card_attempts_number_check CHECK ((number > 0)),
    CONSTRAINT card_attempts_source_digest_check CHECK ((octet_length(source_digest) = 32))
);
CREATE TABLE public.card_payments (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    flow text NOT NULL,
    provider text NOT NULL,
    adapter text NOT NULL,
    channel text NOT NULL,
    matched text,
    config_version bigint NOT NULL,
    currency text NOT NULL,
    principal_minor bigint NOT NULL,
    platform_fee_minor bigint NOT NULL,
    organization_fee_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    total_debit_minor bigint NOT NULL,
    fee_layers text NOT NULL,
    description text,
    customer_name text,
    customer_email text,
    metadata text NOT NULL,
    success_url text,
    cancel_url text,
    request text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    preparation text NOT NULL COLLATE pg_catalog."C",
    object text,
    checkout_url text,
    prepared_at bigint,
    confirmed boolean NOT NULL,
    due_at bigint,
    tries bigint NOT NULL,
    waiting text,
    revision bigint NOT NULL,
    last_change uuid,
    account text,
    follow_up_at bigint,
    key_digest bytea,
    capture text DEFAULT 'automatic'::text NOT NULL,
    route text,
    erased_at bigint,
    timeline bytea,
    CONSTRAINT card_payments_config_version_check CHECK ((config_version >= 0)),
    CONSTRAINT card_payments_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT card_payments_key_digest_check CHECK ((octet_length(key_digest) = 32)),
    CONSTRAINT card_payments_organization_fee_minor_check CHECK ((organization_fee_minor >= 0)),
    CONSTRAINT card_payments_platform_fee_minor_check CHECK ((platform_fee_minor >= 0)),
    CONSTRAINT card_payments_principal_minor_check CHECK ((principal_minor > 0)),
    CONSTRAINT card_payments_revision_check CHECK ((revision >= 0)),
    CONSTRAINT card_payments_total_debit_minor_check CHECK ((total_debit_minor > 0)),
    CONSTRAINT card_payments_tries_check CHECK ((tries >= 0))
);
CREATE TABLE public.card_postings (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text,
    provider text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    due_from_provider_minor bigint NOT NULL,
    disputes_held_minor bigint NOT NULL,
    refunds_given_minor bigint NOT NULL,
    disputes_lost_minor bigint NOT NULL,
    principal_minor bigint NOT NULL,
    platform_fees_minor bigint NOT NULL,
    organization_fees_minor bigint NOT NULL,
    written_by xid8 DEFAULT pg_current_xact_id(),
    CONSTRAINT card_postings_check CHECK (((((due_from_provider_minor + disputes_held_minor) + refunds_given_minor) + disputes_lost_minor) = ((principal_minor + platform_fees_minor) + organization_fees_minor)))
);
CREATE TABLE public.config_proposals (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    state text NOT NULL,
    approval text NOT NULL,
    change_id uuid NOT NULL,
    from_version bigint NOT NULL,
    document text,
    actor text NOT NULL,
    request text NOT NULL,
    at bigint NOT NULL,
    version bigint
);
CREATE TABLE public.config_versions (
    environment_id uuid NOT NULL,
    version bigint NOT NULL,
    change_id uuid NOT NULL,
    actor text NOT NULL,
    request text NOT NULL,
    at bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT config_versions_version_check CHECK ((version > 0))
);
CREATE TABLE public.credential_accounts (
    environment_id uuid NOT NULL,
    credential text NOT NULL,
    account text NOT NULL
);
CREATE TABLE public.customer_tokens (
    environment_id uuid NOT NULL,
    key_digest bytea NOT NULL,
    fingerprints text NOT NULL,
    token text NOT NULL,
    expires_at bigint,
    created_at bigint NOT NULL,
    CONSTRAINT customer_tokens_key_digest_check CHECK ((octet_length(key_digest) = 32))
);
CREATE TABLE public.directory (
    id smallint NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT directory_id_check CHECK ((id = 1))
);
CREATE TABLE public.disputes (
    environment_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    reason text,
    amount_minor bigint,
    respond_by bigint,
    opened_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    closed_at bigint,
    withdrawn_minor bigint,
    CONSTRAINT disputes_amount_minor_check CHECK ((amount_minor >= 0)),
    CONSTRAINT disputes_withdrawn_minor_check CHECK ((withdrawn_minor >= 0))
);
CREATE TABLE public.ended_sessions (
    id uuid NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE public.environments (
    id uuid NOT NULL,
    application_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    config_version bigint NOT NULL,
    directory_version bigint NOT NULL,
    CONSTRAINT environments_config_version_check CHECK ((config_version >= 0))
);
CREATE TABLE public.erasure_wishes (
    environment_id uuid NOT NULL,
    method text NOT NULL,
    reference uuid NOT NULL,
    asked_at bigint NOT NULL,
    detail text NOT NULL
);
CREATE TABLE public.event_deliveries (
    environment_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    since bigint NOT NULL,
    due_at bigint,
    tries bigint NOT NULL,
    last_at bigint,
    last_status bigint,
    last_took bigint,
    last_note text,
    CONSTRAINT event_deliveries_check CHECK (((state = 'waiting'::text) = (due_at IS NOT NULL))),
    CONSTRAINT event_deliveries_check1 CHECK ((((last_at IS NULL) = (last_took IS NULL)) AND ((last_at IS NULL) = (last_note IS NULL)))),
    CONSTRAINT event_deliveries_tries_check CHECK ((tries >= 0))
);
CREATE TABLE public.event_endpoints (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    revision bigint NOT NULL,
    url text NOT NULL,
    description text,
    filter text NOT NULL COLLATE pg_catalog."C",
    disabled text,
    secrets text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    failures bigint NOT NULL,
    rests_until bigint,
    CONSTRAINT event_endpoints_failures_check CHECK ((failures >= 0)),
    CONSTRAINT event_endpoints_revision_check CHECK ((revision >= 0))
);
CREATE TABLE public.event_sequence (
    environment_id uuid NOT NULL,
    sequence bigint NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT event_sequence_sequence_check CHECK ((sequence > 0))
);
CREATE TABLE public.fund_requests (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    state text NOT NULL,
    approval text NOT NULL,
    currency text NOT NULL,
    cause text NOT NULL,
    amount_minor bigint NOT NULL,
    reference text NOT NULL,
    actor text NOT NULL,
    at bigint NOT NULL,
    posting_id uuid
);
CREATE TABLE public.hold_actions (
    environment_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    asked_minor bigint,
    status text NOT NULL,
    failure_code text,
    failure_message text,
    request text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT hold_actions_asked_minor_check CHECK ((asked_minor > 0)),
    CONSTRAINT hold_actions_check CHECK (((failure_code IS NULL) = (failure_message IS NULL)))
);
CREATE TABLE public.ledger_accounts (
    environment_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    balance_minor bigint NOT NULL,
    CONSTRAINT ledger_accounts_check CHECK (((account = 'funding'::text) OR (balance_minor >= 0)))
)
WITH (fillfactor='50');
CREATE TABLE public.ledger_entries (
    environment_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    posting_id uuid NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    amount_minor bigint NOT NULL
);
CREATE TABLE public.ledger_postings (
    environment_id uuid NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    id uuid NOT NULL,
    cause text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    amount_minor bigint NOT NULL,
    actor text NOT NULL,
    at bigint NOT NULL,
    provider text,
    written_by xid8 DEFAULT pg_current_xact_id(),
    funding_minor bigint,
    available_minor bigint,
    reserved_minor bigint,
    settled_out_minor bigint,
    platform_fees_minor bigint,
    organization_fees_minor bigint,
    CONSTRAINT ledger_postings_amount_minor_check CHECK ((amount_minor > 0))
);
CREATE TABLE public.limit_totals (
    environment_id uuid NOT NULL,
    subject bytea NOT NULL,
    payments bigint NOT NULL,
    amount_minor bigint NOT NULL,
    CONSTRAINT limit_totals_amount_minor_check CHECK ((amount_minor >= 0)),
    CONSTRAINT limit_totals_payments_check CHECK ((payments >= 0)),
    CONSTRAINT limit_totals_subject_check CHECK ((octet_length(subject) = 32))
);
CREATE TABLE public.limit_uses (
    environment_id uuid NOT NULL,
    subject bytea NOT NULL,
    at bigint NOT NULL,
    reference uuid NOT NULL,
    amount_minor bigint NOT NULL,
    counted boolean NOT NULL,
    ends_at bigint NOT NULL,
    CONSTRAINT limit_uses_amount_minor_check CHECK ((amount_minor > 0)),
    CONSTRAINT limit_uses_subject_check CHECK ((octet_length(subject) = 32))
);
CREATE TABLE public.organizations (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.out_events (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    reference uuid NOT NULL,
    at bigint NOT NULL,
    state text
);
CREATE TABLE public.pins (
    name text NOT NULL,
    value text NOT NULL
);
CREATE VIEW public.posting_entries AS
 SELECT p.environment_id,
    p.currency,
    p.id AS posting_id,
    (a.account COLLATE "C") AS account,
    a.amount_minor
   FROM (public.ledger_postings p
     CROSS JOIN LATERAL ( VALUES ('funding'::text,p.funding_minor), ('available'::text,p.available_minor), ('reserved'::text,p.reserved_minor), ('settled_out'::text,p.settled_out_minor), ('platform_fees'::text,p.platform_fees_minor), ('organization_fees'::text,p.organization_fees_minor)) a(account, amount_minor))
  WHERE (a.amount_minor IS NOT NULL)
UNION ALL
 SELECT e.environment_id,
    e.currency,
    e.posting_id,
    e.account,
    e.amount_minor
   FROM (public.ledger_entries e
     JOIN public.ledger_postings p ON (((p.environment_id = e.environment_id) AND (p.currency = e.currency) AND (p.id = e.posting_id))));
CREATE TABLE public.provider_checks (
    environment_id uuid NOT NULL,
    provider text NOT NULL,
    config_version bigint NOT NULL,
    checked_at bigint NOT NULL,
    checks text NOT NULL
);
CREATE TABLE public.provider_events (
    environment_id uuid NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    notice text NOT NULL,
    request text NOT NULL,
    received_at bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    due_at bigint,
    tries bigint NOT NULL,
    note text NOT NULL,
    CONSTRAINT provider_events_check CHECK (((state = 'waiting'::text) OR (due_at IS NULL))),
    CONSTRAINT provider_events_tries_check CHECK ((tries >= 0))
);
CREATE TABLE public.provider_objects (
    environment_id uuid NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    object text NOT NULL COLLATE pg_catalog."C",
    payment_id uuid NOT NULL
);
CREATE TABLE public.quote_counts (
    environment_id uuid NOT NULL,
    key_id uuid NOT NULL,
    hour bigint NOT NULL,
    count bigint NOT NULL
);
CREATE TABLE public.reconciliation_exceptions (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    reference uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    expected text NOT NULL,
    found text NOT NULL,
    found_digest bytea NOT NULL,
    source text NOT NULL,
    at bigint NOT NULL,
    resolved_at bigint,
    resolved_by text,
    resolution text,
    CONSTRAINT reconciliation_exceptions_check CHECK ((((resolved_at IS NULL) = (resolved_by IS NULL)) AND ((resolved_at IS NULL) = (resolution IS NULL)))),
    CONSTRAINT reconciliation_exceptions_found_digest_check CHECK ((octet_length(found_digest) = 32))
);
CREATE TABLE public.refunds (
    environment_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    id uuid NOT NULL,
    principal_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    asked_minor bigint,
    fee_refund text,
    reason text,
    description text,
    metadata text NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    provider_reference text,
    failure_code text,
    failure_message text,
    request text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    approval_id text COLLATE pg_catalog."C",
    approval_state text,
    approval text,
    CONSTRAINT refunds_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT refunds_principal_minor_check CHECK ((principal_minor >= 0))
);
CREATE TABLE public.request_log (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    at bigint NOT NULL,
    key_id uuid NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    endpoint text NOT NULL,
    status bigint NOT NULL,
    code text,
    fields text NOT NULL,
    took_millis bigint NOT NULL,
    reference text
);
CREATE TABLE public.schema_migrations (
    version bigint NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL
);
CREATE UNLOGGED TABLE public.sealing_keys (
    id uuid NOT NULL,
    sealed text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.search_terms (
    environment_id uuid NOT NULL,
    term text NOT NULL COLLATE pg_catalog."C",
    place uuid NOT NULL,
    method text COLLATE pg_catalog."C",
    reference uuid
);
CREATE TABLE public.statement_position (
    id smallint NOT NULL,
    "position" text NOT NULL,
    CONSTRAINT statement_position_id_check CHECK ((id = 1))
);
CREATE TABLE public.statement_sums (
    environment_id uuid NOT NULL,
    month text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    due_from_provider_minor text NOT NULL,
    disputes_held_minor text NOT NULL,
    refunds_given_minor text NOT NULL,
    disputes_lost_minor text NOT NULL,
    principal_minor text NOT NULL,
    platform_fees_minor text NOT NULL,
    organization_fees_minor text NOT NULL,
    CONSTRAINT statement_sums_count_check CHECK ((count >= 0))
);
CREATE TABLE public.timeline (
    environment_id uuid NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    reference uuid NOT NULL,
    id uuid NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    request text,
    detail text NOT NULL
);
CREATE TABLE public.transactions (
    environment_id uuid NOT NULL,
    id uuid NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    reference uuid NOT NULL,
    provider text NOT NULL,
    channel text NOT NULL,
    currency text NOT NULL,
    principal_minor bigint NOT NULL,
    platform_fee_minor bigint NOT NULL,
    organization_fee_minor bigint NOT NULL,
    fee_minor bigint NOT NULL,
    total_debit_minor bigint NOT NULL,
    fee_layers text NOT NULL,
    description text,
    metadata text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    provider_reference text,
    failure_code text,
    failure_message text,
    refunded_minor bigint NOT NULL,
    dispute_id text,
    dispute_status text,
    dispute_reason text,
    dispute_amount_minor bigint,
    hold text,
    dispute_respond_by bigint,
    CONSTRAINT transactions_check CHECK (((failure_code IS NULL) = (failure_message IS NULL))),
    CONSTRAINT transactions_check1 CHECK (((dispute_id IS NULL) = (dispute_status IS NULL))),
    CONSTRAINT transactions_dispute_amount_minor_check CHECK ((dispute_amount_minor >= 0)),
    CONSTRAINT transactions_fee_minor_check CHECK ((fee_minor >= 0)),
    CONSTRAINT transactions_organization_fee_minor_check CHECK ((organization_fee_minor >= 0)),
    CONSTRAINT transactions_platform_fee_minor_check CHECK ((platform_fee_minor >= 0)),
    CONSTRAINT transactions_principal_minor_check CHECK ((principal_minor > 0)),
    CONSTRAINT transactions_refunded_minor_check CHECK ((refunded_minor >= 0)),
    CONSTRAINT transactions_total_debit_minor_check CHECK ((total_debit_minor > 0))
);
CREATE TABLE public.transfers (
    environment_id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    adapter text NOT NULL,
    matched text,
    config_version bigint NOT NULL,
    external_customer_id text NOT NULL,
    customer_name text NOT NULL,
    customer_email text NOT NULL,
    bank_name text NOT NULL,
    account_name text NOT NULL,
    account_type text NOT NULL,
    last_four text NOT NULL,
    remittance text,
    request text NOT NULL,
    fingerprints text NOT NULL,
    sealed_account text,
    expected_on text,
    corrections text NOT NULL,
    due_at bigint,
    tries bigint NOT NULL,
    waiting text,
    revision bigint NOT NULL,
    last_change uuid,
    account text,
    route text,
    recipient_kind text DEFAULT 'individual'::text NOT NULL,
    purpose text,
    statement_descriptor text,
    cancel_requested_at bigint,
    rail text,
    erased_at bigint,
    approval_id text COLLATE pg_catalog."C",
    approval_state text,
    approval text,
    approval_account text COLLATE pg_catalog."C",
    timeline bytea,
    CONSTRAINT transfers_config_version_check CHECK ((config_version >= 0)),
    CONSTRAINT transfers_revision_check CHECK ((revision >= 0)),
    CONSTRAINT transfers_tries_check CHECK ((tries >= 0))
);
CREATE TABLE public.undigested_events (
    event_id uuid NOT NULL,
    environment_id uuid NOT NULL
);
CREATE TABLE public.unposted_payments (
    environment_id uuid NOT NULL,
    payment_id uuid NOT NULL
);
CREATE TABLE public.unsequenced_events (
    environment_id uuid NOT NULL,
    entry bigint NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.unsequenced_events ALTER COLUMN entry ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.unsequenced_events_entry_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.user_tokens (
    user_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    last_four text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    issuers text,
    last_used_at bigint,
    CONSTRAINT user_tokens_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE TABLE public.users (
    id uuid NOT NULL,
    name text NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    organizations text,
    created_at bigint NOT NULL,
    removed_at bigint,
    directory_version bigint NOT NULL,
    subject text COLLATE pg_catalog."C",
    last_used_at bigint
);
INSERT INTO public.activity VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1795068000000, 'USD', 'ach', 'ach_provider_a', 'transaction.pending', 8, 848, 200, 0);
INSERT INTO public.activity VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1795068000000, 'USD', 'ach', 'ach_provider_a', 'transaction.processing', 8, 848, 200, 0);
INSERT INTO public.activity VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1795068000000, 'USD', 'web_card', 'card_provider_b', 'payment.prepared', 5, 5030, 125, 5);
INSERT INTO public.activity VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1795068000000, 'USD', 'web_card', 'card_provider_b', 'transaction.succeeded', 5, 5030, 125, 5);
INSERT INTO public.api_keys VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'secret', '\x3e220bcba206dc743fb18f17f3ff517b669e5f2a2015d8ec0f681a1d56a602be', 'GDRH', 1795070144220, NULL, NULL, NULL, NULL, NULL, NULL, 1795070144849);
INSERT INTO public.applications VALUES ('01a1f284-ad22-9d27-31ff-74d909787174', '01a1f284-ac9c-725e-3de1-6266f852d61f', 'Application', 1795070143778);
INSERT INTO public.audit_balances VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'funding', -1000000000000, 1);
INSERT INTO public.audit_balances VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'available', 999999998952, 9);
INSERT INTO public.audit_balances VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'reserved', 1048, 8);
INSERT INTO public.audit_checkpoint VALUES (1, '7709767403689953809/837:837:', 1795070147808, 1795070147808, 9, 5);
INSERT INTO public.audit_head VALUES (1, 9, '\xfcd9d8563d0f6063048c34955b8d3fa896809bdc177dd0f37771573d6b992cdb', '\x72b47ddd3ef97ad0c7fa72606b665ab61276b35f6676f99257ee54089727376e');
INSERT INTO public.audit_log VALUES (1, 1795070143644, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89b4bka0ffzx1qv1x0zvb', 'organization.create', '01a1f284-ac9c-725e-3de1-6266f852d61f', NULL, 'org_01m7s89b4we9f3vrb2cvw55ngz', NULL, '{"name":"Organization"}', '\x989bb236609e045b285d76c63b0a5b2bf46bdcc47ab6129273b11d6bbc7da6bb', NULL);
INSERT INTO public.audit_log VALUES (2, 1795070143778, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89b91v85b2d6v3jhzwp4w', 'application.create', '01a1f284-ac9c-725e-3de1-6266f852d61f', NULL, 'app_01m7s89b92kmkk3zvmv44qgwbm', NULL, '{"name":"Application"}', '\x7cce0871b2b66c799b5b13d241c11f6121d3fca05e08cb5be66ab94286b07dcb', NULL);
INSERT INTO public.audit_log VALUES (3, 1795070143949, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89bd83fmssc2ve55jsyjd', 'environment.create', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'env_01m7s89bedmtb4s0081x0pe4kq', NULL, '{"name":"test"}', '\x6d6f93d09359d5fbb8d7c9c14430107c762f4c67eafb7b203611ae55e397340b', NULL);
INSERT INTO public.audit_log VALUES (4, 1795070144220, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89bpcfjqp55rgh9d75n8y', 'key.issue', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'key_01m7s89bpw1kwpq6qkrdybbc9z', NULL, '{"kind":"secret","lastFour":"GDRH","people":[]}', '\x3108973fa2b3e77b49a1d1b7ed828114014595ce8b3fcce73ac8f13891dd780e', NULL);
INSERT INTO public.audit_log VALUES (5, 1795070144440, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89bwssg7kc2wv20ceyszr', 'config.replace', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'env_01m7s89bedmtb4s0081x0pe4kq', '{"version":0}', '{"version":1,"changes":[{"path":"providers.ach_provider_a.adapter","added":"increase"},{"path":"providers.ach_provider_a.credentials.apiKey","added":"********_key"},{"path":"providers.ach_provider_a.credentials.webhookSecret","added":"********e4kq"},{"path":"providers.ach_provider_a.baseUrl","added":"http://127.0.0.1:39437/increase"},{"path":"providers.ach_provider_a.funding.accountId","added":"account_simulator"},{"path":"providers.ach_provider_a.funding.accountNumberId","added":"account_number_simulator"},{"path":"providers.card_provider_b.adapter","added":"square"},{"path":"providers.card_provider_b.credentials.accessToken","added":"********oken"},{"path":"providers.card_provider_b.credentials.applicationId","added":"sandbox-sq0idb-simulator"},{"path":"providers.card_provider_b.credentials.locationId","added":"LSIMULATOR001"},{"path":"providers.card_provider_b.credentials.webhookSignatureKey","added":"********e4kq"},{"path":"providers.card_provider_b.baseUrl","added":"http://127.0.0.1:39437/square"},{"path":"providers.card_provider_b.environment","added":"sandbox"},{"path":"routing.web_card.enabled","from":false,"to":true},{"path":"routing.web_card.default.provider","added":"card_provider_b"},{"path":"routing.web_card.default.channel","added":"web_card"},{"path":"routing.ach.enabled","from":false,"to":true},{"path":"routing.ach.default.provider","added":"ach_provider_a"},{"path":"routing.ach.default.channel","added":"standard_ach"},{"path":"fees[ach_provider_a ach standard_ach USD].provider","added":"ach_provider_a"},{"path":"fees[ach_provider_a ach standard_ach USD].paymentMethod","added":"ach"},{"path":"fees[ach_provider_a ach standard_ach USD].channel","added":"standard_ach"},{"path":"fees[ach_provider_a ach standard_ach USD].currency","added":"USD"},{"path":"fees[ach_provider_a ach standard_ach USD].platform.enabled","added":true},{"path":"fees[ach_provider_a ach standard_ach USD].platform.fixedFeeMinor","added":"25"},{"path":"fees[ach_provider_a ach standard_ach USD].platform.percentFeeBps","added":0},{"path":"fees[ach_provider_a ach standard_ach USD].organization.enabled","added":true},{"path":"fees[ach_provider_a ach standard_ach USD].organization.fixedFeeMinor","added":"0"},{"path":"fees[ach_provider_a ach standard_ach USD].organization.percentFeeBps","added":10},{"path":"fees[card_provider_b web_card none USD].provider","added":"card_provider_b"},{"path":"fees[card_provider_b web_card none USD].paymentMethod","added":"web_card"},{"path":"fees[card_provider_b web_card none USD].channel","added":"none"},{"path":"fees[card_provider_b web_card none USD].currency","added":"USD"},{"path":"fees[card_provider_b web_card none USD].platform.enabled","added":true},{"path":"fees[card_provider_b web_card none USD].platform.fixedFeeMinor","added":"25"},{"path":"fees[card_provider_b web_card none USD].platform.percentFeeBps","added":0},{"path":"fees[card_provider_b web_card none USD].organization.enabled","added":true},{"path":"fees[card_provider_b web_card none USD].organization.fixedFeeMinor","added":"0"},{"path":"fees[card_provider_b web_card none USD].organization.percentFeeBps","added":10}]}', '\xd3e7f2e2bafcadc750e0a1f597af30bc5023224ab17525b8e5565be11493b745', NULL);
INSERT INTO public.audit_log VALUES (6, 1795070144743, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89c76r6vy92t9awsrdp3f', 'wallet.fund', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'post_01m7s89c773ms62fsk2mh8h7hg', NULL, '{"currency":"USD","amountMinor":"1000000000000","reference":"opening"}', '\xfe20cc642644a78067baf1bc69773ce706f59c2f7744c40d757dba913a23142f', NULL);
INSERT INTO public.audit_log VALUES (7, 1795070146945, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89ec1t5bgcb894q7ay5ze', 'payment.list', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'env_01m7s89bedmtb4s0081x0pe4kq', NULL, '{}', '\x945054cb409ece21becb3593204adf2252b569f0dc589d80a5d196e8757efca5', NULL);
INSERT INTO public.audit_log VALUES (8, 1795070147029, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89een7jrd5keqdk7rst66', 'payment.list', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'env_01m7s89bedmtb4s0081x0pe4kq', NULL, '{}', '\x167bee657649f34a1d86e87a62f1a1215aa71daca25a3cfa12d50b0c387fbb9f', NULL);
INSERT INTO public.audit_log VALUES (9, 1795070148356, 'bootstrap', NULL, 'admin', '127.0.0.1', 'req_01m7s89fr4w3cr6cdykbfsbt3z', 'payment.list', '01a1f284-ac9c-725e-3de1-6266f852d61f', '01a1f284-adcd-a696-4c80-080f41671277', 'env_01m7s89bedmtb4s0081x0pe4kq', NULL, '{}', '\xfcd9d8563d0f6063048c34955b8d3fa896809bdc177dd0f37771573d6b992cdb', NULL);
INSERT INTO public.card_attempts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 1, '\x79cac37ae3801f4861c0e351fb74240bd6e8ad43126f09a18382d5def598b854', NULL, 'taken', 1795070145148, '{"address":"http://127.0.0.1:39437/square","id":"LSIMULATOR001","credential":"d50d6b8eedc549e9"}');
INSERT INTO public.card_attempts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 1, '\x1df64f2fea95d68146ed653a3117526a2d0b8cdac960dc4816ee25d131597c8b', NULL, 'taken', 1795070145172, '{"address":"http://127.0.0.1:39437/square","id":"LSIMULATOR001","credential":"d50d6b8eedc549e9"}');
INSERT INTO public.card_attempts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 1, '\x7a6d1d56678f7f54354db5c45485078d29a21236b57c1975dba75da07a2c7dbc', NULL, 'taken', 1795070145688, '{"address":"http://127.0.0.1:39437/square","id":"LSIMULATOR001","credential":"d50d6b8eedc549e9"}');
INSERT INTO public.card_attempts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b600-746c-e329-0f42639ce234', 1, '\x5dadc84d4e986f3d82b9145540632223bfc8b85b327426227a1a088f5d4914d9', NULL, 'taken', 1795070146126, '{"address":"http://127.0.0.1:39437/square","id":"LSIMULATOR001","credential":"d50d6b8eedc549e9"}');
INSERT INTO public.card_attempts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7de-4152-b15f-960cc333b252', 1, '\x9600105874ce0914100ff181b38095963c26690ba80d78625cf72f1335b183b2', NULL, 'taken', 1795070146727, '{"address":"http://127.0.0.1:39437/square","id":"LSIMULATOR001","credential":"d50d6b8eedc549e9"}');
INSERT INTO public.card_payments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1003, 25, 1, 26, 1029, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s89casn5mnk6994ymspj30', 1795070144858, 1795156544858, 'prepared', NULL, NULL, 1795070144858, true, NULL, 0, NULL, 2, '01a1f284-b2fc-4a73-5c48-56b59c1a7645', NULL, 1795156545276, NULL, 'automatic', NULL, NULL, '\x019b016d048b02b03935303730313435313438eb0301bb01079602f00673383963677976636b74717174366b78656368796517010fac0200f60d66323834623237633665376332636566326564326563323837353530c00079636f6e6669726dc002e0617474656d7074223a317d7d5d7d01f003ed01048b02b03935303730313435323736eb0301bb01079602f00673383963677976636b74717174366b78656368796517010fac0200f60d66323834623266633461373335633438353662343436343564383736c000055d016363616c6c222c1203058700283631d90008df0303040405520406eb0100fc03456172645f5b000054020cb801009d0301690300d300f0056174657a68786838326263397368773537722d317d0505d6010ff102012f3135f2022903bf010fe40206022c0301ff05066c040fde0212f016736f4b385649475236486238796d30506d6c33764e5a504b4a46724c67435a59227d7d5d7d');
INSERT INTO public.card_payments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1000, 25, 1, 26, 1026, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s89cb5egnrkas9bx7f1zax', 1795070144870, 1795156544870, 'prepared', NULL, NULL, 1795070144870, true, NULL, 0, NULL, 2, '01a1f284-b362-3561-65d8-f395e698cb6a', NULL, 1795156545335, NULL, 'automatic', NULL, NULL, '\x019b016b048b02b03935303730313435313732eb0301bb01079602ff07733839636b6a7a396d77746339763237336235383268ac0203f60d66323834623239343332666533623965636266633337646435316638c00079636f6e6669726dc002e0617474656d7074223a317d7d5d7d01f003eb01048b02b03935303730313435333335eb0301bb01079602ff07733839636b6a7a396d77746339763237336235383268ac0203f60d66323834623336323335363136356438663339346465616465306634c000055d016363616c6c222c1203058700283130c70408df0303910305520406eb0100fc03456172645f5b000054020cb801009d0301690300d300f0056236657636397a6a7a773966736a346778322d317d0505d6010ff102012f3234f2022903bf010fe40206022c0301ff05066c040fde0212f016413267496544356e6a476c6a5a71656c6f5770574c6f5445515475736b58314c227d7d5d7d');
INSERT INTO public.card_payments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1006, 25, 1, 26, 1032, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s89cz0neh97v51gfy62m42', 1795070145504, 1795156545504, 'prepared', NULL, NULL, 1795070145504, true, NULL, 0, NULL, 2, '01a1f284-b510-56cd-ab4a-9bfaf6812862', NULL, 1795156545807, NULL, 'automatic', NULL, NULL, '\x019b016d048b02b03935303730313435363838eb0301bb01079602f00673383964337033733531686576797a6267617634653c030fac0200f60d66323834623439393462323266393265363535343366633234613766c00079636f6e6669726dc002e0617474656d7074223a317d7d5d7d01f003ef01048b02b03935303730313435383037eb0301bb01079602f00673383964337033733531686576797a6267617634653c030fac0200f60d66323834623531303536636461623461396266393838633565336535c000055d016363616c6c222c120304870038373039d90008df0303910305520406eb0100fc03456172645f5b000054020cb801009d03016903f009733839637a30356b636b3830376138776b66613636782d317d0505d6010ff102012f3938f2022903bf010fe40206022c0301ff05066c040fde0212f01651696a336273456162324545527a4a644b524f484c57733544324b6651536b35227d7d5d7d');
INSERT INTO public.card_payments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b600-746c-e329-0f42639ce234', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1009, 25, 1, 26, 1035, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s89dfznqbxazqy1hvb7e9x', 1795070146048, 1795156546048, 'prepared', NULL, NULL, 1795070146048, true, NULL, 0, NULL, 2, '01a1f284-b796-8841-531f-add82ab15e88', NULL, 1795156546453, NULL, 'automatic', NULL, NULL, '\x019b016f048b02b03935303730313436313236eb0301bb01079602f00673383964687a6168396131777232706a787272336117010fac0200f00c6632383462363465633565366139306532643831376131386464356e0303c00079636f6e6669726dc002e0617474656d7074223a317d7d5d7d01f003ed01048b02b03935303730313436343533eb0301bb01079602f00673383964687a6168396131777232706a787272336117010fac0200f60d66323834623739363838343135333166616464363838386635336436c000055d016363616c6c222c120304870038333933d90008df0303910305520406eb0100fc03456172645f5b000054020cb80101dd0300690300d300f00567306568706536613866383968737372686d2d317d0505d6010ff102011f36f2022a03bf010fe40206022c0301ff05066c040fde0212f0166b756135524e674345744b4c70464e6962575936723748334a596e304b4e4953227d7d5d7d');
INSERT INTO public.card_payments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7de-4152-b15f-960cc333b252', 'payment_component', 'card_provider_b', 'square', 'web_card', NULL, 1, 'USD', 1012, 25, 1, 26, 1038, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, NULL, NULL, '{}', NULL, NULL, 'req_01m7s89dyx4qpbj9a9g7tac0hd', 1795070146526, 1795156546526, 'prepared', NULL, NULL, 1795070146526, true, NULL, 0, NULL, 2, '01a1f284-b904-a472-4149-7215ba062a4e', NULL, 1795156546820, NULL, 'automatic', NULL, NULL, '\x019b016b048b02b03935303730313436373237eb0301bb01079602ff077338396533677638706d657437706a726d3178746333ac0203f60d66323834623861373061383864346633323164396462373530306435c00079636f6e6669726dc002e0617474656d7074223a317d7d5d7d01f003ef01048b02b03935303730313436383230eb0301bb01079602ff077338396533677638706d657437706a726d3178746333ac0203f00c6632383462393034613437323431343937323134396638323464626e0303c000055d016363616c6c222c120304870038373631d90008df0303040405520406eb0100fc03456172645f5b000054020cb801009d03016903f0097338396479793835396232717770316b316b37636a6a2d317d0505d6010ff102012f3538f2022903ff000fe40206022c0301ff05066c040fde0212f0167a784b6a415a594a51586563424c303043536c54426d524449647a68414a5048227d7d5d7d');
INSERT INTO public.card_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b2fc-4a73-5c48-56b3e6fc5829', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 1795070145276, 'payment', NULL, 'card_provider_b', 'USD', 1029, 0, 0, 0, 1003, 25, 1, '783');
INSERT INTO public.card_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b362-3561-65d8-f394944c5e6a', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 1795070145335, 'payment', NULL, 'card_provider_b', 'USD', 1026, 0, 0, 0, 1000, 25, 1, '786');
INSERT INTO public.card_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b510-56cd-ab4a-9bf96498d878', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 1795070145807, 'payment', NULL, 'card_provider_b', 'USD', 1032, 0, 0, 0, 1006, 25, 1, '794');
INSERT INTO public.card_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b796-8841-531f-add6022a6c31', '01a1f284-b600-746c-e329-0f42639ce234', 1795070146453, 'payment', NULL, 'card_provider_b', 'USD', 1035, 0, 0, 0, 1009, 25, 1, '811');
INSERT INTO public.card_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b904-a472-4149-7214195adefc', '01a1f284-b7de-4152-b15f-960cc333b252', 1795070146820, 'payment', NULL, 'card_provider_b', 'USD', 1038, 0, 0, 0, 1012, 25, 1, '822');
INSERT INTO public.config_versions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1, '01a1f284-afb8-bd5e-ef0c-64b92143d0bd', 'admin', 'req_01m7s89bwssg7kc2wv20ceyszr', 1795070144416, '{"providers":{"ach_provider_a":{"adapter":"increase","credentials":{"apiKey":{"sealed":"v1.b64eab48aad1e7e8.sYkhAWz6jii9qur2pzM02vGoSeb7UCuqW54Gj7Jjb6mS9OSibnPLTNxT3x_CSXRkX4Y"},"webhookSecret":{"sealed":"v1.b64eab48aad1e7e8.8thgj72OAPZWP0utMtyywSA17rY-k7rnrE7dCxyO_UWEdvJ046ttKodQbvo72OnZVA1RX9KKb_oG2nikcI7OA5UDk4yzKP7vj-c6XTr-"}},"baseUrl":"http://127.0.0.1:39437/increase","funding":{"accountId":"account_simulator","accountNumberId":"account_number_simulator"}},"card_provider_b":{"adapter":"square","credentials":{"accessToken":{"sealed":"v1.b64eab48aad1e7e8.3J4Vj6bAl1VN-SptT3knjBRQ4yE9QZigPFc_VCqf0cySFPfPiwTobDDIyzg0Nm-Vlbk"},"applicationId":"sandbox-sq0idb-simulator","locationId":"LSIMULATOR001","webhookSignatureKey":{"sealed":"v1.b64eab48aad1e7e8.UFoSyAHlAM-Yr7s8dCAY3RKbGpD5QEkCFrxMuia6zoA20MpISsSwOERy2iQBM4C3-W8Wr7B5fND9-n3EuJapvRqcCvU-jAoBKfEXDPrv"}},"baseUrl":"http://127.0.0.1:39437/square","environment":"sandbox"}},"routing":{"web_card":{"enabled":true,"rules":[],"default":{"provider":"card_provider_b","channel":"web_card"}},"ach":{"enabled":true,"rules":[],"default":{"provider":"ach_provider_a","channel":"standard_ach"}}},"fees":[{"provider":"ach_provider_a","paymentMethod":"ach","channel":"standard_ach","currency":"USD","platform":{"enabled":true,"fixedFeeMinor":"25","percentFeeBps":0,"minimumFeeMinor":null,"capFeeMinor":null},"organization":{"enabled":true,"fixedFeeMinor":"0","percentFeeBps":10,"minimumFeeMinor":null,"capFeeMinor":null}},{"provider":"card_provider_b","paymentMethod":"web_card","channel":"none","currency":"USD","platform":{"enabled":true,"fixedFeeMinor":"25","percentFeeBps":0,"minimumFeeMinor":null,"capFeeMinor":null},"organization":{"enabled":true,"fixedFeeMinor":"0","percentFeeBps":10,"minimumFeeMinor":null,"capFeeMinor":null}}],"limits":[],"approvals":{"transfers":[],"configuration":false},"settings":{"secretKeyForPreparation":false,"preparationLifetimeSeconds":null,"returnOrigins":null,"allowedOrigins":null,"customerTokenLifetimeSeconds":null,"customerTokenKey":null,"customerTokenOldestKey":null,"achCalendar":null,"checkProviderFunds":false,"feeRefund":"proportional","forwardMetadata":[],"circuit":{"enabled":true,"windowSeconds":60,"minimumCalls":20,"failurePercent":50,"openSeconds":30},"fallbackMayCostMore":false,"rateLimitPerSecond":null,"surchargeWarningBps":null,"requestLogDays":null,"retention":{"customerDataDays":null,"providerEventDays":null},"returnRates":{"administrativeBps":300,"unauthorizedBps":50,"minimumTransfers":100}}}');
INSERT INTO public.directory VALUES (1, 3);
INSERT INTO public.environments VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-ad22-9d27-31ff-74d909787174', '01a1f284-ac9c-725e-3de1-6266f852d61f', 'test', 1795070143949, 1, 3);
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 1, '01a1f284-b1a5-e8a7-3926-8908e97ef025', 'payment.prepared');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 2, '01a1f284-b1a6-3666-6a58-c1fece4fb090', 'payment.prepared');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 3, '01a1f284-b2b5-12cd-fe28-d1687e21db26', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 4, '01a1f284-b2b5-12cd-fe28-d169276e48be', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 5, '01a1f284-b2fc-4a73-5c48-56b59a1e9c79', 'transaction.succeeded');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 6, '01a1f284-b362-3561-65d8-f3952c3219ec', 'transaction.succeeded');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 7, '01a1f284-b3e1-8f36-cf33-b471497f542c', 'payment.prepared');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 8, '01a1f284-b428-b5cf-389f-ea1220af0613', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 9, '01a1f284-b428-b5cf-389f-ea1239d75126', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 10, '01a1f284-b398-ab47-feeb-e494a374155d', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 11, '01a1f284-b398-ab47-feeb-e494c1a5d601', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 12, '01a1f284-b510-56cd-ab4a-9bfa6b060544', 'transaction.succeeded');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 13, '01a1f284-b3e1-8f36-cf33-b473a37f52af', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 14, '01a1f284-b3e1-8f36-cf33-b47442e79f84', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 15, '01a1f284-b581-0a86-4e1a-6f749c7dbfb3', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 16, '01a1f284-b581-0a86-4e1a-6f756f8c73d7', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 17, '01a1f284-b600-746c-e329-0f431930eff7', 'payment.prepared');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 18, '01a1f284-b6c4-83ba-5d55-a907e86c4ae1', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 19, '01a1f284-b6c4-83ba-5d55-a90859d64cc2', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 20, '01a1f284-b796-8841-531f-add7d5c3b4e6', 'transaction.succeeded');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 21, '01a1f284-b793-46e3-44b9-9314892fa9f1', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 22, '01a1f284-b793-46e3-44b9-9314fb215b49', 'transaction.processing');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 23, '01a1f284-b7de-4152-b15f-960d9242bd8f', 'payment.prepared');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 24, '01a1f284-b904-a472-4149-7214e17362c1', 'transaction.succeeded');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 25, '01a1f284-b8c8-dbce-c5cb-e8676117f734', 'transaction.pending');
INSERT INTO public.event_sequence VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 26, '01a1f284-b8c8-dbce-c5cb-e867e8cdf52b', 'transaction.processing');
INSERT INTO public.ledger_accounts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'funding', -1000000000000);
INSERT INTO public.ledger_accounts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'available', 999999998952);
INSERT INTO public.ledger_accounts VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', 'reserved', 1048);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b0e7-1d32-613f-331522889e30', 'fund', 'opening', 1000000000000, 'admin', 1795070144743, NULL, '772', -1000000000000, 1000000000000, NULL, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b1c5-f83c-5826-9a963911216b', 'reserve', 'ach_4ds6atzytzac1j6y7w5769091b', 126, 'transfer', 1795070144867, 'ach_provider_a', '775', NULL, -126, 126, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b1c5-f83c-5826-9a96413dfb0e', 'reserve', 'ach_2v1gkcn06aaq5mhm2dzx088dp3', 127, 'transfer', 1795070144869, 'ach_provider_a', '780', NULL, -127, 127, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b336-31d8-6f3d-ebe03cbbe17d', 'reserve', 'ach_577ty88ccb21wg0ff8caf16jaa', 129, 'transfer', 1795070145334, 'ach_provider_a', '785', NULL, -129, 129, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b39f-4b3a-ed49-9bf72160dec5', 'reserve', 'ach_7g8drq9thzswrtf3zpjtwaqys0', 130, 'transfer', 1795070145438, 'ach_provider_a', '787', NULL, -130, 130, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b4c9-3eb7-8062-6fa48a0d9058', 'reserve', 'ach_5gmjsqww2r95dsb6jzjsb24qzq', 132, 'transfer', 1795070145736, 'ach_provider_a', '793', NULL, -132, 132, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b4f6-4c6a-eadb-113da960c54c', 'reserve', 'ach_3ng13ygp3z1qzv7knz8rdhasq2', 133, 'transfer', 1795070145782, 'ach_provider_a', '800', NULL, -133, 133, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b60d-1a76-b10b-a85131c4d1e0', 'reserve', 'ach_2yw4ewwyrx9g7kz17qbb42bqbv', 135, 'transfer', 1795070146051, 'ach_provider_a', '805', NULL, -135, 135, NULL, NULL, NULL);
INSERT INTO public.ledger_postings VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'USD', '01a1f284-b7a6-e51f-1b5c-ae54dcf588c4', 'reserve', 'ach_6ammrt3sh6macfm5rm803d0nsy', 136, 'transfer', 1795070146470, 'ach_provider_a', '814', NULL, -136, 136, NULL, NULL, NULL);
INSERT INTO public.organizations VALUES ('01a1f284-ac9c-725e-3de1-6266f852d61f', 'Organization', 1795070143644);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1a5-e8a7-3926-8908e97ef025', 'payment.prepared', 'web_card', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 1795070144858, NULL);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1a6-3666-6a58-c1fece4fb090', 'payment.prepared', 'web_card', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 1795070144870, NULL);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b2b5-12cd-fe28-d1687e21db26', 'transaction.pending', 'ach', '8dc995af-fb5f-5303-2378-fc29cc90242b', 1795070145205, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b2b5-12cd-fe28-d169276e48be', 'transaction.processing', 'ach', '8dc995af-fb5f-5303-2378-fc29cc90242b', 1795070145205, '{"revision":1,"status":"processing","providerReference":"ach_transfer_vrg9ggj9mlqgxnmbqng6ubye"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b2fc-4a73-5c48-56b59a1e9c79', 'transaction.succeeded', 'web_card', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 1795070145276, '{"revision":2,"status":"succeeded","providerReference":"soK8VIGR6Hb8ym0Pml3vNZPKJFrLgCZY"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b362-3561-65d8-f3952c3219ec', 'transaction.succeeded', 'web_card', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 1795070145335, '{"revision":2,"status":"succeeded","providerReference":"A2gIeD5njGljZqeloWpWLoTEQTuskX1L"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e1-8f36-cf33-b471497f542c', 'payment.prepared', 'web_card', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 1795070145504, NULL);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b428-b5cf-389f-ea1220af0613', 'transaction.pending', 'ach', 'f0437174-ea3f-cf31-a78f-f696b8abfb20', 1795070145576, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b428-b5cf-389f-ea1239d75126', 'transaction.processing', 'ach', 'f0437174-ea3f-cf31-a78f-f696b8abfb20', 1795070145576, '{"revision":1,"status":"processing","providerReference":"ach_transfer_ltof7o4zwwtmscg5ccf00lyu"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b398-ab47-feeb-e494a374155d', 'transaction.pending', 'ach', '5b0c26ca-80ca-55cb-48d0-4dff408436c3', 1795070145432, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b398-ab47-feeb-e494c1a5d601', 'transaction.processing', 'ach', '5b0c26ca-80ca-55cb-48d0-4dff408436c3', 1795070145432, '{"revision":1,"status":"processing","providerReference":"ach_transfer_i9altmmuqemucaakiraewbia"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b510-56cd-ab4a-9bfa6b060544', 'transaction.succeeded', 'web_card', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 1795070145807, '{"revision":2,"status":"succeeded","providerReference":"Qij3bsEab2EERzJdKROHLWs5D2KfQSk5"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e1-8f36-cf33-b473a37f52af', 'transaction.pending', 'ach', 'a73ebc84-318b-1079-003d-e8629e13494a', 1795070145505, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e1-8f36-cf33-b47442e79f84', 'transaction.processing', 'ach', 'a73ebc84-318b-1079-003d-e8629e13494a', 1795070145505, '{"revision":1,"status":"processing","providerReference":"ach_transfer_tnck2ucwosp95hmiqfowrxru"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b581-0a86-4e1a-6f749c7dbfb3', 'transaction.pending', 'ach', 'b0a4b37e-7058-495b-959a-5f9656225ff7', 1795070145920, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b581-0a86-4e1a-6f756f8c73d7', 'transaction.processing', 'ach', 'b0a4b37e-7058-495b-959a-5f9656225ff7', 1795070145920, '{"revision":1,"status":"processing","providerReference":"ach_transfer_qxybx1apcfq57th0wmwhnlpj"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b600-746c-e329-0f431930eff7', 'payment.prepared', 'web_card', '01a1f284-b600-746c-e329-0f42639ce234', 1795070146048, NULL);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b6c4-83ba-5d55-a907e86c4ae1', 'transaction.pending', 'ach', '758047e8-587f-0dff-b3ce-bf461b1566e2', 1795070146244, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b6c4-83ba-5d55-a90859d64cc2', 'transaction.processing', 'ach', '758047e8-587f-0dff-b3ce-bf461b1566e2', 1795070146244, '{"revision":1,"status":"processing","providerReference":"ach_transfer_npg9vaaltd0kww2zmcdwv1kk"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b796-8841-531f-add7d5c3b4e6', 'transaction.succeeded', 'web_card', '01a1f284-b600-746c-e329-0f42639ce234', 1795070146453, '{"revision":2,"status":"succeeded","providerReference":"kua5RNgCEtKLpFNibWY6r7H3JYn0KNIS"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b793-46e3-44b9-9314892fa9f1', 'transaction.pending', 'ach', '5ee11dce-7b1d-4c0f-3f84-f75ac825dd7b', 1795070146451, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b793-46e3-44b9-9314fb215b49', 'transaction.processing', 'ach', '5ee11dce-7b1d-4c0f-3f84-f75ac825dd7b', 1795070146451, '{"revision":1,"status":"processing","providerReference":"ach_transfer_27ayqpw8nycdqylquh2kxicr"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7de-4152-b15f-960d9242bd8f', 'payment.prepared', 'web_card', '01a1f284-b7de-4152-b15f-960cc333b252', 1795070146526, NULL);
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b904-a472-4149-7214e17362c1', 'transaction.succeeded', 'web_card', '01a1f284-b7de-4152-b15f-960cc333b252', 1795070146820, '{"revision":2,"status":"succeeded","providerReference":"zxKjAZYJQXecBL00CSlTBmRDIdzhAJPH"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b8c8-dbce-c5cb-e8676117f734', 'transaction.pending', 'ach', 'caa531a1-e626-a298-fa17-144006d0573e', 1795070146755, '{"status":"pending"}');
INSERT INTO public.out_events VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b8c8-dbce-c5cb-e867e8cdf52b', 'transaction.processing', 'ach', 'caa531a1-e626-a298-fa17-144006d0573e', 1795070146755, '{"revision":1,"status":"processing","providerReference":"ach_transfer_fy0jshtj3gw9jub6tymj9nzs"}');
INSERT INTO public.pins VALUES ('master_key_fingerprint', 'b64eab48aad1e7e8');
INSERT INTO public.provider_objects VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'card_provider_b', 'soK8VIGR6Hb8ym0Pml3vNZPKJFrLgCZY', '01a1f284-b15a-77e3-d8a0-4b62731e14f8');
INSERT INTO public.provider_objects VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'card_provider_b', 'A2gIeD5njGljZqeloWpWLoTEQTuskX1L', '01a1f284-b166-76cc-9fcb-fc4bf32243a2');
INSERT INTO public.provider_objects VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'card_provider_b', 'Qij3bsEab2EERzJdKROHLWs5D2KfQSk5', '01a1f284-b3e0-2cd9-3400-ea4726f518dd');
INSERT INTO public.provider_objects VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'card_provider_b', 'kua5RNgCEtKLpFNibWY6r7H3JYn0KNIS', '01a1f284-b600-746c-e329-0f42639ce234');
INSERT INTO public.provider_objects VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'card_provider_b', 'zxKjAZYJQXecBL00CSlTBmRDIdzhAJPH', '01a1f284-b7de-4152-b15f-960cc333b252');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b151-d763-16bc-50b691d65013', 1795070144849, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/customer-tokens', '/client/v1/ach/customer-tokens', 201, NULL, '', 1, NULL);
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b159-a969-5999-2927a99b4860', 1795070144857, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 195, 'pay_01m7s89catezhxh82bc9shw57r');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b165-742b-89ab-295f4ef0fd5d', 1795070144869, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 247, 'pay_01m7s89cb6ev69zjzw9fsj4gx2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b15a-796a-a0b3-c1fa2199a877', 1795070144858, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 450, 'ach_4ds6atzytzac1j6y7w5769091b');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b21e-db27-abdf-469f5cc8f9ca', 1795070145054, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component/pay_01m7s89catezhxh82bc9shw57r/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 330, 'pay_01m7s89catezhxh82bc9shw57r');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b272-fa69-cd31-3b11c6b2a051', 1795070145138, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component/pay_01m7s89cb6ev69zjzw9fsj4gx2/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 315, 'pay_01m7s89cb6ev69zjzw9fsj4gx2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e0-aba2-93ec-a183fc615082', 1795070145504, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 143, 'pay_01m7s89cz05kck807a8wkfa66x');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b39e-abd2-7180-91dda99b6ff9', 1795070145438, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 258, 'ach_7g8drq9thzswrtf3zpjtwaqys0');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b164-6364-c825-e18c0fd2b041', 1795070144868, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 859, 'ach_2v1gkcn06aaq5mhm2dzx088dp3');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b476-1e4a-18bb-7efae0ad91ce', 1795070145654, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component/pay_01m7s89cz05kck807a8wkfa66x/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 267, 'pay_01m7s89cz05kck807a8wkfa66x');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b335-88cc-8b5a-474e555273c1', 1795070145333, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 589, 'ach_577ty88ccb21wg0ff8caf16jaa');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4c7-c39f-70b6-d269f3956c17', 1795070145735, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 223, 'ach_5gmjsqww2r95dsb6jzjsb24qzq');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b5ff-add7-d57e-fe0c76b3b93d', 1795070146047, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 60, 'pay_01m7s89dg0ehpe6a8f89hssrhm');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4f4-8470-4f9f-676095174460', 1795070145780, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 498, 'ach_3ng13ygp3z1qzv7knz8rdhasq2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b58d-41e5-bd28-ce797eb2f4f1', 1795070145933, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 200, NULL, '', 503, 'ach_577ty88ccb21wg0ff8caf16jaa');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b74a-64fb-26f3-11057ede0c36', 1795070146378, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 200, NULL, '', 108, 'ach_3ng13ygp3z1qzv7knz8rdhasq2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b602-0e3e-0ec8-a4fb19b3b961', 1795070146050, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 505, 'ach_2yw4ewwyrx9g7kz17qbb42bqbv');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b63f-5452-a0f3-02b4bb8c0d4a', 1795070146111, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component/pay_01m7s89dg0ehpe6a8f89hssrhm/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 540, 'pay_01m7s89dg0ehpe6a8f89hssrhm');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7dd-25ec-b925-4981f4a6022d', 1795070146525, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component', '/client/v1/payments/component', 201, NULL, '', 129, 'pay_01m7s89dyy859b2qwp1k1k7cjj');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b870-da2d-4768-f696281ee983', 1795070146672, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/payments/component/pay_01m7s89dyy859b2qwp1k1k7cjj/confirm', '/client/v1/payments/component/{reference}/confirm', 200, NULL, '', 220, 'pay_01m7s89dyy859b2qwp1k1k7cjj');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b78a-caa9-1836-0d89138f5449', 1795070146442, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'POST', '/client/v1/ach/transfers', '/client/v1/ach/transfers', 201, NULL, '', 474, 'ach_6ammrt3sh6macfm5rm803d0nsy');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-bfa0-4282-e275-4c6857e9eaca', 1795070148512, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/pay_01m7s89dyy859b2qwp1k1k7cjj', '/client/v1/transactions/{reference}', 200, NULL, '', 36, 'pay_01m7s89dyy859b2qwp1k1k7cjj');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-bfd8-d9b9-794f-8a63512eff81', 1795070148568, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_6ammrt3sh6macfm5rm803d0nsy', '/client/v1/transactions/{reference}', 200, NULL, '', 5, 'ach_6ammrt3sh6macfm5rm803d0nsy');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-bfe8-ae79-7fb3-32cf72ce4dce', 1795070148584, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_2yw4ewwyrx9g7kz17qbb42bqbv', '/client/v1/transactions/{reference}', 200, NULL, '', 66, 'ach_2yw4ewwyrx9g7kz17qbb42bqbv');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c035-de71-a685-88224dfa9f05', 1795070148661, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/pay_01m7s89dg0ehpe6a8f89hssrhm', '/client/v1/transactions/{reference}', 200, NULL, '', 15, 'pay_01m7s89dg0ehpe6a8f89hssrhm');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c045-d45c-5c79-5832427a5e96', 1795070148677, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_3ng13ygp3z1qzv7knz8rdhasq2', '/client/v1/transactions/{reference}', 200, NULL, '', 15, 'ach_3ng13ygp3z1qzv7knz8rdhasq2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c058-c34c-7179-0ac544074f11', 1795070148696, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_5gmjsqww2r95dsb6jzjsb24qzq', '/client/v1/transactions/{reference}', 200, NULL, '', 10, 'ach_5gmjsqww2r95dsb6jzjsb24qzq');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c078-0b09-f21d-5c4ec48ab53b', 1795070148728, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/pay_01m7s89cz05kck807a8wkfa66x', '/client/v1/transactions/{reference}', 200, NULL, '', 3, 'pay_01m7s89cz05kck807a8wkfa66x');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c082-c7b7-44e0-b178a4660349', 1795070148738, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_7g8drq9thzswrtf3zpjtwaqys0', '/client/v1/transactions/{reference}', 200, NULL, '', 26, 'ach_7g8drq9thzswrtf3zpjtwaqys0');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c0b4-5fd3-f8ee-4979107b0aed', 1795070148788, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_577ty88ccb21wg0ff8caf16jaa', '/client/v1/transactions/{reference}', 200, NULL, '', 1, 'ach_577ty88ccb21wg0ff8caf16jaa');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c0d8-7af2-db30-d2f712bb3d84', 1795070148824, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_2v1gkcn06aaq5mhm2dzx088dp3', '/client/v1/transactions/{reference}', 200, NULL, '', 20, 'ach_2v1gkcn06aaq5mhm2dzx088dp3');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c105-9053-15ed-1c6102eee9b9', 1795070148869, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/ach_4ds6atzytzac1j6y7w5769091b', '/client/v1/transactions/{reference}', 200, NULL, '', 17, 'ach_4ds6atzytzac1j6y7w5769091b');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c148-71d2-e0eb-d4622f656ea3', 1795070148936, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/pay_01m7s89cb6ev69zjzw9fsj4gx2', '/client/v1/transactions/{reference}', 200, NULL, '', 41, 'pay_01m7s89cb6ev69zjzw9fsj4gx2');
INSERT INTO public.request_log VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-c183-049c-c951-4bfc91b31a53', 1795070148995, '01a1f284-aedc-0cf9-6b9a-f3c37cb5b13f', 'GET', '/client/v1/transactions/pay_01m7s89catezhxh82bc9shw57r', '/client/v1/transactions/{reference}', 200, NULL, '', 95, 'pay_01m7s89catezhxh82bc9shw57r');
INSERT INTO public.schema_migrations VALUES (1, 'foundations', 'fecb2029caba628145b6b49291ec7b054463c4952a478b0a8566429df6aa9241', 1795070134826);
INSERT INTO public.schema_migrations VALUES (2, 'payments', '8c710e45d1bf1a3c74b56897c599343cbf7359afab4bd9c8123ce091166abde6', 1795070135272);
INSERT INTO public.schema_migrations VALUES (3, 'transfers', '66219d0c65387b3a5bd0e9e9539efd475b8a50743e174ec08e5dd07797d6839c', 1795070135595);
INSERT INTO public.schema_migrations VALUES (4, 'entries', '478cd53fbc154a8c79b45e5d59d483bcacc08768fb4a1da7b298731715740db9', 1795070135667);
INSERT INTO public.schema_migrations VALUES (5, 'events', '3aac653192f77b0e42b5122906401f75a8445f775a071ad9174748bcaa85bdea', 1795070135851);
INSERT INTO public.schema_migrations VALUES (6, 'lists', '036001e488dc0ae50fb3cc41160ef73d60b98535ddb41f2bf9f74644610cb377', 1795070136228);
INSERT INTO public.schema_migrations VALUES (7, 'accounts', '1daaafa033c6c411f1fce9248b53af809c59759ba5e705c97f6046c43472225c', 1795070136577);
INSERT INTO public.schema_migrations VALUES (8, 'event_sequence', 'dfe05e098e42e892d50b7c5a7db24eb05e652c914fabd1fa753f150edc48333e', 1795070136770);
INSERT INTO public.schema_migrations VALUES (11, 'follow_ups', '13b2dccd788c4b1a45ccd44958416b37c184b22626e61a4132ecf7708be2c5c2', 1795070137026);
INSERT INTO public.schema_migrations VALUES (12, 'names_of_payments', 'b8c49694c39471da5fbf725191031fa0249df52428fe63d6fe3f75b5a8620c20', 1795070137227);
INSERT INTO public.schema_migrations VALUES (16, 'provider_checks', 'e57d2535939675346395f517af33b421d99b1fad3e5af5671b4e3a0a6ef108c6', 1795070137411);
INSERT INTO public.schema_migrations VALUES (18, 'refunds', 'ee9ffc862381faf3ccf2430b61218a762dc981bc00cc13d5f4f128c5f4d29953', 1795070137918);
INSERT INTO public.schema_migrations VALUES (19, 'preparation_keys', '2a5d2fcbef56f0dff0b75aaf227e26e5747523df478e9d47a0ed8e7e6d1914c1', 1795070138614);
INSERT INTO public.schema_migrations VALUES (20, 'holds', 'cd7993131a1f32d8a2268c433438804fbfd081460fc80ea2c3758caef1dc326b', 1795070138911);
INSERT INTO public.schema_migrations VALUES (21, 'card_books', 'bd5d67b46cc76af9596d62f0381625348528e8d10f82e379aa1bc8d64f98e7d2', 1795070139331);
INSERT INTO public.schema_migrations VALUES (22, 'customer_tokens', '691a1bd23aa4b393a5623d1b4615351d21c008b3c46d52ca1e11b726423fcc4b', 1795070139535);
INSERT INTO public.schema_migrations VALUES (23, 'security', '5fe985d08510baf4a1a66a0c1cf1c8f52743318dcd5913b68ee3866b7cb9d96d', 1795070139855);
INSERT INTO public.schema_migrations VALUES (24, 'fingerprints', '4f6f798c26471d3d496149d8accad7007aea9f13a7b4f94366611fb12ff63993', 1795070140312);
INSERT INTO public.schema_migrations VALUES (25, 'people', 'dd810cfba3c1fa70c2ff090e764f26a6122a8f5921beb658eeef572558592272', 1795070140804);
INSERT INTO public.schema_migrations VALUES (27, 'routes', 'c23346fc970d6610be44b2c740738f79b32f67b49b0c625604bad79244ca3dee', 1795070141048);
INSERT INTO public.schema_migrations VALUES (29, 'limits', 'a1814fdfc2ffd1427444541f7b9b30056ca867dd1106058d290a0db3f837c56b', 1795070141290);
INSERT INTO public.schema_migrations VALUES (31, 'request_log', 'cf6dcbc68b580e0d71daf675338e760bab3172afcb9aab68ba024fca3ae01ff9', 1795070141603);
INSERT INTO public.schema_migrations VALUES (32, 'search', 'b0279465b5ed040bda32888eac7c5ed7279772fab965f4c15acd38bd8cec8364', 1795070141944);
INSERT INTO public.schema_migrations VALUES (33, 'transfer_details', '3be601dd822fd3ff37c83bd06a2f33cb51a92a85a51c5d214d461960c699364c', 1795070142004);
INSERT INTO public.schema_migrations VALUES (34, 'request_log_by_code', '95ef55db3b371d23cacfdfa56235e880c5e79faf858a4faa8a85e10213303214', 1795070142086);
INSERT INTO public.schema_migrations VALUES (35, 'audit_log', '33b1af99e7b3e4db3e44f862cc65745ba3747232d3b1bbd9c95071f6b398602a', 1795070142175);
INSERT INTO public.schema_migrations VALUES (36, 'key_scopes', '33ae971eb82a0e98121da76e6dbd1b960fc97aff20d90e059808c64af939399d', 1795070142240);
INSERT INTO public.schema_migrations VALUES (37, 'erasure', 'e534ee21e15d36bec0fbf81373ccd86a6f4f7671441c2d3e260bb8ed4fc8d55b', 1795070142273);
INSERT INTO public.schema_migrations VALUES (38, 'approvals', 'cb257dcc2bbd3588bd6daa047578d586f6aeeaf23d2beeccaa43c1910f2b2ddd', 1795070142378);
INSERT INTO public.schema_migrations VALUES (39, 'audit_checkpoint', '41fac4fa75c80dda8ff6ff9e9c2264ddce814ac83c0f911e61de4f54c6bb7f80', 1795070142505);
INSERT INTO public.schema_migrations VALUES (40, 'statement_sums', 'b92ad22415da938d4da43af77f4d009250b8a97a4c56d35bb09f0bc72644456a', 1795070142655);
INSERT INTO public.schema_migrations VALUES (41, 'entries_of_postings', '4d1e92203908b284202eacc76b16d50ffd98910c46b841899cf350c4c5a21a4b', 1795070142751);
INSERT INTO public.schema_migrations VALUES (42, 'lines_of_payments', '61b95052dbdf31b3b466b82b84ed2feafc84eb545aee1364f04ec819f8bc95db', 1795070142931);
INSERT INTO public.schema_migrations VALUES (43, 'smaller_search_terms', '792409b739ecafa47e7ea9f45546268295bd4627078acc3a5f92b522d2b344fe', 1795070142950);
INSERT INTO public.schema_migrations VALUES (44, 'withdrawn_for_disputes', '15513806bcd266d58fcca5622f2e7a5be54dde3bc9a22ea9be9fcf7d29c6f617', 1795070142955);
INSERT INTO public.schema_migrations VALUES (45, 'erasure_wishes', 'dab84cdd4695a888bebd46c5e782f18307ff7eaae7240c5f0b0cb6545ca74acb', 1795070142975);
INSERT INTO public.schema_migrations VALUES (46, 'credential_accounts', '9f0acb7ee2e9ce4cc40b94df0437cb3640864250c25eb291521ca9b40584ece1', 1795070143022);
INSERT INTO public.schema_migrations VALUES (50, 'identity', '923c22366a16e6f83c988321c7c955b778272d2a9ff153c88e4979f9bdc836e6', 1795070143071);
INSERT INTO public.schema_migrations VALUES (51, 'more_approvals', 'af16d1bcd967a0b11ac2acc6e7953da67836476a8fa41a5566db3b4910e72964', 1795070143320);
INSERT INTO public.sealing_keys VALUES ('01a1f284-b163-5ca0-b1be-af047a5a29d3', 'v1.b64eab48aad1e7e8.cLyM729JGyL4RpWmk4ToVMlKeDgGFb3XnOkLUn3Fy1-sYbG9vxAv-xjRcrLoW18CH-Pvu8wCx_s5NoLNI6rIUjYwSVcmC1E', 1795070144867);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1000', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1003', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1026', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1029', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1006', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1009', '01a1f284-b600-746c-e329-0f42639ce234', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:101', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:102', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1032', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1035', '01a1f284-b600-746c-e329-0f42639ce234', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:104', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:105', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:107', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:126', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:127', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:129', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:130', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:132', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b1c4-7447-d875-3f0122f23c1e', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b1c5-f83c-5826-9a963d312ae0', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b4c8-1608-2561-2fc3f34fd019', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'text:a2gied5njgljzqelowpwloteqtuskx1l', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'text:qij3bseab2eerzjdkrohlws5d2kfqsk5', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'text:sok8vigr6hb8ym0pml3vnzpkjfrlgczy', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1012', '01a1f284-b7de-4152-b15f-960cc333b252', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:1038', '01a1f284-b7de-4152-b15f-960cc333b252', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:108', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:110', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:111', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:133', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:135', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'amount:136', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada example', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:ada@example.com', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:customer-1', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'customer:example', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b60d-1a76-b10b-a850c835a82c', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'last4:6789', '01a1f284-b7a6-e51f-1b5c-ae5461360178', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'text:kua5rngcetklpfnibwy6r7h3jyn0knis', '01a1f284-b600-746c-e329-0f42639ce234', NULL, NULL);
INSERT INTO public.search_terms VALUES ('01a1f284-adcd-a696-4c80-080f41671277', 'text:zxkjazyjqxecbl00csltbmrdidzhajph', '01a1f284-b7de-4152-b15f-960cc333b252', NULL, NULL);
INSERT INTO public.statement_position VALUES (1, '7709767403689953809/767:767:');
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1c4-7447-d875-3f0122f23c1e', 'ach', '8dc995af-fb5f-5303-2378-fc29cc90242b', 'ach_provider_a', 'standard_ach', 'USD', 101, 25, 0, 25, 126, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070144867, 1795070145205, 'processing', 'ach_transfer_vrg9ggj9mlqgxnmbqng6ubye', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b15a-4a73-5c48-56b4c5b989be', 'web_card', '01a1f284-b15a-77e3-d8a0-4b62731e14f8', 'card_provider_b', 'web_card', 'USD', 1003, 25, 1, 26, 1029, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070144858, 1795070145276, 'succeeded', 'soK8VIGR6Hb8ym0Pml3vNZPKJFrLgCZY', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b166-3561-65d8-f39520c6cab9', 'web_card', '01a1f284-b166-76cc-9fcb-fc4bf32243a2', 'card_provider_b', 'web_card', 'USD', 1000, 25, 1, 26, 1026, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070144870, 1795070145335, 'succeeded', 'A2gIeD5njGljZqeloWpWLoTEQTuskX1L', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', 'ach', 'f0437174-ea3f-cf31-a78f-f696b8abfb20', 'ach_provider_a', 'standard_ach', 'USD', 105, 25, 0, 25, 130, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070145438, 1795070145576, 'processing', 'ach_transfer_ltof7o4zwwtmscg5ccf00lyu', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1c5-f83c-5826-9a963d312ae0', 'ach', '5b0c26ca-80ca-55cb-48d0-4dff408436c3', 'ach_provider_a', 'standard_ach', 'USD', 102, 25, 0, 25, 127, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070144869, 1795070145432, 'processing', 'ach_transfer_i9altmmuqemucaakiraewbia', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b3e0-56cd-ab4a-9bfa5469acee', 'web_card', '01a1f284-b3e0-2cd9-3400-ea4726f518dd', 'card_provider_b', 'web_card', 'USD', 1006, 25, 1, 26, 1032, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070145504, 1795070145807, 'succeeded', 'Qij3bsEab2EERzJdKROHLWs5D2KfQSk5', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', 'ach', 'a73ebc84-318b-1079-003d-e8629e13494a', 'ach_provider_a', 'standard_ach', 'USD', 104, 25, 0, 25, 129, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070145334, 1795070145505, 'processing', 'ach_transfer_tnck2ucwosp95hmiqfowrxru', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4c8-1608-2561-2fc3f34fd019', 'ach', 'b0a4b37e-7058-495b-959a-5f9656225ff7', 'ach_provider_a', 'standard_ach', 'USD', 107, 25, 0, 25, 132, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070145736, 1795070145920, 'processing', 'ach_transfer_qxybx1apcfq57th0wmwhnlpj', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', 'ach', '758047e8-587f-0dff-b3ce-bf461b1566e2', 'ach_provider_a', 'standard_ach', 'USD', 108, 25, 0, 25, 133, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070145782, 1795070146244, 'processing', 'ach_transfer_npg9vaaltd0kww2zmcdwv1kk', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b600-8841-531f-add706b9f9be', 'web_card', '01a1f284-b600-746c-e329-0f42639ce234', 'card_provider_b', 'web_card', 'USD', 1009, 25, 1, 26, 1035, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070146048, 1795070146453, 'succeeded', 'kua5RNgCEtKLpFNibWY6r7H3JYn0KNIS', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b60d-1a76-b10b-a850c835a82c', 'ach', '5ee11dce-7b1d-4c0f-3f84-f75ac825dd7b', 'ach_provider_a', 'standard_ach', 'USD', 110, 25, 0, 25, 135, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070146051, 1795070146451, 'processing', 'ach_transfer_27ayqpw8nycdqylquh2kxicr', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7de-a472-4149-7214aa92cb14', 'web_card', '01a1f284-b7de-4152-b15f-960cc333b252', 'card_provider_b', 'web_card', 'USD', 1012, 25, 1, 26, 1038, '{"organization":{"beforeBoundsMinor":1,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":1},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070146526, 1795070146820, 'succeeded', 'zxKjAZYJQXecBL00CSlTBmRDIdzhAJPH', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transactions VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7a6-e51f-1b5c-ae5461360178', 'ach', 'caa531a1-e626-a298-fa17-144006d0573e', 'ach_provider_a', 'standard_ach', 'USD', 111, 25, 0, 25, 136, '{"organization":{"beforeBoundsMinor":0,"enabled":true,"fixedMinor":0,"percentBps":10,"percentPartMinor":0},"platform":{"beforeBoundsMinor":25,"enabled":true,"fixedMinor":25,"percentBps":0,"percentPartMinor":0}}', NULL, '{}', 1795070146470, 1795070146755, 'processing', 'ach_transfer_fy0jshtj3gw9jub6tymj9nzs', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1c4-7447-d875-3f0122f23c1e', 'ach_4ds6atzytzac1j6y7w5769091b', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89catf5na1cy1z8gska3q', '{"accountName":"f9f9c1743121e8958d7ed7fc","amountMinor":"51297098d0c4965c6709c2ab","bankAccount":"2c641ba90c2dab7934c7cbcf","bankAccountType":"c5cc3c42105231143b672f2a","bankName":"c6a136d75469a2a0d5e2bac4","currency":"191ac2b236d0ae3f315679c5","customerToken":"c7261879d23ff749c2e732a8","customerTokenText":"b94a48229abd98822764c58c","description":"6442ef4b9cf3bf9fe8171f37","metadata":"feee66c87f1744a6f72bfe06","remittanceData":"8e27ac894078555be4795227"}', NULL, '2026-11-20', '[]', 1795070150898, 2, NULL, 3, '01a1f284-bae2-03e3-a954-a64110f8733c', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03d301048b02b03935303730313435323035eb0301bb01079602ff0773383963617466356e61316379317a3867736b613371ac0203f60d66323834623262353132636466653238643136383435663933306631c000055d016363616c6c222c120304870038313238d90008df0308210105570406f001034301055f000fbc0101014400f00a3464733661747a79747a6163316a36793777353736393039318a0200130202d8010ff302012f3736f4022903c1010fe60253f00e7672673967676a396d6c7167786e6d62716e673675627965227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b1c5-f83c-5826-9a963d312ae0', 'ach_2v1gkcn06aaq5mhm2dzx088dp3', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89cb4cdjcg9f1hg7x5c21', '{"accountName":"e28916de2c9bd69f6372b259","amountMinor":"2b86836251f299eaf45ebbea","bankAccount":"820c398c1560daad2f018b0d","bankAccountType":"2659b9eede46db46d1d55c63","bankName":"55d28b9cc843dad849e738ce","currency":"f814f5aa271ed7f7e86ca6f7","customerToken":"c0a88c8a76df26677170d8ce","customerTokenText":"e4547b42da7c7784eeba43dc","description":"2d3dc162285fc61fd274f898","metadata":"4f90f4b1b19f440e5f53c308","remittanceData":"2c9821db69308e1098f2a138"}', NULL, '2026-11-20', '[]', 1795070151420, 2, NULL, 3, '01a1f284-bcec-f516-f5fd-71bd5550bb67', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03d301048b02b03935303730313435343332eb0301bb01079602ff0773383963623463646a63673966316867377835633231ac0203f00c663238346233393861623437666565626534393434343932656338de0203c000055d016363616c6c222c120304870038333630d90008df0308cb0005570406f001034301055f000fbc0101014400f00b327631676b636e3036616171356d686d32647a783038386470337f0505d8010ff302012f3732f402290301010fe60253f00e6939616c746d6d7571656d756361616b6972616577626961227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b7a6-e51f-1b5c-ae5461360178', 'ach_6ammrt3sh6macfm5rm803d0nsy', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89dwasamhgdgdh49ryn29', '{"accountName":"c1947e343ab802f0e5e810c6","amountMinor":"95f74a7ef10914ea6686f4ca","bankAccount":"c146896f29d131a485a0c77a","bankAccountType":"f9132266721462683075699d","bankName":"8ddf6076c1c51a7f01f5a03d","currency":"72aa1a5f0b61f49efd126492","customerToken":"81ca4853c6b6d3d0eb560925","customerTokenText":"9f5bff185a253dd013976563","description":"21332ea2ed88d951ef728908","metadata":"8a15a62f4357f1304666dc83","remittanceData":"02356d02a2c9c36ec1871032"}', NULL, '2026-11-20', '[]', 1795070152387, 2, NULL, 3, '01a1f284-c0c6-a3b2-ea6a-69003a67fb39', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03d001048b02b03935303730313436373535eb0301bb01079602ff0773383964776173616d686764676468343972796e3239ac0203f60d66323834623863386462636563356362653836373262313264656135c000055d016363616c6c222c1203058700283336d90008df0308210105570406f001034301055f000fbc0101014400f00b36616d6d7274337368366d6163666d35726d38303364306e73797f0505d8010ff302012f3138f4022903c1010fe60253f00e6679306a7368746a336777396a75623674796d6a396e7a73227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b336-31d8-6f3d-ebdf6d610c77', 'ach_577ty88ccb21wg0ff8caf16jaa', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89csnh368ppj79san4wy1', '{"accountName":"e52a68d54789b179f2f7073a","amountMinor":"0ff27c40c15f84036c5c4233","bankAccount":"d4f5bb92b3d125a2d9e66926","bankAccountType":"19f47a48b423ea0f4d673050","bankName":"a6f1aec1f87297c166e7f028","currency":"8882a9ffa4a3e929a3ffbe24","customerToken":"e28d9bbb9337efea88c1edb5","customerTokenText":"0c16f2b30cdf5090c8c1de5e","description":"9efd80dfc21638d50a5dc79c","metadata":"e0f5bf596d9636b3bdbe5838","remittanceData":"3da05b1b27ed993b5be17058"}', NULL, '2026-11-20', '[]', 1795070151533, 2, NULL, 3, '01a1f284-bd5e-09e7-12e0-f5b7ea0c9d8c', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03e001048b02b03935303730313435353035eb0301bb01079602ff0773383963736e6833363870706a373973616e34777931ac0203f60d66323834623365313866333663663333623437326162383032363339c000055d016363616c6c222c120304870038343532d90008df0308210105570406f001034301055f000fbc0101014400f00a35373774793838636362323177673066663863616631366a61320000130202d8010ff30201009d0003a5020ff4022003c10103410008e7000444020fe60238f00e746e636b327563776f73703935686d6971666f7772787275227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b39f-4b3a-ed49-9bf6c7f1cf9a', 'ach_7g8drq9thzswrtf3zpjtwaqys0', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89cwynf97304hvpmspvzs', '{"accountName":"6e69c2928fe08e16daae089f","amountMinor":"ff2dd99c2f896c7b332c2a73","bankAccount":"89cf914ea0f7ebc3eaf89397","bankAccountType":"e29ce574d5271fd9df4327ae","bankName":"ccbfcbb896e774b242e8bc4c","currency":"50fd0e4ac097ebfd37eb7662","customerToken":"03adb8bd1a057a218507fc98","customerTokenText":"936b144f2d41fbdadc72b25c","description":"609995081b23a6756eaecfbc","metadata":"fcc0659bffa8cf86e4c9d2b1","remittanceData":"ad4c9fc4d5853e7ae5354fd9"}', NULL, '2026-11-20', '[]', 1795070151581, 2, NULL, 3, '01a1f284-bd8d-ddc1-dc52-ddba3b82013c', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03d001048b02b03935303730313435353736eb0301bb01079602ff077338396377796e6639373330346876706d7370767a73ac0203f60d66323834623432386235636633383966656131323030646463396435c000055d016363616c6c222c1203058700283333d90008df0308210105570406f001034301055f000fbc0101014400f00b3767386472713974687a7377727466337a706a747761717973307f0505d8010ff302012f3432f4022903c1010fe60253f00e6c746f66376f347a7777746d7363673563636630306c7975227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b60d-1a76-b10b-a850c835a82c', 'ach_2yw4ewwyrx9g7kz17qbb42bqbv', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89dg21rz0xj54zccv7eb1', '{"accountName":"7271580d1c9f4bcd6f421117","amountMinor":"3bd1aca5e6f25d292a51252d","bankAccount":"31782fa9b9c02fd5f389243f","bankAccountType":"ca005b20ccfd4faf75961253","bankName":"f623ac45e400dadf2389c97f","currency":"61d4c974c065d8c03073c809","customerToken":"2675860d1b4fde3836a41fa6","customerTokenText":"b234739b653fc2451374c247","description":"963c510f542a6fb070d5cc49","metadata":"9c5153592a9a8f5027416da1","remittanceData":"9599bf91673f0d8e06de4972"}', NULL, '2026-11-20', '[]', 1795070151930, 2, NULL, 3, '01a1f284-beea-0815-c0c2-097f5a4df09e', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03d001048b02b03935303730313436343531eb0301bb01079602ff0773383964673231727a30786a35347a63637637656231ac0203f60d66323834623739333436653334346239393331343830643162386563c000055d016363616c6c222c1203058700283338d90008df0308210105570406f001034301055f000fbc0101014400f00b327977346577777972783967376b7a31377162623432627162767f0505d8010ff302012f3133f4022903c1010fe60253f00e32376179717077386e79636471796c717568326b78696372227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4c8-1608-2561-2fc3f34fd019', 'ach_5gmjsqww2r95dsb6jzjsb24qzq', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89d67refq1dpjd7ssav0q', '{"accountName":"9aaac7f5e37489b4a2ba995a","amountMinor":"3caf5ea551979d9e9a556fcd","bankAccount":"f21841fcab736ced68f0d4d3","bankAccountType":"96b26f3f5e40d377215d78f5","bankName":"11ed13924acf93c9de67c967","currency":"6ab232fdc0007f15bdc610b2","customerToken":"a0f828faa5e68d08d7aad72e","customerTokenText":"8121576c22f7b07e5baf561f","description":"a2d71f49612de8e33a886507","metadata":"64e0d9439ef6bf715e83725d","remittanceData":"7c29c558097a77fb607256b5"}', NULL, '2026-11-20', '[]', 1795070151693, 2, NULL, 3, '01a1f284-bdfd-5043-3686-7bfa6046a178', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03df01048b02b03935303730313435393230eb0301bb01079602ff07733839643637726566713164706a6437737361763071ac0203f60d66323834623538313061383634653161366637336465333933326335c000055d016363616c6c222c1203058700283030d90008df0308210105570406f001034301055f000fbc0101014400f00a35676d6a7371777732723935647362366a7a6a73623234717ad70000130202d8010ff3020100240103a5020ff4022003c10103410008e7000444020fe60238f00e71787962783161706366713537746830776d77686e6c706a227d7d5d7d');
INSERT INTO public.transfers VALUES ('01a1f284-adcd-a696-4c80-080f41671277', '01a1f284-b4f6-4c6a-eadb-113d93994ab7', 'ach_3ng13ygp3z1qzv7knz8rdhasq2', 'increase', NULL, 1, 'customer-1', 'Ada Example', 'ada@example.com', 'First Example Bank', 'Ada Example', 'checking', '6789', NULL, 'req_01m7s89d7mghr4z7v7c2aheh30', '{"accountName":"5fe38ec59cd67705093a2022","amountMinor":"9b16bd4fc50571a703b2a499","bankAccount":"8f87d1f35faee55b30d7814a","bankAccountType":"12c760d845b1b235424d795c","bankName":"b2760838cb8df945b993c0ca","currency":"74376a78458c7f744182aa46","customerToken":"ee2b24fe0ea2df77aab41d01","customerTokenText":"70d98f2f85b4685c9f0a6343","description":"4cf3388519d39c5274c32b74","metadata":"2c7c5b829c7a5713a1078180","remittanceData":"2c7af985710b9bc357ce258b"}', NULL, '2026-11-20', '[]', 1795070151868, 2, NULL, 3, '01a1f284-beac-f507-65b3-340ceae20b6f', '{"address":"http://127.0.0.1:39437/increase","id":"account_simulator","credential":"1d4e6f7f2abc153a"}', NULL, 'individual', NULL, NULL, NULL, 'ach', NULL, NULL, NULL, NULL, NULL, '\x01fd03cd01048b02b03935303730313436323434eb0301bb01079602ff0773383964376d676872347a3776376332616865683330ac0203f60d66323834623663343833626135643535613930376535666464356134c000055d016363616c6c222c1203058700283238c70408df0308210105570406f001034301055f000fbc0101014400f00b336e673133796770337a31717a76376b6e7a38726468617371327f0505d8010ff302012f3135f402290fe6025af00e6e7067397661616c7464306b7777327a6d63647776316b6b227d7d5d7d');
SELECT pg_catalog.setval('public.unsequenced_events_entry_seq', 26, true);
ALTER TABLE ONLY public.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (environment_id, hour, currency, method, provider, kind);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_balances
    ADD CONSTRAINT audit_balances_pkey PRIMARY KEY (environment_id, currency, account);
ALTER TABLE ONLY public.audit_checkpoint
    ADD CONSTRAINT audit_checkpoint_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.card_attempts
    ADD CONSTRAINT card_attempts_environment_id_payment_id_source_digest_key UNIQUE (environment_id, payment_id, source_digest);
ALTER TABLE ONLY public.card_attempts
    ADD CONSTRAINT card_attempts_pkey PRIMARY KEY (environment_id, payment_id, number);
ALTER TABLE ONLY public.card_payments
    ADD CONSTRAINT card_payments_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.card_postings
    ADD CONSTRAINT card_postings_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.config_proposals
    ADD CONSTRAINT config_proposals_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.config_versions
    ADD CONSTRAINT config_versions_environment_id_change_id_key UNIQUE (environment_id, change_id);
ALTER TABLE ONLY public.config_versions
    ADD CONSTRAINT config_versions_pkey PRIMARY KEY (environment_id, version);
ALTER TABLE ONLY public.credential_accounts
    ADD CONSTRAINT credential_accounts_pkey PRIMARY KEY (environment_id, credential);
ALTER TABLE ONLY public.customer_tokens
    ADD CONSTRAINT customer_tokens_pkey PRIMARY KEY (environment_id, key_digest);
ALTER TABLE ONLY public.directory
    ADD CONSTRAINT directory_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.disputes
    ADD CONSTRAINT disputes_pkey PRIMARY KEY (environment_id, payment_id, id);
ALTER TABLE ONLY public.ended_sessions
    ADD CONSTRAINT ended_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_application_id_name_key UNIQUE (application_id, name);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.erasure_wishes
    ADD CONSTRAINT erasure_wishes_pkey PRIMARY KEY (environment_id, method, reference);
ALTER TABLE ONLY public.event_deliveries
    ADD CONSTRAINT event_deliveries_pkey PRIMARY KEY (environment_id, endpoint_id, event_id);
ALTER TABLE ONLY public.event_endpoints
    ADD CONSTRAINT event_endpoints_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.event_sequence
    ADD CONSTRAINT event_sequence_pkey PRIMARY KEY (environment_id, sequence);
ALTER TABLE ONLY public.fund_requests
    ADD CONSTRAINT fund_requests_environment_id_currency_cause_reference_key UNIQUE (environment_id, currency, cause, reference);
ALTER TABLE ONLY public.fund_requests
    ADD CONSTRAINT fund_requests_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.hold_actions
    ADD CONSTRAINT hold_actions_environment_id_id_key UNIQUE (environment_id, id);
ALTER TABLE ONLY public.hold_actions
    ADD CONSTRAINT hold_actions_pkey PRIMARY KEY (environment_id, payment_id, id);
ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_pkey PRIMARY KEY (environment_id, currency, account);
ALTER TABLE ONLY public.ledger_entries
    ADD CONSTRAINT ledger_entries_pkey PRIMARY KEY (environment_id, currency, posting_id, account);
ALTER TABLE ONLY public.ledger_postings
    ADD CONSTRAINT ledger_postings_environment_id_currency_cause_reference_key UNIQUE (environment_id, currency, cause, reference);
ALTER TABLE ONLY public.ledger_postings
    ADD CONSTRAINT ledger_postings_pkey PRIMARY KEY (environment_id, currency, id);
ALTER TABLE ONLY public.limit_totals
    ADD CONSTRAINT limit_totals_pkey PRIMARY KEY (environment_id, subject);
ALTER TABLE ONLY public.limit_uses
    ADD CONSTRAINT limit_uses_pkey PRIMARY KEY (environment_id, subject, at, reference);
ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.out_events
    ADD CONSTRAINT out_events_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.pins
    ADD CONSTRAINT pins_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.provider_checks
    ADD CONSTRAINT provider_checks_pkey PRIMARY KEY (environment_id, provider);
ALTER TABLE ONLY public.provider_events
    ADD CONSTRAINT provider_events_pkey PRIMARY KEY (environment_id, provider, id);
ALTER TABLE ONLY public.provider_objects
    ADD CONSTRAINT provider_objects_pkey PRIMARY KEY (environment_id, provider, object);
ALTER TABLE ONLY public.quote_counts
    ADD CONSTRAINT quote_counts_pkey PRIMARY KEY (environment_id, hour, key_id);
ALTER TABLE ONLY public.reconciliation_exceptions
    ADD CONSTRAINT reconciliation_exceptions_environment_id_method_reference_k_key UNIQUE (environment_id, method, reference, kind, found_digest);
ALTER TABLE ONLY public.reconciliation_exceptions
    ADD CONSTRAINT reconciliation_exceptions_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_environment_id_id_key UNIQUE (environment_id, id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (environment_id, payment_id, id);
ALTER TABLE ONLY public.request_log
    ADD CONSTRAINT request_log_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.sealing_keys
    ADD CONSTRAINT sealing_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.search_terms
    ADD CONSTRAINT search_terms_pkey PRIMARY KEY (environment_id, term, place);
ALTER TABLE ONLY public.statement_position
    ADD CONSTRAINT statement_position_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.statement_sums
    ADD CONSTRAINT statement_sums_pkey PRIMARY KEY (environment_id, month, provider, currency, kind);
ALTER TABLE ONLY public.timeline
    ADD CONSTRAINT timeline_pkey PRIMARY KEY (environment_id, method, reference, id);
ALTER TABLE ONLY public.transactions
    ADD CONSTRAINT transactions_environment_id_method_reference_key UNIQUE (environment_id, method, reference);
ALTER TABLE ONLY public.transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (environment_id, id);
ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (environment_id, transaction_id);
ALTER TABLE ONLY public.undigested_events
    ADD CONSTRAINT undigested_events_pkey PRIMARY KEY (event_id, environment_id);
ALTER TABLE ONLY public.unposted_payments
    ADD CONSTRAINT unposted_payments_pkey PRIMARY KEY (environment_id, payment_id);
ALTER TABLE ONLY public.unsequenced_events
    ADD CONSTRAINT unsequenced_events_pkey PRIMARY KEY (environment_id, entry);
ALTER TABLE ONLY public.user_tokens
    ADD CONSTRAINT user_tokens_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.user_tokens
    ADD CONSTRAINT user_tokens_pkey PRIMARY KEY (user_id, id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX applications_by_organization ON public.applications USING btree (organization_id, id);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (action, sequence);
CREATE INDEX audit_log_by_environment ON public.audit_log USING btree (environment_id, sequence);
CREATE INDEX audit_log_by_place ON public.audit_log USING btree (environment_id, subject, sequence);
CREATE INDEX audit_log_by_subject ON public.audit_log USING btree (subject, sequence);
CREATE INDEX audit_log_by_user ON public.audit_log USING btree (user_id, sequence);
CREATE UNIQUE INDEX card_payments_by_key ON public.card_payments USING btree (environment_id, key_digest) WHERE ((key_digest IS NOT NULL) AND (preparation <> 'withdrawn'::text));
CREATE INDEX card_payments_by_preparation ON public.card_payments USING btree (environment_id, preparation, id) WHERE (preparation <> 'prepared'::text);
CREATE INDEX card_payments_due ON public.card_payments USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX card_payments_follow_ups ON public.card_payments USING btree (follow_up_at) WHERE (follow_up_at IS NOT NULL);
CREATE INDEX card_payments_waiting ON public.card_payments USING btree (environment_id, id) WHERE (waiting IS NOT NULL);
CREATE INDEX card_postings_by_payment ON public.card_postings USING btree (environment_id, payment_id);
CREATE INDEX card_postings_by_writer ON public.card_postings USING btree (written_by) WHERE (written_by IS NOT NULL);
CREATE INDEX config_proposals_open ON public.config_proposals USING btree (environment_id, id) WHERE (state = 'required'::text);
CREATE INDEX disputes_by_id ON public.disputes USING btree (environment_id, id);
CREATE INDEX disputes_open ON public.disputes USING btree (environment_id, respond_by) WHERE (closed_at IS NULL);
CREATE INDEX environments_by_application ON public.environments USING btree (application_id, id);
CREATE INDEX environments_by_directory_version ON public.environments USING btree (directory_version);
CREATE INDEX event_deliveries_by_state ON public.event_deliveries USING btree (environment_id, endpoint_id, state, event_id) WHERE (state <> 'delivered'::text);
CREATE INDEX event_deliveries_due ON public.event_deliveries USING btree (environment_id, endpoint_id, due_at, event_id) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX event_sequence_by_event ON public.event_sequence USING btree (environment_id, event_id);
CREATE INDEX event_sequence_by_kind ON public.event_sequence USING btree (environment_id, kind, sequence);
CREATE INDEX fund_requests_open ON public.fund_requests USING btree (environment_id, id) WHERE (state = 'required'::text);
CREATE INDEX ledger_postings_by_writer ON public.ledger_postings USING btree (written_by) WHERE (written_by IS NOT NULL);
CREATE INDEX limit_uses_by_reference ON public.limit_uses USING btree (environment_id, reference);
CREATE INDEX limit_uses_ended ON public.limit_uses USING btree (ends_at);
CREATE INDEX out_events_by_reference ON public.out_events USING btree (environment_id, method, reference, id);
CREATE INDEX provider_events_by_state ON public.provider_events USING btree (environment_id, state, received_at);
CREATE INDEX provider_events_due ON public.provider_events USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX provider_objects_by_payment ON public.provider_objects USING btree (environment_id, payment_id);
CREATE INDEX reconciliation_exceptions_open ON public.reconciliation_exceptions USING btree (environment_id, id) WHERE (resolved_at IS NULL);
CREATE INDEX refunds_approvals ON public.refunds USING btree (environment_id, approval_id) WHERE (approval_id IS NOT NULL);
CREATE INDEX refunds_to_approve ON public.refunds USING btree (environment_id, approval_id) WHERE (approval_state = 'required'::text);
CREATE INDEX request_log_by_code ON public.request_log USING btree (environment_id, code, id, endpoint) WHERE (code IS NOT NULL);
CREATE INDEX request_log_by_reference ON public.request_log USING btree (environment_id, reference, id) WHERE (reference IS NOT NULL);
CREATE INDEX request_log_failed ON public.request_log USING btree (environment_id, id) WHERE (code IS NOT NULL);
CREATE INDEX transactions_by_kind ON public.transactions USING btree (environment_id, method, status, id);
CREATE INDEX transactions_by_object ON public.transactions USING btree (environment_id, provider_reference COLLATE "C") WHERE ((method = 'ach'::text) AND (provider_reference IS NOT NULL));
CREATE INDEX transactions_by_provider ON public.transactions USING btree (environment_id, provider, method, status, id);
CREATE INDEX transfers_approvals ON public.transfers USING btree (environment_id, approval_id) WHERE (approval_id IS NOT NULL);
CREATE INDEX transfers_approved_accounts ON public.transfers USING btree (environment_id, approval_account) WHERE (approval_state = 'approved'::text);
CREATE INDEX transfers_due ON public.transfers USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX transfers_to_approve ON public.transfers USING btree (environment_id, approval_id) WHERE (approval_state = 'required'::text);
CREATE INDEX transfers_waiting ON public.transfers USING btree (environment_id, transaction_id) WHERE (waiting IS NOT NULL);
CREATE INDEX transfers_with_bank_details ON public.transfers USING btree (environment_id, transaction_id) WHERE (sealed_account IS NOT NULL);
CREATE INDEX users_by_directory_version ON public.users USING btree (directory_version);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (removed_at IS NULL);
CREATE INDEX users_of_address ON public.users USING btree (email);
CREATE INDEX users_of_subject ON public.users USING btree (subject) WHERE (subject IS NOT NULL);
CREATE TRIGGER audit_log_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.keep_audit_log();
CREATE TRIGGER out_events_are_sequenced AFTER INSERT ON public.out_events REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION public.queue_for_event_sequence();
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.applications
    ADD CONSTRAINT applications_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);
ALTER TABLE ONLY public.card_attempts
    ADD CONSTRAINT card_attempts_environment_id_payment_id_fkey FOREIGN KEY (environment_id, payment_id) REFERENCES public.card_payments(environment_id, id);
ALTER TABLE ONLY public.config_proposals
    ADD CONSTRAINT config_proposals_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.config_versions
    ADD CONSTRAINT config_versions_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.credential_accounts
    ADD CONSTRAINT credential_accounts_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.customer_tokens
    ADD CONSTRAINT customer_tokens_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.disputes
    ADD CONSTRAINT disputes_environment_id_payment_id_fkey FOREIGN KEY (environment_id, payment_id) REFERENCES public.card_payments(environment_id, id);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_application_id_fkey FOREIGN KEY (application_id) REFERENCES public.applications(id);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);
ALTER TABLE ONLY public.erasure_wishes
    ADD CONSTRAINT erasure_wishes_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.event_endpoints
    ADD CONSTRAINT event_endpoints_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.fund_requests
    ADD CONSTRAINT fund_requests_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.hold_actions
    ADD CONSTRAINT hold_actions_environment_id_payment_id_fkey FOREIGN KEY (environment_id, payment_id) REFERENCES public.card_payments(environment_id, id);
ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.provider_checks
    ADD CONSTRAINT provider_checks_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environments(id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_environment_id_payment_id_fkey FOREIGN KEY (environment_id, payment_id) REFERENCES public.card_payments(environment_id, id);
ALTER TABLE ONLY public.user_tokens
    ADD CONSTRAINT user_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
UPDATE public.ledger_postings SET written_by = NULL;
UPDATE public.card_postings SET written_by = NULL;
DELETE FROM public.audit_checkpoint;
DELETE FROM public.audit_balances;
DELETE FROM public.statement_position;
DELETE FROM public.statement_sums;
