-- Splits the tables of orders into 16 hash partitions by account. Run once, as the role orders, with the service
-- stopped:
--   psql --single-transaction --file partition-orders.sql
-- Afterwards every statement that names its account reads and writes one partition of each table. Partitions can have
-- tablespaces of their own and are vacuumed separately. They cannot be foreign tables on other servers, because
-- PostgreSQL does not permit these under a table with a primary key.
DO $$
DECLARE
  parts CONSTANT integer := 16;
  names CONSTANT text[] := ARRAY['orders', 'order_lines', 'order_history', 'reservations', 'order_payments', 'payment_ledger', 'returns',
    'invoices'];
  name text;
  every_order CONSTANT text := pg_get_viewdef('all_orders'::regclass);
BEGIN
  DROP VIEW all_orders;
  FOREACH name IN ARRAY names LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name, name || '_whole');
  END LOOP;
  FOREACH name IN ARRAY names LOOP
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) PARTITION BY HASH (account_id)', name, name || '_whole');
    FOR part IN 0 .. parts - 1 LOOP
      EXECUTE format(
        'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s) %s',
        name || '_' || part, name, parts, part,
        CASE name WHEN 'orders' THEN 'WITH (fillfactor = 85)' ELSE '' END);
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', name, name || '_whole');
  END LOOP;
  FOREACH name IN ARRAY ARRAY['order_lines', 'order_history', 'order_payments', 'payment_ledger', 'returns',
    'invoices'] LOOP
    EXECUTE format('ALTER TABLE %I ADD FOREIGN KEY (order_id, account_id) REFERENCES orders (id, account_id)', name);
    EXECUTE format('DROP TABLE %I', name || '_whole');
  END LOOP;
  CREATE TRIGGER orders_finished AFTER UPDATE OF status ON orders FOR EACH ROW
  WHEN (NEW.status IN ('delivered', 'cancelled') AND NEW.status <> OLD.status)
  EXECUTE FUNCTION count_finished_order();
  DROP TABLE orders_whole;
  DROP TABLE reservations_whole;
  EXECUTE 'CREATE VIEW all_orders AS ' || every_order;
END
$$;
