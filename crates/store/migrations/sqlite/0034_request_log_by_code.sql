-- The newest call with an error at an endpoint is found in the index alone.
DROP INDEX request_log_by_code;
CREATE INDEX request_log_by_code ON request_log (environment_id, code, id, endpoint) WHERE code IS NOT NULL;
