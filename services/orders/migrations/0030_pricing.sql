-- What an order costs beyond the prices of its lines: NULL for an order without shipping, discounts and taxes.
ALTER TABLE orders
  -- The calculation at the time of the order (src/pricing/pricing.ts). It never changes.
  ADD COLUMN pricing json,
  -- The members of responses that follow from it, for the units that the order still has.
  ADD COLUMN prices json;
