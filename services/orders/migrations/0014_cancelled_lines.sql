-- Units of lines that were cancelled before the order shipped. `quantity` and `line_total_minor` stay as they were ordered.
ALTER TABLE order_lines
  ADD COLUMN cancelled_quantity integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT cancelled_within_line CHECK (cancelled_quantity BETWEEN 0 AND quantity) NOT VALID;

-- A history entry that cancelled units of lines, and not the order: the products with names and units, and the effects elsewhere.
ALTER TABLE order_history
  ADD COLUMN cancelled_lines json,
  ADD COLUMN reason text CHECK (char_length(reason) BETWEEN 1 AND 500),
  ADD COLUMN stock_released text CHECK (stock_released IN ('pending', 'done', 'failed')),
  ADD COLUMN stock_released_at timestamptz(3),
  ADD COLUMN customer_notified text CHECK (customer_notified IN ('pending', 'done', 'failed')),
  ADD COLUMN customer_notified_at timestamptz(3),
  ADD CONSTRAINT cancelled_lines_have_effects CHECK (
    (cancelled_lines IS NOT NULL) = (stock_released IS NOT NULL)
    AND (cancelled_lines IS NOT NULL) = (customer_notified IS NOT NULL)
  ) NOT VALID;
