-- Full text search. The words of each product are kept in a table of their own, which triggers write, so that a change
-- of stock touches nothing of it, and processes of the version before keep it up to date. No extension is needed.

-- Stems without stop words, so that a name that consists of them can be found. Words in Cyrillic letters have their own
-- stems; all others are compared as they are.
CREATE TEXT SEARCH DICTIONARY search_latin (TEMPLATE = pg_catalog.snowball, LANGUAGE = english);
CREATE TEXT SEARCH DICTIONARY search_cyrillic (TEMPLATE = pg_catalog.snowball, LANGUAGE = russian);
CREATE TEXT SEARCH CONFIGURATION search (PARSER = pg_catalog."default");
ALTER TEXT SEARCH CONFIGURATION search ADD MAPPING FOR asciiword WITH search_latin;
ALTER TEXT SEARCH CONFIGURATION search ADD MAPPING FOR word WITH search_cyrillic;
ALTER TEXT SEARCH CONFIGURATION search ADD MAPPING FOR numword, int, uint, float, sfloat WITH pg_catalog.simple;

-- Words before they get stems.
CREATE TEXT SEARCH CONFIGURATION search_plain (PARSER = pg_catalog."default");
ALTER TEXT SEARCH CONFIGURATION search_plain ADD MAPPING FOR asciiword, word WITH pg_catalog.simple;

