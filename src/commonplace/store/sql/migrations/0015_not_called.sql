-- What somebody says that a node is not called, whatever sources say.

ALTER TABLE node_tellings ADD COLUMN not_called TEXT NOT NULL DEFAULT '[]';
