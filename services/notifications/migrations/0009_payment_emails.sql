-- E-mails about payments and refunds. The kinds are those of the code; a kind of which an order can have several ends with the version of
-- the order.
ALTER TABLE notifications
  DROP CONSTRAINT notifications_kind_check,
  ADD CONSTRAINT notifications_kind_check CHECK ((order_id IS NOT NULL) = starts_with(kind, 'order-')) NOT VALID;
