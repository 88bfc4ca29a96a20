-- The words of a search on every database. The functions of 0040 depend on the locale of the database: one with the locale
-- C knows the capital letters of ASCII only. These name a collation, and leave only ASCII to PostgreSQL's parser.

-- Small and capital letters of all alphabets.
DO $$
BEGIN
  IF current_setting('server_version_num')::integer >= 170000 THEN
    CREATE COLLATION letters (PROVIDER = builtin, LOCALE = 'C.UTF-8');
  ELSE
    CREATE COLLATION letters (PROVIDER = icu, LOCALE = 'und');
  END IF;
END
$$;

-- Words in small letters, with blanks between them, and without the marks that people leave out: accents in Latin and
-- Greek letters, stress in Cyrillic ones, vowel marks in Hebrew, Arabic and Syriac ones, nukta in Devanagari. Elsewhere
-- marks are letters of their own, such as the vowel signs of India. Digits become those of ASCII.
CREATE OR REPLACE FUNCTION search_fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(given) = char_length(given)
  THEN regexp_replace(lower(given COLLATE "C"), '[^a-z0-9 ]+', ' ', 'g')
  ELSE regexp_replace(
    replace(replace(replace(
      translate(
        normalize(
          regexp_replace(
            lower(normalize(given, NFKD) COLLATE letters) COLLATE "C",
            -- Latin and Greek; Cyrillic vowels; alef, also with hamza or madda.
            '([a-z\u00df-\u02af\u0370-\u03ff])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f]+'
              '|([аеиоуыэюяєіїѣ][\u0306\u0308]?)[\u0300\u0301]+'
              '|(\u0627)[\u0610-\u061a\u064b-\u065f\u0670]+'
            -- Marks of Hebrew, Arabic (with tatweel) and Syriac, nukta, and characters that are not seen.
              '|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7'
              '\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed'
              '\u08ca-\u08ff\u0711\u0730-\u074a\u093c\u0951-\u0954\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e'
              '\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufeff]+',
            '\1\2\3', 'g'
          ),
          NFKC
        ),
        'øłđħŧıðёςٱ٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯๐๑๒๓๔๕๖๗๘๙',
        'oldhtidеσا01234567890123456789012345678901234567890123456789'
      ),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') COLLATE "C",
    -- The characters of Unicode 16 that are no letters, marks or digits.
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00ac\u00ae-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02eb\u02ed'
      '\u02ef-\u02ff\u0375\u03f6\u0482\u055a-\u055f\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u05f4\u0606-\u060f\u061b'
      '\u061d-\u061f\u066a-\u066d\u06d4\u06de\u06e9\u06fd\u06fe\u0700-\u070d\u07f6-\u07f9\u07fe\u07ff\u0830-\u083e\u085e'
      '\u0888\u0964\u0965\u0970\u09f2\u09f3\u09fa\u09fb\u09fd\u0a76\u0af0\u0af1\u0b70\u0bf3-\u0bfa\u0c77\u0c7f\u0c84\u0d4f'
      '\u0d79\u0df4\u0e3f\u0e4f\u0e5a\u0e5b\u0f01-\u0f17\u0f1a-\u0f1f\u0f34\u0f36\u0f38\u0f3a-\u0f3d\u0f85\u0fbe-\u0fc5'
      '\u0fc7-\u0fda\u104a-\u104f\u109e\u109f\u10fb\u1360-\u1368\u1390-\u1399\u1400\u166d\u166e\u1680\u169b\u169c\u16eb-\u16ed'
      '\u1735\u1736\u17d4-\u17d6\u17d8-\u17db\u1800-\u180a\u1940-\u1945\u19de-\u19ff\u1a1e\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad'
      '\u1b4e\u1b4f\u1b5a-\u1b6a\u1b74-\u1b7f\u1bfc-\u1bff\u1c3b-\u1c3f\u1c7e\u1c7f\u1cc0-\u1cc7\u1cd3\u2000-\u200b\u2010-\u2029'
      '\u2030-\u205f\u20a0-\u20c1\u2104-\u212e\u213a-\u214d\u214f\u218a-\u244a\u2500-\u2775\u2794-\u2bff\u2ce5-\u2cea'
      '\u2cf9-\u2cff\u2d70\u2e00-\u2e2e\u2e30-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u30a0\u30fb\u3190\u3191'
      '\u31c0-\u31ef\u327f\u4dc0-\u4dff\ua490-\ua4c6\ua4fe\ua4ff\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua716\ua720\ua721'
      '\ua789\ua78a\ua828-\ua82b\ua836-\ua839\ua874-\ua877\ua8ce\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e\ua92f\ua95f\ua9c1-\ua9cd'
      '\ua9de\ua9df\uaa5c-\uaa5f\uaa77-\uaa79\uaade\uaadf\uaaf0\uaaf1\uab5b\uab6a\uab6b\uabeb\ue000-\uf8ff\ufbb2-\ufdff'
      '\ufe10-\ufe6f\ufffc\ufffd\U0001f000-\U0001fbfa]+',
    ' ', 'g')
  END;

-- The folded text in words. Letters and digits of a word are separated in documents: `500 ml`. In a search, each digits
-- of a word stay with their neighbours: `10x x15`. In scripts without blanks between words, and in Korean, whose words
-- take endings, each two neighbouring letters are a word; documents also have each single letter.
CREATE OR REPLACE FUNCTION search_text(given text, document boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  folded  text COLLATE "C" := search_fold(given);
  letters constant text := '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3';
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
  IF octet_length(folded) > 1000 THEN
    folded := regexp_replace(folded, '[^ ]{250,}', ' ', 'g');
  END IF;
  RETURN CASE
    WHEN folded !~ '[0-9]' THEN folded
    WHEN document THEN regexp_replace(folded, '([0-9])(?=[^0-9 ])|([^0-9 ])(?=[0-9])', '\1\2 ', 'g')
    ELSE regexp_replace(
      regexp_replace(folded, '(?<=[^0-9 ])([0-9]+)(?=[^0-9 ])', '\1 \1', 'g'), '(?<=[0-9])([^0-9 ]+)(?=[0-9])', '\1 \1', 'g')
  END;
END
$$;

-- Letters without their ending.
CREATE FUNCTION search_stem(letters text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN octet_length(letters) = char_length(letters)
  THEN ts_lexize('search_latin', letters) ELSE ts_lexize('search_cyrillic', letters) END)[1];

-- A word of a search as products have it. A number and the letters beside it are one word.
CREATE FUNCTION search_lexeme(word text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN word COLLATE "C" ~ '^([0-9]+|[^0-9]+)$' THEN search_stem(word)
  ELSE coalesce(substring(word COLLATE "C" FROM '^[0-9]+'), '') || search_stem(substring(word COLLATE "C" FROM '[^0-9]+'))
    || coalesce(substring(word COLLATE "C" FROM '[0-9]+$'), '') END;

-- What a text of a product has: each word; and each number with the word before it and with the word after it, as one
-- word, so that `500ml` and `500 ml` are the same.
CREATE FUNCTION search_vector(given text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words  text COLLATE "C" := search_text(given, true);
  vector tsvector;
BEGIN
  -- Of small letters and digits of ASCII, PostgreSQL's parser makes the same words on every database, and fast.
  IF octet_length(words) = char_length(words) THEN
    vector := strip(to_tsvector('search', words));
  ELSE
    vector := array_to_tsvector(ARRAY(SELECT search_stem(word) FROM string_to_table(words, ' ') AS word WHERE word <> ''));
  END IF;
  IF words ~ '[0-9]' THEN
    vector := vector || array_to_tsvector(ARRAY(
      SELECT search_stem(pair[1]) || search_stem(pair[2]) FROM (
        SELECT regexp_matches(words, '([0-9]+) +([^0-9 ]+)', 'g') AS pair
        UNION ALL
        SELECT regexp_matches(words, '([^0-9 ]+) +([0-9]+)', 'g')
      ) AS pairs
    ));
  END IF;
  RETURN vector;
END
$$;

-- The columns of `product_search`, which 0040 describes.
CREATE FUNCTION search_document(id uuid, name text, brand text, category text, description text)
RETURNS TABLE (product_id uuid, name_words smallint, name_lexemes tsvector, lexemes tsvector)
LANGUAGE plpgsql IMMUTABLE ROWS 1 PARALLEL SAFE AS $$
DECLARE
  head text[];
BEGIN
  product_id := id;
  name_lexemes := search_vector(search_name(name));
  -- A number and a word that are one lexeme count as the two that they are.
  name_words := length(name_lexemes) - (
    SELECT count(*) FROM unnest(name_lexemes) AS word WHERE word.lexeme COLLATE "C" ~ '[0-9]' AND word.lexeme COLLATE "C" ~ '[^0-9]'
  );
  head := tsvector_to_array(name_lexemes || search_vector(search_name(brand) || ' ' || category));
  lexemes := array_to_tsvector(
    head
    || ARRAY(SELECT '~' || word.lexeme FROM unnest(ts_delete(search_vector(coalesce(description, '')), head)) AS word)
    || ARRAY['@' || brand, '/' || category, '#' || (uuid_hash_extended(id, 0) & 1023), '%' || ((uuid_hash_extended(id, 0) & 1023) >> 5)]
  );
  RETURN NEXT;
END
$$;
CREATE OR REPLACE FUNCTION search_entry(id uuid, name text, brand text, category text, description text) RETURNS product_search
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT * FROM search_document(id, name, brand, category, description)';

CREATE OR REPLACE FUNCTION add_search_words(texts text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO search_words (word, keys)
  SELECT word, search_keys(word)
  FROM (
    SELECT DISTINCT token COLLATE "C" AS word
    FROM unnest(texts) AS given CROSS JOIN string_to_table(search_fold(search_name(given)), ' ') AS token
  ) AS found
  WHERE char_length(word) BETWEEN 3 AND 40 AND word !~ '[0-9\u0e00-\uffff]'
    AND NOT EXISTS (SELECT FROM search_words AS known WHERE known.word = found.word)
  ORDER BY word
  ON CONFLICT DO NOTHING;
END
$$;

-- Replaces `product_search` in 0058, when it has all products. Until then, each change is written to both.
CREATE TABLE product_search_rebuilt (LIKE product_search);
ALTER TABLE product_search_rebuilt ADD PRIMARY KEY (product_id);
CREATE INDEX product_search_rebuilt_lexemes ON product_search_rebuilt USING gin (lexemes) WITH (gin_pending_list_limit = 512);

CREATE FUNCTION copy_search_entry() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE product_search_rebuilt;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM product_search_rebuilt WHERE product_id = OLD.product_id;
  ELSE
    INSERT INTO product_search_rebuilt VALUES (NEW.*) ON CONFLICT (product_id) DO UPDATE
    SET name_words = EXCLUDED.name_words, name_lexemes = EXCLUDED.name_lexemes, lexemes = EXCLUDED.lexemes;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER product_search_copy AFTER INSERT OR UPDATE OR DELETE ON product_search
FOR EACH ROW EXECUTE FUNCTION copy_search_entry();
CREATE TRIGGER product_search_copy_truncate AFTER TRUNCATE ON product_search
FOR EACH STATEMENT EXECUTE FUNCTION copy_search_entry();
