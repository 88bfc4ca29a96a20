-- How a shipped order can be followed, as staff gave it; NULL when nothing was given.
ALTER TABLE orders ADD COLUMN tracking json;
