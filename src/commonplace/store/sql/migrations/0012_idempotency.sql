-- Answers to requests that came with a key of their caller's (Idempotency-Key), for a day: the same
-- request again gets the same answer. A name is a digest of caller and key, a request one of what
-- was asked. state: see model/kept_answer.py. Until it is done, answer names who is at it.

CREATE TABLE kept_answers (
  scope           #id     NOT NULL,
  name            #id     NOT NULL,
  request         TEXT    NOT NULL,
  at              #int    NOT NULL,
  state           TEXT    NOT NULL,
  answer          TEXT,
  PRIMARY KEY (scope, name)
) #heap;
CREATE INDEX kept_answers_by_age ON kept_answers (scope, at);
