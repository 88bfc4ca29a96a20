-- The words of a search that say nothing about a product, such as `with`. `shop search rebuild` changes the language of
-- this dictionary and of `search_latin` together.
CREATE TEXT SEARCH DICTIONARY search_stop_words (TEMPLATE = pg_catalog.snowball, LANGUAGE = english, STOPWORDS = english);
CREATE TEXT SEARCH CONFIGURATION search_stops (COPY = pg_catalog.english);
ALTER TEXT SEARCH CONFIGURATION search_stops ALTER MAPPING REPLACE pg_catalog.english_stem WITH search_stop_words;
