-- ANALYZE keeps no sample of names.

ALTER TABLE keys ALTER users SET STATISTICS 0;
