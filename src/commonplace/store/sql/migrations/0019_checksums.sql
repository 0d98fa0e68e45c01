-- Checksums, so that a check sees damage that still decodes; NULL where none was made yet. And in
-- which tables an erased text was still found when its receipt was written.

ALTER TABLE vectors ADD COLUMN checksum #int;
ALTER TABLE graph_vectors ADD COLUMN checksum #int;
ALTER TABLE versions ADD COLUMN checksum #int;
ALTER TABLE receipts ADD COLUMN found_in TEXT NOT NULL DEFAULT '[]';
