UPDATE shares SET standing = 'blocked' WHERE declined = 1;
ALTER TABLE shares DROP COLUMN declined;
