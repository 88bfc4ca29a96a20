-- Filters by attributes. `{"colour":"red","size":42}` has the terms `colour=red` and `size=42`. One index for all
-- attributes: its statistics count the most common terms, so that a rare value is read from the index, and a common one
-- along the sort order.
CREATE FUNCTION attribute_terms(attributes text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- So high that PostgreSQL does not evaluate it for thousands of rows along another index.
COST 2000
RETURN (SELECT array_agg(key || '=' || value) FROM jsonb_each_text(attributes::jsonb));

CREATE INDEX products_attributes ON products USING gin (attribute_terms(attributes));