-- Small letters without accents, and blanks for punctuation: in ASCII, for all of it that the parser would not take for
-- blanks.
CREATE FUNCTION search_fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(given) = char_length(given)
  THEN translate(lower(given), '-./:@+<&_', '         ')
  ELSE regexp_replace(
    replace(replace(replace(
      translate(
        -- Marks are removed from Latin and Greek letters only: elsewhere they are letters of their own.
        normalize(regexp_replace(normalize(lower(given), NFKD), '([a-z\u0370-\u03ff])[\u0300-\u036f]+', '\1', 'g'), NFKC),
        'øłđħŧıðёς', 'oldhtidеσ'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    '[[:punct:][:space:]]+', ' ', 'g')
  END;

-- The folded text in words. In scripts without blanks between words, and in Korean, whose words take endings, each two
-- neighbouring letters are a word; documents also have each single letter.
CREATE FUNCTION search_text(given text, document boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  folded   text := search_fold(given);
  letters  constant text := '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3';
BEGIN
  IF octet_length(folded) > char_length(folded) AND folded ~ ('[' || letters || ']') THEN
    folded := (
      SELECT string_agg(CASE WHEN piece[1] !~ ('^[' || letters || ']') THEN piece[1] ELSE (
        SELECT string_agg(
          substr(piece[1], start, 2) || CASE WHEN document THEN ' ' || substr(piece[1], start, 1) ELSE '' END, ' '
        )
        FROM generate_series(1, greatest(char_length(piece[1]) - CASE WHEN document THEN 0 ELSE 1 END, 1)) AS start
      ) END, ' ')
      FROM regexp_matches(folded, '[' || letters || ']+|[^' || letters || ']+', 'g') AS piece
    );
  END IF;
  -- A lexeme has at most 2,046 bytes, and no word is that long.
  RETURN CASE WHEN octet_length(folded) > 1000
    THEN regexp_replace(folded, '[^[:space:][:punct:]]{250,}', ' ', 'g') ELSE folded END;
END
$$;

-- A name or a brand with its compounds also written in one word: `yo-yo` is `yo`, `yo` and `yoyo`.
CREATE FUNCTION search_name(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN given ~ '[-''’‐]' THEN given || ' ' || translate(given, '-''’‐', '') ELSE given END;

CREATE TABLE product_search (
  product_id   uuid PRIMARY KEY,
  -- Number of different words in the name: of two products that have the words of a search in their names, the one with
  -- the shorter name is listed first.
  name_words   smallint NOT NULL,
  name_lexemes tsvector NOT NULL,
  -- Of name, brand and category as they are, and with `~` before them those that only the description has. The whole
  -- brand with `@` and the whole category with `/` before it, for filters. One of `#0` to `#1023` and one of `%0` to
  -- `%31`: a small and a large random part of all products; the first 32 small parts are the first large part, and so
  -- on.
  lexemes      tsvector NOT NULL
);
CREATE INDEX product_search_lexemes ON product_search USING gin (lexemes) WITH (gin_pending_list_limit = 512);

CREATE FUNCTION search_entry(id uuid, name text, brand text, category text, description text) RETURNS product_search
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  entry product_search;
  head  text[];
  rest  text[];
BEGIN
  entry.product_id := id;
  entry.name_lexemes := strip(to_tsvector('search', search_text(search_name(name), true)));
  entry.name_words := length(entry.name_lexemes);
  head := tsvector_to_array(entry.name_lexemes || strip(to_tsvector('search', search_text(search_name(brand) || ' ' || category, true))));
  rest := tsvector_to_array(ts_delete(to_tsvector('search', search_text(coalesce(description, ''), true)), head));
  -- Written as text and split again, which is faster than a query for each product. No lexeme has this separator.
  IF rest <> '{}' THEN
    head := head || string_to_array('~' || array_to_string(rest, E'\x01~'), E'\x01');
  END IF;
  entry.lexemes := array_to_tsvector(
    head || ARRAY['@' || brand, '/' || category, '#' || (uuid_hash_extended(id, 0) & 1023), '%' || ((uuid_hash_extended(id, 0) & 1023) >> 5)]
  );
  RETURN entry;
END
$$;

-- The products that match, and how their names do: the lower, the better. Its plan is always a scan of the index:
-- estimates of how many products have several words together are often wrong by far, and would lead to a scan of the
-- whole table.
CREATE FUNCTION search_matches(match tsquery, name tsquery) RETURNS TABLE (product_id uuid, rank integer)
LANGUAGE sql STABLE ROWS 1000 SET search_path FROM CURRENT SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
  SELECT product_id, CASE WHEN name_lexemes @@ name THEN 0 ELSE 1000 END + name_words FROM product_search WHERE lexemes @@ match
$$;

-- Some of the products that match, of however many.
CREATE FUNCTION search_some_matches(match tsquery) RETURNS SETOF uuid
LANGUAGE sql STABLE ROWS 1000 SET search_path FROM CURRENT SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
  SELECT product_id FROM product_search WHERE lexemes @@ match LIMIT 1000
$$;

-- The words that names, brands and categories have or had, for searches with a typing error. A search uses a word only
-- while a product that its client sees has it, so that no word has to be removed.
CREATE TABLE search_words (
  word text COLLATE "C" PRIMARY KEY,
  -- The beginning of the word with one or two of its letters left out. Two words with at most one error (two for long
  -- words) between them have a key in common.
  keys text[] NOT NULL
);
CREATE INDEX search_words_keys ON search_words USING gin (keys);

CREATE FUNCTION search_keys(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  WITH RECURSIVE key (letters, without) AS (
    SELECT substr(word, 1, 7), 0
    UNION
    SELECT overlay(letters PLACING '' FROM place FOR 1), without + 1
    FROM key, generate_series(1, char_length(letters)) AS place
    WHERE without < CASE WHEN char_length(word) < 6 THEN 1 ELSE 2 END
  )
  SELECT array_agg(DISTINCT letters) FROM key
$$;

-- Adds the words that are not known. Sorted, so that two statements that add the same words do not deadlock. Two
-- transactions that change several products can, because words are added for each product: PostgreSQL then aborts one
-- of them, and the service repeats it.
CREATE FUNCTION add_search_words(texts text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO search_words (word, keys)
  SELECT word, search_keys(word)
  FROM (
    SELECT DISTINCT lexeme COLLATE "C" AS word
    FROM unnest(texts) AS given CROSS JOIN unnest(to_tsvector('search_plain', search_fold(search_name(given))))
  ) AS found
  WHERE char_length(word) BETWEEN 3 AND 40 AND word !~ '[0-9\u0e00-\uffff]'
    AND NOT EXISTS (SELECT FROM search_words AS known WHERE known.word = found.word)
  ORDER BY word
  ON CONFLICT DO NOTHING;
END
$$;

CREATE FUNCTION index_new_products() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO product_search
  SELECT entry.* FROM added CROSS JOIN LATERAL search_entry(added.id, name, brand, category, description) AS entry;
  PERFORM add_search_words(array_agg(concat_ws(' ', name, brand, category))) FROM added;
  RETURN NULL;
END
$$;
CREATE TRIGGER products_search_insert AFTER INSERT ON products REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION index_new_products();

CREATE FUNCTION index_changed_product() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO product_search SELECT * FROM search_entry(NEW.id, NEW.name, NEW.brand, NEW.category, NEW.description)
  ON CONFLICT (product_id) DO UPDATE
  SET name_words = EXCLUDED.name_words, name_lexemes = EXCLUDED.name_lexemes, lexemes = EXCLUDED.lexemes;
  PERFORM add_search_words(ARRAY[concat_ws(' ', NEW.name, NEW.brand, NEW.category)]);
  RETURN NULL;
END
$$;
CREATE TRIGGER products_search_update AFTER UPDATE ON products FOR EACH ROW
WHEN ((NEW.name, NEW.brand, NEW.category, NEW.description) IS DISTINCT FROM (OLD.name, OLD.brand, OLD.category, OLD.description))
EXECUTE FUNCTION index_changed_product();

CREATE FUNCTION delete_search_entry() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM product_search USING removed WHERE product_id = removed.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER products_search_delete AFTER DELETE ON products REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION delete_search_entry();

CREATE FUNCTION delete_search_entries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  TRUNCATE product_search;
  RETURN NULL;
END
$$;
CREATE TRIGGER products_search_truncate AFTER TRUNCATE ON products FOR EACH STATEMENT EXECUTE FUNCTION delete_search_entries();
