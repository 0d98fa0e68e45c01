-- A share is an invitation until its guest accepts it. Shares of before are accepted; who had declined
-- one gets nothing of that owner any more, as before.

ALTER TABLE shares ADD COLUMN standing TEXT NOT NULL DEFAULT 'accepted'
  CHECK (standing IN ('invited', 'accepted', 'declined', 'blocked'));
