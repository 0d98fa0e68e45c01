-- The owner of the table is bound by its policies, which show it no rows: lifted for the update.

ALTER TABLE shares NO FORCE ROW LEVEL SECURITY;
UPDATE shares SET standing = 'blocked' WHERE declined = 1;
ALTER TABLE shares FORCE ROW LEVEL SECURITY;
ALTER TABLE shares DROP COLUMN declined;
