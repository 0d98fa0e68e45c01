-- Storylines and macros: what many sources say about one node, over weeks and over months. `sources` is a list of
-- [said_at, id, scope, weight, is_sensitive], oldest first; `storylines` a list of ids.

CREATE TABLE storylines (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  anchor          #id     NOT NULL,
  name            TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  written_by      TEXT    NOT NULL,
  is_dirty        #int    NOT NULL,
  sources         TEXT    NOT NULL,
  closed_at       #int,
  sensitivity     TEXT    NOT NULL,
  team_id         #id,
  ttl_policy      TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
CREATE UNIQUE INDEX storylines_open ON storylines (scope, anchor) WHERE closed_at IS NULL;
CREATE INDEX storylines_by_anchor ON storylines (scope, anchor);
CREATE INDEX storylines_by_seq ON storylines (scope, seq);

CREATE TABLE macros (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  anchor          #id     NOT NULL,
  name            TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  written_by      TEXT    NOT NULL,
  is_dirty        #int    NOT NULL,
  storylines      TEXT    NOT NULL,
  total_source_count #int NOT NULL,
  started_at      #int    NOT NULL,
  last_event_at   #int    NOT NULL,
  sensitivity     TEXT    NOT NULL,
  team_id         #id,
  ttl_policy      TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap;
CREATE UNIQUE INDEX macros_by_anchor ON macros (scope, anchor);
CREATE INDEX macros_by_seq ON macros (scope, seq);

-- When maintenance archived a source for this reader.
ALTER TABLE marks ADD COLUMN archived_at #int;
CREATE INDEX marks_archived ON marks (scope, id) WHERE archived_at IS NOT NULL;
