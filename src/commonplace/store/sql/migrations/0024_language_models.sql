-- What language models answered, what was used of them, and how far they have read each source.

-- Answers, so that nothing is asked twice. A digest is one of the prompt's version, the model and
-- the messages; source: what the answer is about, or NULL where it is about memories.
CREATE TABLE model_answers (
  scope           #id     NOT NULL,
  digest          #id     NOT NULL,
  source          #id,
  prompt          TEXT    NOT NULL,
  model           TEXT    NOT NULL,
  answer          TEXT    NOT NULL,
  read            #int    NOT NULL,
  written         #int    NOT NULL,
  at              #int    NOT NULL,
  PRIMARY KEY (scope, digest)
) #heap;
CREATE INDEX model_answers_by_source ON model_answers (scope, source);
CREATE INDEX model_answers_by_age ON model_answers (scope, at);

-- Numbers by day (UTC), prompt and model. No text.
CREATE TABLE model_usage (
  scope           #id     NOT NULL,
  day             #id     NOT NULL,
  prompt          #id     NOT NULL,
  model           #id     NOT NULL,
  calls           #int    NOT NULL,
  cached          #int    NOT NULL,
  failed          #int    NOT NULL,
  read            #int    NOT NULL,
  written         #int    NOT NULL,
  kept            #int    NOT NULL,
  dropped         #int    NOT NULL,
  PRIMARY KEY (scope, day, prompt, model)
) #heap;

-- How far a model has read a source for a user; the source may be a team's. heard: digests of its
-- sentences and of what was found, as a JSON list.
CREATE TABLE model_readings (
  scope           #id     NOT NULL,
  source_scope    #id     NOT NULL,
  source          #id     NOT NULL,
  passages        #int    NOT NULL,
  digest          TEXT    NOT NULL,
  prompt          TEXT    NOT NULL,
  at              #int    NOT NULL,
  heard           TEXT    NOT NULL,
  PRIMARY KEY (scope, source, source_scope)
) #heap;

-- Counts changes that took away what an answer may contain: an answer that comes after one of them
-- is not kept.
ALTER TABLE scopes ADD COLUMN erasures #int NOT NULL DEFAULT 0;
