-- A payment whose link is gone at its provider is looked for by the payment's other names there.

CREATE INDEX provider_objects_by_payment ON provider_objects (environment_id, payment_id);
