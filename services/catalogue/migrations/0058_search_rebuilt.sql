-- The rebuilt words take the place of the former ones, without a change of a row.
DROP FUNCTION search_entry(uuid, text, text, text, text);
DROP TABLE product_search;
DROP FUNCTION copy_search_entry();
ALTER TABLE product_search_rebuilt RENAME TO product_search;
ALTER INDEX product_search_rebuilt_pkey RENAME TO product_search_pkey;
ALTER INDEX product_search_rebuilt_lexemes RENAME TO product_search_lexemes;
CREATE FUNCTION search_entry(id uuid, name text, brand text, category text, description text) RETURNS product_search
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT * FROM search_document(id, name, brand, category, description)';
