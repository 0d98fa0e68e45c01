-- Service keys belong to the owner store:admin, as an admin's keys do, and act for the user whom each
-- request names: one of `users`, a JSON list, or anybody if it is empty.

ALTER TABLE keys ADD COLUMN service #int NOT NULL DEFAULT 0;
ALTER TABLE keys ADD COLUMN users TEXT NOT NULL DEFAULT '[]';
