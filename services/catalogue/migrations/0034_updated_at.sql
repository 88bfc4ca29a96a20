-- Products by the time of their last change. The time changes with the version, and not with every movement of stock,
-- so a change of stock still touches no index unless the product becomes available or is used up. It is the time at
-- which the transaction of the change began: a change that is committed later can have an earlier time.
-- docs/filtering.md describes how a client follows changes.
--
-- What each index serves:
--
--   products_updated            sort by change; range of changes
--   products_brand_updated      brands by change
--   products_category_updated   categories by change
--   products_rating_updated     sort by rating, then change in either direction
CREATE INDEX products_updated ON products (updated_at, id);
CREATE INDEX products_brand_updated ON products (brand, updated_at, id);
CREATE INDEX products_category_updated ON products (category, updated_at, id);
CREATE INDEX products_rating_updated ON products (rating_tenths, updated_at, id);
