-- The account at the provider that something was sent to, as JSON; none where nothing was sent yet, or where it was sent
-- before accounts were recorded. What is in doubt is never sent to another one.

ALTER TABLE card_payments ADD COLUMN account TEXT;
ALTER TABLE card_attempts ADD COLUMN account TEXT;
ALTER TABLE transfers ADD COLUMN account TEXT;
