-- What the provider has taken for a dispute and not given back. None in records from before: their status tells.
ALTER TABLE disputes ADD COLUMN withdrawn_minor INTEGER CHECK (withdrawn_minor >= 0);
