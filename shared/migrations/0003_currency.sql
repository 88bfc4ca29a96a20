-- The one currency of the amounts in this schema; written by whoever starts first, and never changed.
CREATE TABLE shop_currency (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  code     text NOT NULL CHECK (code ~ '^[A-Z]{3}$')
);
