-- What somebody says to hold beside others of its kind, also where one has only one at a time.

ALTER TABLE edge_tellings ADD COLUMN beside #int NOT NULL DEFAULT 0;
