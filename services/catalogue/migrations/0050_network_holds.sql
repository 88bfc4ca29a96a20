-- The units that accounts without a verified e-mail address hold, for each client network. The network is a digest with a secret key and no
-- address. The statement that reserves stock raises the figure only up to the limit, so the row of a network decides between its
-- concurrent orders.
CREATE TABLE network_holds (
  network text COLLATE "C" PRIMARY KEY,
  units   bigint NOT NULL CHECK (units >= 0)
)
WITH (fillfactor = 85);

-- The network with which `counted_units` of the reservation are counted, too. NULL: with none, or no longer.
ALTER TABLE reservations ADD COLUMN network text COLLATE "C";

-- A trigger, so that it also applies to reservations that a process of the version before ends. It runs after `reservations_hold`, because
-- triggers run in the order of their names, and so it locks the network after the account.
CREATE FUNCTION lower_network_hold() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE network_holds SET units = units - (OLD.counted_units - NEW.counted_units) WHERE network = OLD.network;
  DELETE FROM network_holds WHERE network = OLD.network AND units = 0;
  IF NEW.counted_units = 0 THEN
    NEW.network := NULL;
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER reservations_hold_network BEFORE UPDATE ON reservations FOR EACH ROW
WHEN (OLD.network IS NOT NULL AND NEW.counted_units <> OLD.counted_units)
EXECUTE FUNCTION lower_network_hold();
