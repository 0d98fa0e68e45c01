-- How many memories were made of conversations on a day (counted from 1970, UTC). The counters' row
-- is locked by every writer, so that two of them at once cannot both be the last of the day.

ALTER TABLE scopes ADD COLUMN observed_day #int NOT NULL DEFAULT 0;
ALTER TABLE scopes ADD COLUMN observed #int NOT NULL DEFAULT 0;
