-- No samples of it.

ALTER TABLE extractions ALTER heard SET STATISTICS 0;
