-- Addresses are compared in small letters of all alphabets on every database. One with the locale C knows the capital letters
-- of ASCII only, so the columns email_key and recipient_key differ there from this key. Only former releases read them.
DO $$
BEGIN
  IF current_setting('server_version_num')::integer >= 170000 THEN
    CREATE COLLATION letters (PROVIDER = builtin, LOCALE = 'C.UTF-8');
  ELSE
    CREATE COLLATION letters (PROVIDER = icu, LOCALE = 'und');
  END IF;
END
$$;

CREATE FUNCTION address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(btrim(normalize(address, NFC)) COLLATE letters);
