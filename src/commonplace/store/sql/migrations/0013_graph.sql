-- The personal graph. What was told is kept; nodes and edges are folded from it (model/graph).
-- cited_… is the source of a telling, a note or an artifact: it may be owned elsewhere. `text` is what a node or an
-- edge is found by, so that another embedder can make its vector anew.

CREATE TABLE nodes (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  type            TEXT    NOT NULL CHECK (type IN ('Person', 'Concept', 'Entity')),
  subtype         TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  key             #id     NOT NULL,
  aliases         TEXT    NOT NULL,
  addresses       TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  is_owner        #int    NOT NULL,
  confidence      #real   NOT NULL,
  sensitivity     TEXT    NOT NULL,
  ttl_policy      TEXT    NOT NULL,
  source_count    #int    NOT NULL,
  promotion_score #real   NOT NULL,
  first_at        #int,
  last_at         #int,
  days            TEXT    NOT NULL,
  is_dirty        #int    NOT NULL,
  has_meso        #int    NOT NULL,
  has_macro       #int    NOT NULL,
  merged_into     #id,
  stands          #int    NOT NULL,
  created_by      TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  text            TEXT    NOT NULL,
  purge_at        #int,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE UNIQUE INDEX nodes_by_key ON nodes (scope, type, subtype, key)
  WHERE stands = 1 AND merged_into IS NULL AND purge_at IS NULL;
CREATE UNIQUE INDEX nodes_by_ownership ON nodes (scope) WHERE is_owner = 1;
CREATE INDEX nodes_by_seq ON nodes (scope, seq);
CREATE INDEX nodes_by_speaker ON nodes (scope, merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE node_tellings (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  node            #id     NOT NULL,
  cited_scope     #id,
  cited_id        #id,
  cited_type      TEXT,
  cited_at        #int,
  cited_sensitivity TEXT,
  cited_passage   #int,
  teller          TEXT    NOT NULL,
  recorded_at     #int    NOT NULL,
  type            TEXT    NOT NULL,
  subtype         TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  key             TEXT    NOT NULL,
  aliases         TEXT    NOT NULL,
  addresses       TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  confidence      #real   NOT NULL,
  sensitivity     TEXT    NOT NULL,
  stands          #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE INDEX node_tellings_by_node ON node_tellings (scope, node);
CREATE INDEX node_tellings_by_source ON node_tellings (scope, cited_id) WHERE cited_id IS NOT NULL;

CREATE TABLE edges (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  version         #int    NOT NULL,
  a               #id     NOT NULL,
  b               #id     NOT NULL,
  kind            TEXT    NOT NULL,
  type            TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  attitude        #int    NOT NULL CHECK (attitude BETWEEN 1 AND 5),
  proximity       #int    NOT NULL CHECK (proximity BETWEEN 1 AND 5),
  confidence      #real   NOT NULL,
  sensitivity     TEXT    NOT NULL,
  valid_from      #int    NOT NULL,
  valid_to        #int,
  recorded_at     #int    NOT NULL,
  invalidated_at  #int,
  recorded_by     TEXT    NOT NULL,
  is_dirty        #int    NOT NULL,
  stands          #int    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  text            TEXT    NOT NULL,
  purge_at        #int,
  PRIMARY KEY (scope, id),
  FOREIGN KEY (scope, a) REFERENCES nodes (scope, id),
  FOREIGN KEY (scope, b) REFERENCES nodes (scope, id)
) #heap_by_owner;
CREATE INDEX edges_by_a ON edges (scope, a);
CREATE INDEX edges_by_b ON edges (scope, b);
CREATE INDEX edges_by_seq ON edges (scope, seq);

CREATE TABLE edge_tellings (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  edge            #id     NOT NULL,
  a               #id     NOT NULL,
  b               #id     NOT NULL,
  type            TEXT    NOT NULL,
  cited_scope     #id,
  cited_id        #id,
  cited_type      TEXT,
  cited_at        #int,
  cited_sensitivity TEXT,
  cited_passage   #int,
  teller          TEXT    NOT NULL,
  recorded_at     #int    NOT NULL,
  valid_from      #int    NOT NULL,
  valid_to        #int,
  ends            #int    NOT NULL,
  attitude        #int,
  proximity       #int,
  description     TEXT    NOT NULL,
  confidence      #real   NOT NULL,
  sensitivity     TEXT    NOT NULL,
  stands          #int    NOT NULL,
  PRIMARY KEY (scope, id)
) #heap_by_owner;
CREATE INDEX edge_tellings_by_edge ON edge_tellings (scope, edge);
CREATE INDEX edge_tellings_by_a ON edge_tellings (scope, a);
CREATE INDEX edge_tellings_by_b ON edge_tellings (scope, b);
CREATE INDEX edge_tellings_by_source ON edge_tellings (scope, cited_id) WHERE cited_id IS NOT NULL;

CREATE TABLE graph_notes (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  about           #id     NOT NULL,
  content         TEXT    NOT NULL,
  added_by        TEXT    NOT NULL,
  date_added      #int    NOT NULL,
  expires_at      #int,
  cited_scope     #id,
  cited_id        #id,
  cited_type      TEXT,
  cited_at        #int,
  cited_sensitivity TEXT,
  cited_passage   #int,
  sensitivity     TEXT    NOT NULL,
  stands          #int    NOT NULL,
  purge_at        #int,
  PRIMARY KEY (scope, id)
) #heap;
CREATE INDEX graph_notes_by_subject ON graph_notes (scope, about);
CREATE INDEX graph_notes_by_seq ON graph_notes (scope, seq);
CREATE INDEX graph_notes_by_source ON graph_notes (scope, cited_id) WHERE cited_id IS NOT NULL;
CREATE INDEX graph_notes_by_end ON graph_notes (scope, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE artifacts (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  seq             #int    NOT NULL,
  name            TEXT    NOT NULL,
  content_type    TEXT    NOT NULL,
  output          TEXT    NOT NULL,
  description     TEXT    NOT NULL,
  cited_scope     #id,
  cited_id        #id,
  cited_type      TEXT,
  cited_at        #int,
  cited_sensitivity TEXT,
  cited_passage   #int,
  sensitivity     TEXT    NOT NULL,
  ttl_policy      TEXT    NOT NULL,
  created_by      TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  updated_at      #int    NOT NULL,
  purge_at        #int,
  PRIMARY KEY (scope, id)
) #heap;
CREATE INDEX artifacts_by_seq ON artifacts (scope, seq);

-- How far an owner has read a source, their own or a team's.
CREATE TABLE extractions (
  scope           #id     NOT NULL,
  source_scope    #id     NOT NULL,
  source          #id     NOT NULL,
  started_at      #int    NOT NULL,
  completed_at    #int    NOT NULL,
  passages        #int    NOT NULL,
  digest          TEXT    NOT NULL,
  stands          #int    NOT NULL,
  PRIMARY KEY (scope, source, source_scope)
) #heap;

-- What readings have left on nodes, edges and sources. Written beside the memory, as read marks are.
CREATE TABLE marks (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  salience        #real   NOT NULL,
  touched_at      #int,
  access_count    #int    NOT NULL,
  recall_frequency #int   NOT NULL,
  last_recall_interval #real,
  decay_gradient  #real   NOT NULL,
  PRIMARY KEY (scope, id)
) #clustered;

-- Ids come in no order: kept in that of their key, vectors would be read and written all over the table.
CREATE TABLE graph_vectors (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  generation      #int    NOT NULL,
  vector          #bytes  NOT NULL,
  PRIMARY KEY (scope, id, generation)
) #heap_by_owner;

-- `graph` counts changes of the graph; `graph_epoch` moves when something of it is gone that the rest of the memory
-- need not hear of.
ALTER TABLE scopes ADD COLUMN graph #int NOT NULL DEFAULT 0;
ALTER TABLE scopes ADD COLUMN graph_epoch #int NOT NULL DEFAULT 0;
