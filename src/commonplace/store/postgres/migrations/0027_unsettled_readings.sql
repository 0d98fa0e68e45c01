-- Requests are words of the user: ANALYZE keeps no sample of them.

ALTER TABLE model_readings ALTER requests SET STATISTICS 0;
