-- Units on hand that are assigned to orders about to ship. No other order can ship them.
ALTER TABLE products ADD COLUMN allocated integer NOT NULL DEFAULT 0
  CONSTRAINT allocated_on_hand CHECK (allocated BETWEEN 0 AND stock);

-- When units on hand were assigned to the reservation. Units of a reservation that ends without it may not be on hand.
ALTER TABLE reservations ADD COLUMN allocated_at timestamptz(3);

-- Who made a movement, and why. `actor_id` is an account. The request id leads to the history of the order. Movements from before
-- this migration have none of them.
ALTER TABLE stock_ledger
  ADD COLUMN actor text CHECK (actor IN ('customer', 'staff', 'operator', 'system')),
  ADD COLUMN actor_id uuid,
  ADD COLUMN request_id text,
  ADD COLUMN reason text CHECK (char_length(reason) BETWEEN 1 AND 200),
  -- Of a change to an absolute figure: that figure, and the figure on hand from which the writer started. Without the latter the
  -- change may hide a movement.
  ADD COLUMN counted integer,
  ADD COLUMN expected integer;

-- A count that finds the expected figure moves nothing, and is entered: it corrects whatever an earlier change may have hidden.
ALTER TABLE stock_ledger
  DROP CONSTRAINT stock_ledger_quantity_check,
  ADD CONSTRAINT movement_moves_or_counts CHECK (quantity <> 0 OR counted IS NOT NULL) NOT VALID;
