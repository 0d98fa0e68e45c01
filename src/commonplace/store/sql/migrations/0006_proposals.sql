-- What others would have the profile say, until it is decided or its days are over.

CREATE TABLE proposals (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  name            TEXT    NOT NULL,
  value           TEXT    NOT NULL,
  signals         TEXT    NOT NULL,
  reason          TEXT    NOT NULL,
  proposed_at     #int    NOT NULL,
  ends_at         #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
