-- E-mails with tokens: the verification of an address, the undoing of its change, and the reset of a password.

-- NOT VALID: the present rows satisfy the narrower constraint that this one replaces.
ALTER TABLE notifications
  DROP CONSTRAINT notifications_kind_check,
  ADD CONSTRAINT notifications_kind_check CHECK (
    kind IN ('order-received', 'order-shipped', 'order-cancelled') AND order_id IS NOT NULL
    OR kind IN ('email-changed', 'password-changed', 'email-verification', 'email-change-undo', 'password-reset')
      AND order_id IS NULL) NOT VALID;
