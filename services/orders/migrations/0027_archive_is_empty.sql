-- Refuses the update while orders are archived. The table, the view and the functions of migration 0017 stay, because
-- processes of 1.1.0 read them.
DO $$
DECLARE
  orders bigint;
BEGIN
  SELECT count(*) INTO orders FROM archived_orders;
  IF orders > 0 THEN
    RAISE EXCEPTION USING MESSAGE = format('Orders in the archive, which this version does not have: %s. Restore them with '
      'the command line of 1.1.0 (npm run shop -- orders restore --all, or docker compose run --rm operator orders restore '
      '--all), and repeat the update. docs/deploying/upgrades.md explains it.', orders);
  END IF;
END
$$;
