-- How many orders were delivered and cancelled. Each one adds a row, and the rows are added up in the background: one
-- row for each state would make all transactions that finish an order wait for each other. A count of `orders` would
-- read more from year to year.
CREATE TABLE finished_orders (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('delivered', 'cancelled')),
  orders bigint NOT NULL CHECK (orders > 0)
);

-- A trigger, so that orders which a process of the version before finishes are also counted. It does not concern orders
-- that are placed.
CREATE FUNCTION count_finished_order() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO finished_orders (status, orders) VALUES (NEW.status, 1);
  RETURN NULL;
END
$$;

CREATE TRIGGER orders_finished AFTER UPDATE OF status ON orders FOR EACH ROW
WHEN (NEW.status IN ('delivered', 'cancelled') AND NEW.status <> OLD.status)
EXECUTE FUNCTION count_finished_order();

-- No transaction finishes an order between this count and COMMIT, because the trigger has locked the table against
-- changes.
INSERT INTO finished_orders (status, orders)
SELECT status, count(*) FROM orders WHERE status IN ('delivered', 'cancelled') GROUP BY status;
