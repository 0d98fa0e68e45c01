-- Teams, who belongs to them, and guests. A membership and a share are two rows each, one under
-- either owner: `other` is whom it is with. A share is given in the row of the source's owner.

CREATE TABLE teams (
  scope           #id     NOT NULL,
  id              #id     NOT NULL,
  name            TEXT    NOT NULL,
  created_by      TEXT    NOT NULL,
  created_at      #int    NOT NULL,
  retention_days  #int,
  PRIMARY KEY (scope)
) #heap;

CREATE TABLE memberships (
  scope           #id     NOT NULL,
  other           #id     NOT NULL,
  role            TEXT    NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  standing        TEXT    NOT NULL CHECK (standing IN ('invited', 'member', 'left')),
  invited_by      TEXT    NOT NULL,
  since           #int    NOT NULL,
  is_primary      #int    NOT NULL,
  is_active       #int    NOT NULL,
  PRIMARY KEY (scope, other)
) #heap;

CREATE TABLE shares (
  scope           #id     NOT NULL,
  other           #id     NOT NULL,
  source_id       #id     NOT NULL,
  granted_by      TEXT    NOT NULL,
  granted_at      #int    NOT NULL,
  declined        #int    NOT NULL,
  is_given        #int    NOT NULL,
  PRIMARY KEY (scope, source_id, other)
) #heap;
