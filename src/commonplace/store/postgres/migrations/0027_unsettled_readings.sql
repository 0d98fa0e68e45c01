-- Requests are words of the user: ANALYZE keeps no sample of them.

ALTER TABLE model_readings
  ALTER requests SET STATISTICS 0, ALTER skipped SET STATISTICS 0,
  ALTER heard SET STATISTICS 0;
