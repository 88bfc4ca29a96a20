-- A column with a constant default.
ALTER TABLE notifications ADD COLUMN priority smallint NOT NULL DEFAULT 0;
