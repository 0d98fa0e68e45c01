-- Keys: what the holder of a token may do. Of the token only a digest is kept; it was shown once.
-- An admin's keys belong to the owner store:admin, of whom nothing else is kept.

CREATE TABLE keys (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  digest          #bytes  NOT NULL,
  label           TEXT    NOT NULL,
  agent           TEXT,
  read_only       #int    NOT NULL,
  cleared         #int    NOT NULL,
  may_resolve     #int    NOT NULL,
  team            TEXT,
  created_at      #int    NOT NULL,
  expires_at      #int,
  revoked_at      #int,
  last_used_at    #int,
  PRIMARY KEY (scope, id)
) #heap;
