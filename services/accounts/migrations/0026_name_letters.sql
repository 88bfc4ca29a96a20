-- Names are compared in small letters of all alphabets on every database. One with the locale C knows the capital letters
-- of ASCII only.
DO $$
BEGIN
  IF current_setting('server_version_num')::integer >= 170000 THEN
    CREATE COLLATION letters (PROVIDER = builtin, LOCALE = 'C.UTF-8');
  ELSE
    CREATE COLLATION letters (PROVIDER = icu, LOCALE = 'und');
  END IF;
END
$$;

-- Capital letters first, because several small letters can have the same one, such as the two forms of sigma.
CREATE FUNCTION name_key(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(upper(normalize(name, NFD) COLLATE letters));
