-- The words of the products that exist. In a migration of its own, so that no lock of the one before is held meanwhile.
-- A product that is created or renamed while this runs has its words already. Once this has read a product, a change of
-- its words waits for COMMIT.
INSERT INTO product_search_rebuilt
SELECT document.* FROM products AS p
CROSS JOIN LATERAL search_document(p.id, p.name, p.brand, p.category, p.description) AS document
ON CONFLICT DO NOTHING;

SELECT add_search_words(ARRAY(SELECT DISTINCT concat_ws(' ', name, brand, category) FROM products));
