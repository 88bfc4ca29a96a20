-- What each account holds in reservations of orders that nobody has begun to process. The statement that reserves stock raises the
-- figures only up to the limits of the account, so the row of an account decides between its concurrent orders.
CREATE TABLE account_holds (
  account_id uuid PRIMARY KEY,
  orders     integer NOT NULL CHECK (orders >= 0),
  units      bigint NOT NULL CHECK (units >= 0)
)
WITH (fillfactor = 85);

-- The units with which a reservation counts in `account_holds`. 0: the reservation was made without limits or before this migration, has
-- ended, or its order is being processed.
ALTER TABLE reservations
  ADD COLUMN counted_units integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT counted_while_reserved CHECK (counted_units = 0 OR (counted_units > 0 AND state IN ('held', 'confirmed'))) NOT VALID;

-- A trigger, so that reservations which a process of the version before ends are also counted no longer. It locks the row of the account
-- after the reservation; products are locked after it.
CREATE FUNCTION lower_account_hold() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.state IN ('released', 'shipped') THEN
    NEW.counted_units := 0;
  END IF;
  UPDATE account_holds SET
    orders = orders - CASE NEW.counted_units WHEN 0 THEN 1 ELSE 0 END,
    units = units - (OLD.counted_units - NEW.counted_units)
  WHERE account_id = OLD.account_id;
  RETURN NEW;
END
$$;

CREATE TRIGGER reservations_hold BEFORE UPDATE ON reservations FOR EACH ROW
WHEN (OLD.counted_units > 0 AND (NEW.counted_units <> OLD.counted_units OR NEW.state IN ('released', 'shipped')))
EXECUTE FUNCTION lower_account_hold();
