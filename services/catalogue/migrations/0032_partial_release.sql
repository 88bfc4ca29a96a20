-- Units of a line can be released while its reservation goes on. `remaining` are the units that the line has after that; it is NULL
-- for every other movement.
ALTER TABLE stock_ledger
  ADD COLUMN remaining integer,
  ADD CONSTRAINT partial_release CHECK (remaining IS NULL OR (kind = 'released' AND remaining >= 0)) NOT VALID;

-- The guards of "exactly once": a reservation moves a product's stock as a whole once in each way, and a part of a line is released
-- once for each number of remaining units.
CREATE UNIQUE INDEX stock_ledger_whole_once ON stock_ledger (reservation_id, product_id, kind)
  WHERE reservation_id IS NOT NULL AND remaining IS NULL;
CREATE UNIQUE INDEX stock_ledger_whole_end ON stock_ledger (reservation_id, product_id)
  WHERE kind IN ('released', 'shipped') AND remaining IS NULL;
CREATE UNIQUE INDEX stock_ledger_part_once ON stock_ledger (reservation_id, product_id, remaining) WHERE remaining IS NOT NULL;
DROP INDEX stock_ledger_once;
DROP INDEX stock_ledger_one_end;
