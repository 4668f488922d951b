-- What the provider says of the card that a payment was tried with, as JSON.
ALTER TABLE transactions ADD COLUMN card TEXT;
