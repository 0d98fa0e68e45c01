-- SQLite cannot change a key, so the table is made anew.

CREATE TABLE vectors_of_generations (
  scope           TEXT    NOT NULL,
  unit            INTEGER NOT NULL,
  generation      INTEGER NOT NULL,
  vector          BLOB    NOT NULL,
  PRIMARY KEY (scope, unit, generation)
) STRICT, WITHOUT ROWID;
INSERT INTO vectors_of_generations (scope, unit, generation, vector)
SELECT scope, unit, 1, vector FROM vectors;
DROP TABLE vectors;
ALTER TABLE vectors_of_generations RENAME TO vectors;

INSERT INTO generations (number, embedder, dimension, state)
SELECT 1, substr(value, instr(value, ' ') + 1), CAST(substr(value, 1, instr(value, ' ')) AS INTEGER), 'current'
  FROM store_facts WHERE name = 'embedder';
DELETE FROM store_facts WHERE name = 'embedder';
