-- A payment is found by the provider's name for its dispute.
CREATE INDEX disputes_by_id ON disputes (environment_id, id);
