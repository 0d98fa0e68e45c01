-- What was asked in which turn of a conversation, and what was returned and why. Only on request.
-- A hit names a memory, or a passage by its source and number; it holds no text of either.

CREATE TABLE recall_log (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  at              #int    NOT NULL,
  thread          TEXT    NOT NULL,
  turn            #int    NOT NULL,
  place           #int    NOT NULL,
  agent           TEXT,
  verb            TEXT    NOT NULL,
  asked           TEXT    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE INDEX recall_log_by_turn ON recall_log (scope, thread, turn);
CREATE INDEX recall_log_by_age ON recall_log (scope, at);

CREATE TABLE recall_hits (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  place           #int    NOT NULL,
  item            #id     NOT NULL,
  number          #int,
  score           #real   NOT NULL,
  why             TEXT    NOT NULL,
  parts           TEXT    NOT NULL,
  PRIMARY KEY (scope, id, place)
) #clustered_by_owner;
CREATE INDEX recall_hits_by_item ON recall_hits (scope, item);
