-- What a key is called and limited to, and when it was last used. NULL limits it to nothing; lists are separated by commas.
ALTER TABLE api_keys ADD COLUMN name TEXT;
ALTER TABLE api_keys ADD COLUMN endpoints TEXT;
ALTER TABLE api_keys ADD COLUMN addresses TEXT;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
