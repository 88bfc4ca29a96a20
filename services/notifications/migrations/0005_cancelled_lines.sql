-- Units of an order's lines can be cancelled several times, so the kind of this e-mail has the version of the order after the change.
-- The kinds of e-mails that are not about orders are those of the code.
ALTER TABLE notifications
  DROP CONSTRAINT notifications_kind_check,
  ADD CONSTRAINT notifications_kind_check CHECK (
    order_id IS NOT NULL AND kind ~ '^order-(received|shipped|cancelled|lines-cancelled [0-9]+)$'
    OR order_id IS NULL AND kind !~ '^order-') NOT VALID;
