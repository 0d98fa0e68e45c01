-- Vectors of several embedders side by side, so that one can be exchanged for another while the store is in use.
-- A generation is all vectors that one embedder made. One is current and the only one that is read; one may be
-- building; what was current once is retired until its vectors are removed. A number is never used again.

CREATE TABLE generations (
  number          #int    PRIMARY KEY,
  embedder        TEXT    NOT NULL,
  dimension       #int    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('building', 'current', 'retired', 'removed'))
) #heap;

-- How far the building generation has come with each owner: complete up to a sequence number.
ALTER TABLE scopes ADD COLUMN building #int NOT NULL DEFAULT 0;
ALTER TABLE scopes ADD COLUMN built_seq #int NOT NULL DEFAULT 0;
