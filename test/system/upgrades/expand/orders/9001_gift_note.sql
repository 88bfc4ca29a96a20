-- A column, and a constraint that existing rows are not checked for.
-- Satisfied by the last release: check gift_note_length of orders
ALTER TABLE orders ADD COLUMN gift_note text;
ALTER TABLE orders ADD CONSTRAINT gift_note_length CHECK (char_length(gift_note) <= 500) NOT VALID;
