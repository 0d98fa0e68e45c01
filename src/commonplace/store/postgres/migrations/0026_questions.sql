-- Questions are words of the user, as names of jobs and kinds of sources may be: ANALYZE keeps no
-- sample of them.

ALTER TABLE memories
  ALTER questions SET STATISTICS 0, ALTER job_id SET STATISTICS 0,
  ALTER source_type SET STATISTICS 0;
